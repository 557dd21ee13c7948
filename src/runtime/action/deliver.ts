import { DimensionerError } from "../../errors/dimensioner-error.ts";
import type { CommandOptions } from "../../http/transport.ts";
import { explainFailure } from "../../model/measure-result.ts";
import type { Measurement, References } from "../../model/measurement.ts";
import type { MeasureResult } from "../../model/shapes.ts";
import type { OwnMoment } from "../../time/clocks.ts";
import type { ChosenNode } from "../config/config-choice.ts";
import type { Ownership, RecordingStatus } from "../config/recordings.ts";
import type { Message, Outputs } from "../messages.ts";
import { type NodeStatus, formatFigures, longestText, ofParcel } from "../status/node-status.ts";
import type { Job } from "./serve.ts";
import { asReference } from "./values.ts";

interface SentMeasure {
  readonly measurement: Measurement;
  /** The reference of the parcel, whether or not it was sent to the device. */
  readonly reference: string | undefined;
  /** All references that were sent. */
  readonly sent: References;
  /** When they were sent. */
  readonly sentAt: OwnMoment;
  /** The unique id among them. */
  readonly tag: string | null;
  readonly failures: "catch" | "output";
}

/** Puts a measurement on the message, whether it succeeded or not. */
export function deliverMeasurement(
  job: Job,
  {
    id,
    name,
    operation: { operation, surface },
    deviceKey,
    deviceReference,
    recordings,
    instrument,
  }: ChosenNode,
  { measurement: { result, rawResponse }, reference, sent, sentAt, tag, failures }: SentMeasure,
): Outputs {
  const { msg, status, device = name } = job;
  // What is of an earlier measurement of this message.
  delete msg["billable"];
  delete msg["measurement"];
  if (tag !== null) {
    // It is this measurement's, and no later one's.
    delete msg["tag"];
  }
  if (isSettled(msg["video"])) {
    delete msg["video"];
  }
  const recording = recordings.measured(deviceKey, reference ?? null, result);
  tellRecording(msg, recording, result.ok ? "unknown" : "waiting");
  result.device = device;
  result.deviceSerialNumber = instrument.serialNumber;
  result.deviceCertificate = instrument.certificate;
  msg.payload = result;
  msg["transactionReference"] = asReference(result.transactionReference) ?? reference ?? null;
  msg["transactionId"] = result.transactionId;
  msg["imageIdentifier"] = result.imageIdentifier;
  msg["rawResponse"] = rawResponse;
  msg["measuredBy"] = {
    id,
    name,
    surface,
    deviceReference: deviceReference ?? null,
    ...instrument,
    sentAt: sentAt.at.toISOString(),
    sentSteady: sentAt.steady,
    references: allReferences(sent),
    tag,
    // Where a flow passes on only what it needs of a message, a package without the parcel's video does not call itself complete.
    ...(result.ok && isCommand(msg["video"]) ? { video: { ...msg["video"] } } : {}),
  };
  if (result.ok) {
    showFigures(status, result, reference);
    return failures === "output" ? [msg, null] : [msg];
  }
  const { problem, errorCode } = explainFailure(result);
  if (failures === "output") {
    status.say("failed", "failed.ERR_MEASURE_FAILED");
    return [null, msg];
  }
  const facts = { surface, operation, outcome: "failed", errorCode } as const;
  throw new DimensionerError("measureFailed", facts, { problem });
}

function showFigures(status: NodeStatus, result: MeasureResult, reference: string | undefined): void {
  const count = result.measuredObjects.length;
  if (count === 1) {
    const [whole, sides] = [formatFigures(result, longestText), formatFigures(result, 0)];
    status.show("done", (language) => {
      // A short reference has room behind the weight, a longer one in its place.
      const named = `${whole(language)} · ${reference}`;
      return ofParcel(
        reference === undefined || named.length <= longestText ? whole(language) : sides(language),
        reference,
      );
    });
  } else {
    status.say("done", "objects", { count }, reference);
  }
}

/**
 * Puts on the message which start its video belongs to, and whether it is this parcel's. `otherwise` is said of a start on the
 * message about which nothing is known, as after a restart, or if the measurement has failed.
 */
export function tellRecording(msg: Message, recording: RecordingStatus | null, otherwise: Ownership): void {
  if (recording !== null) {
    msg["video"] = { action: "start", ...recording };
  } else if (isStart(msg["video"]) && !isSettled(msg["video"])) {
    msg["video"] = { ...msg["video"], recording: otherwise };
  }
}

function isCommand(video: unknown): video is { readonly action: unknown } {
  return typeof video === "object" && video !== null && "action" in video;
}

function isStart(video: unknown): video is object {
  return isCommand(video) && video.action === "start";
}

function isSettled(video: unknown): boolean {
  return isStart(video) && "recording" in video && video.recording !== "waiting";
}

const videoDone = { start: "started", stop: "stopped", cancel: "cancelled" } as const;

/** Puts the result of a video command on the message. */
export function deliverVideo(
  { msg, status }: Job,
  { recordings, deviceKey, id, name, deviceReference }: ChosenNode,
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
  const shown = status.say("done", videoDone[action], {}, reference ?? undefined);
  return [msg];
}

function nameParcel(msg: Message, reference: string | null): void {
  if (reference !== null) {
    msg["transactionReference"] = reference;
  }
}

/** What is sent to the device, for the store and for the status. */
interface Sending {
  readonly target: ChosenNode;
  /** In the API's words. */
  readonly operation: string;
  readonly references: References;
  readonly tag?: string | null;
  /** Called when the command is about to be sent. */
  readonly onTurn?: () => void;
}

/** The options of a command of this message: how it is aborted, how it shows that it waits, and that the store has it first. */
export function commandOptions(
  { signal, waitSignal, status, command, device }: Job,
  { target, operation, references, tag = null, onTurn }: Sending,
): CommandOptions {
  const { surface } = target.operation;
  const facts = { surface, references: allReferences(references), tag };
  const entry = { operation, device: device ?? target.name, facts };
  return {
    signal,
    waitSignal,
    onWaiting: (count) => {
      status.say("waiting", "waitingInQueue", { count });
      void command?.note({ ...entry, isSent: false });
    },
    onTurn: async () => {
      status.say("working", operation.endsWith("measure") ? "measuring" : "sending");
      await command?.note({ ...entry, isSent: true });
      onTurn?.();
    },
  };
}

function allReferences(given: References) {
  const {
    transactionReference = null,
    customReference1 = null,
    customReference2 = null,
    customReference3 = null,
  } = given;
  return { transactionReference, customReference1, customReference2, customReference3 };
}
