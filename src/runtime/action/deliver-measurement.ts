import { DimensionerError } from "../../errors/dimensioner-error.ts";
import type { Measurement, References } from "../../model/measurement.ts";
import { explainFailure } from "../../model/measure-result.ts";
import type { MeasureResult } from "../../model/shapes.ts";
import type { Outputs } from "../messages.ts";
import { formatFigures } from "../status/sizes.ts";
import { longestText, type StatusBoard } from "../status/status-board.ts";
import type { Target } from "./command-job.ts";
import { tellRecording } from "./deliver-video.ts";
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
  { chosen, machine, deviceReference }: Target,
  { measurement, reference, sent, sentAt, tag, failures }: Measured,
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
