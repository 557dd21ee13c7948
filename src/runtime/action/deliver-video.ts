import type { Followed } from "../config/recordings.ts";
import type { Message, Outputs } from "../messages.ts";
import type { Target } from "./command-job.ts";
import type { Job } from "./serve.ts";

const videoDone = { start: "started", stop: "stopped", cancel: "cancelled" } as const;

/** What a video command leaves on the message. */
export function deliverVideo(
  { msg, status }: Job,
  { chosen: { recordings }, machine }: Target,
  action: keyof typeof videoDone,
  reference: string | null,
): Outputs {
  const start = { at: new Date().toISOString(), transactionReference: reference };
  msg["video"] = { action, ...start };
  switch (action) {
    case "start": {
      const isOver = (): void => status.replace(shown, "done", "recordingEnded");
      recordings.started(machine, start, isOver);
      if (reference !== null) {
        msg["transactionReference"] = reference;
      }
      break;
    }
    case "stop": {
      const stopped = recordings.stopped(machine, reference);
      if (stopped !== null) {
        const { recording, by, transactionReference } = stopped;
        msg["video"] = {
          action,
          at: start.at,
          transactionReference: reference ?? transactionReference,
          recording,
          ...(by === undefined ? {} : { by }),
        };
      }
      break;
    }
    case "cancel":
      recordings.cancelled(machine);
  }
  const shown = status.say("done", videoDone[action]);
  return [msg];
}

/**
 * Says on the message which start its video comes from, and whether it is this parcel's. Of a start that the message
 * brings along and nobody has followed, as after a restart, it says that this is not known.
 */
export function tellRecording(msg: Message, recording: Followed | null): void {
  const { video } = msg;
  if (recording !== null) {
    msg["video"] = { action: "start", ...recording };
  } else if (isStart(video) && !("recording" in video)) {
    msg["video"] = { ...video, recording: "unknown" };
  }
}

function isStart(video: unknown): video is object {
  return typeof video === "object" && video !== null && "action" in video && video.action === "start";
}
