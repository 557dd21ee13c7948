import { DimensionerError } from "../../errors/dimensioner-error.ts";
import type { Measurement, References } from "../../model/measurement.ts";
import { explainFailure } from "../../model/measure-result.ts";
import type { MeasureResult } from "../../model/shapes.ts";
import type { Followed } from "../config/machine-recording.ts";
import type { Message, Outputs } from "../messages.ts";
import { formatFigures } from "../status/sizes.ts";
import { longestText, type StatusBoard } from "../status/status-board.ts";
import type { Target } from "../config/config-choice.ts";
import type { Job } from "./serve.ts";

/** What was measured, and what for. */
interface Measured {
  readonly measurement: Measurement;
  /** What it was measured for, sent or not. */
  readonly reference: string | undefined;
  /** All references that were sent. */
  readonly sent: References;
  /** When they were, by this computer's clock. */
  readonly sentAt: Date;
  /** The unique id among them. */
  readonly tag: string | null;
  readonly failures: "catch" | "output";
}

/** What a measure leaves on the message, whether it went well or not. */
export function deliverMeasurement(
  job: Job,
  { id, name, operation: { operation, surface }, machine, deviceReference, recordings, instrument }: Target,
  { measurement, reference, sent, sentAt, tag, failures }: Measured,
): Outputs {
  const { msg, status } = job;
  const { result, rawResponse } = measurement;
  result.device = deviceReference ?? name;
  result.deviceSerialNumber = instrument.serialNumber;
  result.deviceCertificate = instrument.certificate;
  msg.payload = result;
  msg["transactionReference"] = result.transactionReference ?? reference ?? null;
  msg["imageIdentifier"] = result.imageIdentifier;
  msg["rawResponse"] = rawResponse;
  msg["measuredBy"] = {
    id,
    name,
    surface,
    deviceReference: deviceReference ?? null,
    ...instrument,
    sentAt: sentAt.toISOString(),
    references: {
      transactionReference: sent.transactionReference ?? null,
      customReference1: sent.customReference1 ?? null,
      customReference2: sent.customReference2 ?? null,
      customReference3: sent.customReference3 ?? null,
    },
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
    { surface, operation, outcome: "failed", errorCode },
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
