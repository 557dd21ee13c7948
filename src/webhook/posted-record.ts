import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { type Problem, phrase } from "../errors/interpolation.ts";
import { ShapeError } from "../model/decode.ts";
import { charsetOf, contentOf, isZipped, textOf } from "../model/documents.ts";
import {
  ByteCollector,
  JsonLimitError,
  findJsonFault,
  parseJson,
  recordLimits,
} from "../model/parse-json.ts";
import type { Correction, TransactionRecord } from "../model/shapes.ts";
import { decodeTransactionRecord } from "../model/transaction-record.ts";
import { afterLimit } from "../time/after-limit.ts";
import type { Room } from "./room.ts";

/** A transaction record as it was posted. */
export interface PostedRecord {
  readonly record: TransactionRecord;
  /** In lower case; a record with one of these ids is of the same transaction. */
  readonly ids: readonly string[];
  /** About what it takes in memory. */
  readonly bytes: number;
}

/** A record on its way into the flow. */
export interface Received {
  readonly record: TransactionRecord;
  /** About what it takes in memory. */
  readonly bytes: number;
  /** The database in whose table it is, and its number there; null if it is only in memory. */
  readonly kept: { readonly store: string; readonly recordId: number } | null;
  /** The record of the same transaction that came before with another content; null if there is none. */
  readonly corrects: Correction | null;
  /** Whether it was received by an earlier process. */
  readonly isResumed: boolean;
}

/**
 * The longest id in characters: a longer one could not be used in a request, and would stay in the memory of
 * duplicates.
 */
const longestId = 200;

/** Says why a body is not JSON by its type, which no form of a web page can send; null if it is. */
export function formProblem(headers: IncomingHttpHeaders): Problem | null {
  const [type = ""] = (headers["content-type"] ?? "").split(";", 1);
  return /^application\/(?:json|[\w.+-]+\+json)$/i.test(type.trim()) ? null : phrase("bodyNotJson");
}

/**
 * Reads the record in a body, or returns why there is none. The bytes decide whether it is compressed and in which encoding it is: what
 * the headers say of that counts only where they cannot be read otherwise.
 */
export function readPosted(
  body: Buffer,
  headers: IncomingHttpHeaders,
): PostedRecord | { readonly status: 400 | 415; readonly problem: Problem } {
  const { text, wrongByte } = textOf(body, charsetOf(headers["content-type"]));
  const json = contentOf(text);
  const isJson = /^\s*[{[]/.test(json);
  const isCoded = (headers["content-encoding"] ?? "identity") !== "identity" || isZipped(body);
  if (isCoded && (wrongByte !== null || !isJson)) {
    return { status: 415, problem: phrase("bodyCompressed") };
  }
  if (wrongByte !== null) {
    return { status: 400, problem: phrase("notUtf8At", { count: wrongByte }) };
  }
  try {
    const record = decodeTransactionRecord(parseJson(json, recordLimits));
    return { record, ids: identitiesOf(record), bytes: memoryOf(body) };
  } catch (error) {
    const isSaid = error instanceof ShapeError || error instanceof JsonLimitError;
    const fault = (): Problem => (isJson ? findJsonFault(json) : phrase("notJson"));
    return { status: 400, problem: isSaid ? error.problem : fault() };
  }
}

/**
 * Version 1 identifies a transaction by the integer that is the legacyId in version 2: a record is of the same
 * transaction if either id is.
 */
function identitiesOf({ transactionId, legacyId }: TransactionRecord): string[] {
  const ids = legacyId === null ? [transactionId] : [transactionId, legacyId];
  if (ids.some((id) => id.length > longestId)) {
    throw new ShapeError(phrase("idLong", { most: longestId }));
  }
  return ids.map((id) => id.toLowerCase());
}

/** An empty object takes three characters of a body, with its comma, and 64 bytes of memory. */
const markBytes = 32;
/** Marks beyond are in texts, because a record has fewer values. */
const mostMarks = 2 * recordLimits.values;
const [comma, openList, openObject] = [0x2c, 0x5b, 0x7b];

/** About what the record in a body takes in memory: up to twenty times as much as the body if that has many small values. */
function memoryOf(body: Buffer): number {
  let found = 0;
  for (const byte of body) {
    found += Number(byte === comma || byte === openList || byte === openObject);
  }
  return body.length + markBytes * Math.min(found, mostMarks);
}

/** The HTTP status for a body that was not read. */
export type BodyProblem = 400 | 408 | 413 | 503;

/** Limits of all bodies together that are being received, so that senders that begin many and finish none cannot fill the memory. */
const mostAtOnce = { items: 500, bytes: 32_000_000 } as const;

/**
 * Reads a whole body, up to `limitBytes` and within `deadlineMs`, as long as `room` has a place for it; null if the sender has
 * closed the connection. A body that a middleware of the site has read before is taken from it.
 */
export function readBody(
  request: IncomingMessage,
  limitBytes: number,
  deadlineMs: number,
  room: Room,
  most: { readonly items: number; readonly bytes: number } = mostAtOnce,
): Promise<Buffer | BodyProblem | null> {
  const readBefore = bodyOf(request);
  if (readBefore !== undefined) {
    return Promise.resolve(readBefore !== 400 && readBefore.length > limitBytes ? 413 : readBefore);
  }
  if (Number(request.headers["content-length"] ?? 0) > limitBytes) {
    return Promise.resolve(413);
  }
  if (!room.has(0, most)) {
    return Promise.resolve(503);
  }
  room.take(0);
  return new Promise((resolve) => {
    // Removed at the end, because the listeners live as long as the request, which may be refused and still be sent.
    let body: ByteCollector | null = new ByteCollector(limitBytes);
    let taken = 0;
    const settle = (result: Buffer | BodyProblem | null): void => {
      if (body !== null) {
        body = null;
        stopTimer();
        request.off("data", take);
        room.give(taken);
        resolve(result);
      }
    };
    const take = (chunk: Buffer): void => {
      if (!room.has(chunk.length, { items: Infinity, bytes: most.bytes })) {
        settle(503);
        return;
      }
      room.take(chunk.length, 0);
      taken += chunk.length;
      if (body?.add(chunk) === false) {
        settle(413);
      }
    };
    const stopTimer = afterLimit(deadlineMs, () => settle(408));
    request.on("data", take);
    request.once("end", () => settle(body?.bytes() ?? null));
    request.once("error", () => settle(null));
    request.once("close", () => settle(null));
  });
}

/**
 * Discards the rest of a body before an error response, which the sender would not receive if the connection ended in
 * the middle; stops after `limitBytes` or `deadlineMs` in any case.
 */
export function discardBody(request: IncomingMessage, limitBytes: number, deadlineMs: number): Promise<void> {
  if (request.readableEnded || request.destroyed) {
    return Promise.resolve();
  }
  return new Promise((resolve) => {
    let bytes = 0;
    const settle = (): void => {
      stopTimer();
      request.off("data", count);
      resolve();
    };
    const count = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > limitBytes) {
        settle();
      }
    };
    const stopTimer = afterLimit(deadlineMs, settle);
    request.once("end", settle);
    request.once("error", settle);
    request.once("close", settle);
    request.on("data", count);
  });
}

/** Converts the result of a body parser back to the bytes that it may have come from; 400 if it is nested too deeply for that. */
function bodyOf(request: IncomingMessage): Buffer | 400 | undefined {
  const body: unknown = "body" in request ? request.body : undefined;
  if (!request.readableEnded || body === undefined) {
    return undefined;
  }
  if (Buffer.isBuffer(body)) {
    return body;
  }
  try {
    return Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  } catch {
    return 400;
  }
}
