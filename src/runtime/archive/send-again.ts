import type { NodeAPI } from "node-red";
import { positionOf } from "../../archive/jobs/table/item-slots.ts";
import type { OpenJob } from "../../archive/jobs/table/open-job.ts";
import type { RunningJob } from "../../archive/jobs/run/running-job.ts";
import type { Intent } from "../../archive/packages/intent.ts";
import { messageOf } from "../../archive/packages/message-of-intent.ts";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import type { MediaItem } from "../../model/shapes.ts";
import type { Message } from "../messages.ts";
import { measurementOf, readMedia } from "./archive-facts.ts";
import type { IntentProperties } from "./archive-intent.ts";
import { pathOf, putAt } from "./message-paths.ts";

// A message that archive has called retryable is sent again: without what it was archived from, its package would be
// called complete and would lack it.

type Read = Pick<IntentProperties, "cloudFrom" | "contentType" | "expect" | "keep" | "transactionId">;

/**
 * Puts the list of the media that the cloud has on the payload. A measurement moves to msg.measurement. A payload that is needed where
 * it is stays: media, what a setting reads, and a measurement where msg.measurement is something else.
 */
export function putListed(msg: Message, listed: readonly MediaItem[], properties: Read): void {
  const { payload, measurement = null } = msg;
  const isMeasured = measurementOf(payload) !== null;
  const operation = { operation: "archive", surface: "disk", acts: false } as const;
  if (
    readsPayload(properties) ||
    readMedia(msg, operation).length > 0 ||
    (isMeasured && measurement !== null)
  ) {
    return;
  }
  if (isMeasured) {
    msg["measurement"] = payload;
  }
  msg.payload = listed;
}

function readsPayload({ cloudFrom, contentType, expect, keep, transactionId }: Read): boolean {
  return [cloudFrom, contentType, expect, keep, transactionId].some((text) => /\bpayload\b/.test(text));
}

/**
 * Puts on the message of a resumed job, beside its kept properties, what the job was made from; its media cannot be put back. Returns the
 * error in which it ends: one that asks for nobody to send the message again if it lacks something.
 */
export async function putBack(
  RED: NodeAPI,
  msg: Message,
  running: RunningJob,
  { properties, error }: { readonly properties: IntentProperties; readonly error: unknown },
): Promise<unknown> {
  const { job, root } = running;
  const texts = await root.jobs.texts(job.id).catch(() => undefined);
  const isWhole =
    texts !== undefined && putIntent(RED, msg, { ...job.intent, ...texts }, { job, properties });
  const hasMedia = job.lost.size > 0 || [...job.items.keys()].some((slot) => positionOf(slot) !== null);
  if (!(error instanceof DimensionerError) || (isWhole && !hasMedia)) {
    return error;
  }
  const { details, values, cause } = error;
  if (hasMedia && error.code === "ERR_MEDIA_INCOMPLETE") {
    const path = root.asideOf(job);
    return new DimensionerError("messageMediaIncomplete", { ...details, cause }, { ...values, path });
  }
  return new DimensionerError(error.sentence, { ...details, retryable: false, cause }, values);
}

/** Returns false if something cannot be put back: the measurement, or what a setting reads from items[msg.index] if msg.index is lost. */
function putIntent(
  RED: NodeAPI,
  msg: Message,
  intent: Intent,
  { job, properties }: { readonly job: OpenJob; readonly properties: IntentProperties },
): boolean {
  // The kept ones are on it.
  const { payload, ...again } = messageOf({ ...intent, keep: {} }, job.transactionId);
  Object.assign(msg, again);
  const { cloudFrom, transactionId, transactionIdType, contentType, contentTypeType, expect, expectType } =
    properties;
  const read = [
    { name: cloudFrom.trim(), type: "msg", value: intent.cloudName },
    { name: transactionId, type: transactionIdType, value: job.transactionId },
    { name: contentType, type: contentTypeType, value: intent.contentType },
    { name: expect, type: expectType, value: intent.media === "list" ? intent.expect.join(", ") : null },
  ];
  const isRead = read
    .filter(({ name, type, value }) => type === "msg" && name !== "" && value !== null)
    .map(({ name, value }) => putAt(msg, pathOf(RED, msg, name), value))
    .every(Boolean);
  if (payload !== undefined && measurementOf(msg.payload) === null) {
    msg[msg.payload === undefined ? "payload" : "measurement"] = payload;
  }
  return isRead && (intent.measurement === null || payload !== undefined);
}
