import type { NodeAPI } from "node-red";
import { positionOf } from "../../jobs/table/item-slots.ts";
import type { RunningJob } from "../../jobs/run/running-job.ts";
import type { Intent } from "../../vault/packages/intent.ts";
import { messageOf } from "../../vault/packages/message-of-intent.ts";
import { readExpected } from "../../cloud/expected-media.ts";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import type { MediaItem } from "../../model/shapes.ts";
import type { ValueReader } from "../action/values.ts";
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

interface PutBack {
  readonly RED: NodeAPI;
  readonly properties: IntentProperties;
  /** Reads what settings say of a message. */
  readonly valuesOf: (msg: Message) => ValueReader;
  /** In which the message ends. */
  readonly error: unknown;
}

/**
 * Puts on the message of a resumed job, beside its kept properties, what the job was made from; its media cannot be put back. Returns the
 * error in which it ends: one that asks for nobody to send the message again if it lacks something.
 */
export async function putBack(msg: Message, running: RunningJob, options: PutBack): Promise<unknown> {
  const { job, root } = running;
  const { error } = options;
  let isWhole = false;
  try {
    const texts = await root.jobs.texts(job.id);
    isWhole =
      texts !== undefined && (await putIntent(msg, { ...job.intent, ...texts }, job.transactionId, options));
  } catch {
    // The database does not respond, or what it has of the job is damaged.
  }
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

/** Returns false if the message does not say again what the job was made from. */
async function putIntent(
  msg: Message,
  intent: Intent,
  transactionId: string | null,
  options: PutBack,
): Promise<boolean> {
  // The kept ones are on it.
  const { payload, ...again } = messageOf({ ...intent, keep: {} }, transactionId);
  Object.assign(msg, Object.fromEntries(Object.entries(again).filter(([, value]) => value !== null)));
  const settings = settingsOf(intent, transactionId, options.properties);
  const places = payload === undefined ? [null] : placesFor(msg);
  const attempts = places.map((place) => ({
    place,
    attempt: place === null ? { ...msg } : { ...msg, [place]: payload },
  }));
  for (const { place, attempt } of attempts) {
    if (await saysAgain(attempt, settings, place, options)) {
      Object.assign(msg, attempt);
      return intent.measurement === null || payload !== undefined;
    }
  }
  Object.assign(msg, attempts[0]?.attempt);
  return false;
}

/** Whether the settings read what they have read; puts what they do not, where it can. */
async function saysAgain(
  msg: Message,
  settings: readonly Setting[],
  place: Place | null,
  options: PutBack,
): Promise<boolean> {
  let isWhole = true;
  for (const setting of settings) {
    const isThere =
      (await isSaid(msg, setting, options)) ||
      (setting.type === "msg" && putSetting(options.RED, msg, setting, place));
    isWhole &&= isThere || !setting.isNeeded;
  }
  return isWhole;
}

type Place = "payload" | "measurement";

/** Where a measurement may be put, one after the other. */
function placesFor({ payload }: Message): readonly Place[] {
  if (payload === undefined) {
    return ["payload", "measurement"];
  }
  // What was kept of a measurement is only a part of it.
  return [measurementOf(payload) === null ? "measurement" : "payload"];
}

interface Setting {
  readonly field: "cloudFrom" | "contentType" | "expect" | "transactionId";
  /** The setting itself: the name of a property, or a JSONata expression. */
  readonly value: string;
  readonly type: string;
  /** What it has read. */
  readonly read: string;
  /** Without the ID of a transaction that was found later, it is found again. */
  readonly isNeeded: boolean;
}

/** The settings that have read something from the message. */
function settingsOf(intent: Intent, transactionId: string | null, properties: IntentProperties): Setting[] {
  const { cloudFrom, transactionIdType, contentTypeType, expectType } = properties;
  const expected = intent.media === "list" ? intent.expect.join(",") : null;
  const all = [
    { field: "cloudFrom", value: cloudFrom.trim(), type: "msg", read: intent.cloudName },
    { field: "transactionId", value: properties.transactionId, type: transactionIdType, read: transactionId },
    { field: "contentType", value: properties.contentType, type: contentTypeType, read: intent.contentType },
    { field: "expect", value: properties.expect, type: expectType, read: expected },
  ] as const;
  return all.flatMap(({ read, ...setting }) => {
    const isOfMessage = (setting.type === "msg" || setting.type === "jsonata") && setting.value !== "";
    const isNeeded = setting.field !== "transactionId" || intent.transactionId !== null;
    return isOfMessage && read !== null ? [{ ...setting, read, isNeeded }] : [];
  });
}

async function isSaid(
  msg: Message,
  { field, value, type, read }: Setting,
  { valuesOf }: PutBack,
): Promise<boolean> {
  try {
    const said = await valuesOf(msg).optional({ field, value, type });
    return (field === "expect" && said !== undefined ? readExpected(said).join(",") : said) === read;
  } catch {
    // An expression such as items[msg.index], and the message has no index.
    return false;
  }
}

function putSetting(RED: NodeAPI, msg: Message, { value, read }: Setting, measured: Place | null): boolean {
  // Nothing is written into the measurement: it is evidence.
  const path = pathOf(RED, msg, value);
  return path[0] !== measured && putAt(msg, path, read);
}
