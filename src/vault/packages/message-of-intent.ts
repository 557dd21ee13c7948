import { listLimits, parseFields } from "../../model/parse-json.ts";
import type { Intent } from "./intent.ts";

/** Properties of a message that is archived again. */
export type Again = Readonly<Record<string, unknown>>;

/** The properties of the message that the job was made from, as far as the job has kept them. */
export function messageOf(intent: Intent, transactionId: string | null): Again {
  const { references, measurement, raw, billable, scan, device, keep } = intent;
  const result = measurement === null ? null : parseFields(measurement, listLimits);
  return {
    ...keep,
    transactionId,
    ...references,
    device,
    ...(result === null ? {} : { payload: result }),
    ...(raw === null ? {} : { rawResponse: raw }),
    ...(billable === null ? {} : { billable }),
    ...(scan === null ? {} : { scan }),
    ...deviceOf(intent, result?.["source"]),
    ...videoOf(intent),
  };
}

/** What the measure node put on the message; nothing if the device was only asked for the video of a stop. */
function deviceOf(intent: Intent, surface: unknown = "newer-device"): Again {
  const { measuredBy, recordedBy = null, sought, instrument } = intent;
  if (measuredBy === null && recordedBy !== null) {
    // Not the device that filmed, whose transaction would have the video.
    return { measuredBy: { surface: "cloud", ...instrument } };
  }
  if (measuredBy === null || (measuredBy.videoAt !== null && recordedBy === null)) {
    return {};
  }
  const { id, name, imageIdentifier } = measuredBy;
  const { sentAt, references, tag = null } = sought ?? {};
  return { measuredBy: { id, name, surface, ...instrument, sentAt, references, tag }, imageIdentifier };
}

/** Whose recording it was: without it, a package would be complete without its video, or have that of another parcel. */
function videoOf({ measuredBy, recordedBy = null, recording }: Intent): Again {
  const { by = null, ...told } = recording ?? {};
  const video = { ...told, ...(by === null ? {} : { by }) };
  if (recordedBy !== null) {
    return { video: { action: "stop", ...video, device: recordedBy } };
  }
  if (measuredBy !== null && measuredBy.videoAt !== null) {
    const { id, name, videoAt: at } = measuredBy;
    return { video: { action: "stop", ...video, at, recording: "own", device: { id, name } } };
  }
  return recording === null ? {} : { video: { action: "start", ...video } };
}
