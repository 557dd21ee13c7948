import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { machineOf, type Peer } from "../../http/call.ts";
import type { CommandOptions } from "../../http/transport.ts";
import type { Measurement } from "../../model/measurement.ts";
import { explainFailure } from "../../model/measure-result.ts";
import type { MeasureResult } from "../../model/shapes.ts";
import type { Chosen } from "../config/config-node.ts";
import type { Followed } from "../config/recordings.ts";
import type { Message, Outputs } from "../messages.ts";
import { formatFigures } from "../status/sizes.ts";
import { longestText, type StatusBoard } from "../status/status-board.ts";
import type { Job } from "./serve.ts";

/** How a command of this job waits, ends and shows that it does. */
export function commandOptions(
  { signal, waitSignal, status }: Job,
  working: "measuring" | "sending",
): CommandOptions {
  return {
    signal,
    waitSignal,
    onWaiting: (count) => status.say("waiting", "waitingInQueue", { count }),
    onTurn: () => status.say("working", working),
  };
}

/** The machine that a command is for. */
export interface Target {
  readonly chosen: Omit<Chosen<unknown>, "client">;
  /** As the command queues and the recordings know it. */
  readonly machine: string;
  /** Undefined for a device on the local network. */
  readonly deviceReference?: string;
}

export function targetOf(chosen: Target["chosen"], peer: Peer, deviceReference?: string): Target {
  const machine = machineOf(peer, deviceReference);
  return { chosen, machine, ...(deviceReference === undefined ? {} : { deviceReference }) };
}

/** What was measured, and what for. */
interface Measured {
  readonly measurement: Measurement;
  /** The reference that was sent. */
  readonly reference: string | undefined;
  /** The unique id that was sent beside it. */
  readonly tag: string | null;
  readonly failures: "catch" | "output";
}

/** What a measure leaves on the message, whether it went well or not. */
export function deliverMeasurement(
  job: Job,
  { chosen, machine, deviceReference }: Target,
  { measurement, reference, tag, failures }: Measured,
): Outputs {
  const { msg, status } = job;
  const { result, rawResponse } = measurement;
  const { id, name, operation, recordings } = chosen;
  result.device = deviceReference ?? name;
  msg.payload = result;
  msg["transactionReference"] = result.transactionReference ?? reference ?? null;
  msg["imageIdentifier"] = result.imageIdentifier;
  msg["rawResponse"] = rawResponse;
  const { surface } = operation;
  msg["measuredBy"] = {
    id,
    name,
    surface,
    deviceReference: deviceReference ?? null,
    tag,
  };
  // The device goes by its own error code when it decides which transaction gets the video.
  const recording = recordings.measured(machine, reference ?? null, result.errorCode === 0);
  if (result.ok) {
    tellRecording(msg, recording);
    showFigures(status, result);
    return failures === "output" ? [msg, null] : [msg];
  }
  const { problem, errorCode } = explainFailure(result);
  if (failures === "output") {
    status.say("failed", "failed.ERR_MEASURE_FAILED");
    return [null, msg];
  }
  throw new DimensionerError(
    "measureFailed",
    { surface, operation: operation.operation, outcome: "failed", errorCode },
    { problem },
  );
}

function showFigures(status: StatusBoard, result: MeasureResult): void {
  const count = result.measuredObjects.length;
  if (count === 1) {
    status.show("done", formatFigures(result, longestText));
  } else {
    status.say("done", "objects", { count });
  }
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
