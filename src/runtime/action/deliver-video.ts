import type { Target } from "../config/target.ts";
import type { Message, Outputs } from "../messages.ts";
import type { Job } from "./serve.ts";

const videoDone = { start: "started", stop: "stopped", cancel: "cancelled" } as const;

/** Puts the result of a video command on the message. */
export function deliverVideo(
  { msg, status }: Job,
  { recordings, deviceKey, id, name, deviceReference }: Target,
  action: keyof typeof videoDone,
  reference: string | null,
): Outputs {
  const start = { at: new Date().toISOString(), transactionReference: reference };
  msg["video"] = { action, ...start };
  switch (action) {
    case "start": {
      const isOver = (): void => status.replace(shown, "done", "recordingEnded");
      recordings.started(deviceKey, start, isOver);
      nameParcel(msg, reference);
      break;
    }
    case "stop": {
      const stopped = recordings.stopped(deviceKey, reference);
      // What follows asks for the video by the reference on the message.
      nameParcel(msg, reference ?? (stopped?.recording === "own" ? stopped.transactionReference : null));
      if (stopped !== null) {
        const { recording, by, transactionReference } = stopped;
        msg["video"] = {
          action,
          at: start.at,
          transactionReference: reference ?? transactionReference,
          recording,
          ...(by === undefined ? {} : { by }),
          ...(deviceReference === undefined ? { device: { id, name } } : {}),
        };
      }
      break;
    }
    case "cancel":
      recordings.cancelled(deviceKey);
  }
  const shown = status.say("done", videoDone[action]);
  return [msg];
}

function nameParcel(msg: Message, reference: string | null): void {
  if (reference !== null) {
    msg["transactionReference"] = reference;
  }
}
