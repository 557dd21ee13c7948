import type { CommandOptions } from "../../http/transport.ts";
import type { Measurement } from "../../model/measurement.ts";
import { explainFailure } from "../../model/measure-result.ts";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import type { Outputs } from "../messages.ts";
import type { Operation } from "../failure.ts";
import type { Job } from "./serve.ts";
import type { MeasureResult } from "../../model/shapes.ts";
import { formatFigures } from "../status/sizes.ts";
import { longestText, type StatusBoard } from "../status/status-board.ts";

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

/** What a measure leaves on the message, whether it went well or not. */
export function deliverMeasurement(
  job: Job,
  { result, rawResponse }: Measurement,
  givenReference: string | undefined,
  failures: "catch" | "output",
  { operation, surface }: Operation,
): Outputs {
  const { msg, status } = job;
  msg.payload = result;
  msg["transactionReference"] = result.transactionReference ?? givenReference ?? null;
  msg["imageIdentifier"] = result.imageIdentifier;
  msg["rawResponse"] = rawResponse;
  if (result.ok) {
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

const videoDone = { start: "started", stop: "stopped", cancel: "cancelled" } as const;

/** What a video command leaves on the message. */
export function deliverVideo(
  { msg, status }: Job,
  action: keyof typeof videoDone,
  transactionReference: string | undefined,
): Outputs {
  msg["video"] = {
    action,
    at: new Date().toISOString(),
    transactionReference: transactionReference ?? null,
  };
  status.say("done", videoDone[action]);
  return [msg];
}
