import type { IncomingHttpHeaders } from "node:http";
import { phrase, type Problem } from "../errors/interpolation.ts";
import { ShapeError } from "../model/decode.ts";
import { JsonLimitError, parseJson, recordLimits } from "../model/parse-json.ts";
import type { TransactionRecord } from "../model/shapes.ts";
import { decodeTransactionRecord } from "../model/transaction-record.ts";

/** A transaction record as it was posted. */
export interface PostedRecord {
  readonly record: TransactionRecord;
  /** In lower case; a record with one of these ids is the same one. */
  readonly ids: readonly string[];
  /** About what it takes in memory. */
  readonly bytes: number;
}

/**
 * The longest id in characters: a longer one could not be used in a request, and would stay in the memory of
 * duplicates.
 */
const longestId = 200;

/** Says why a body is not JSON in UTF-8, not compressed, as the headers describe it; null if it is. */
export function formProblem(headers: IncomingHttpHeaders): Problem | null {
  const [, type, parameters = ""] = /^\s*([^;\s]+)\s*(?:;(.*))?$/.exec(headers["content-type"] ?? "") ?? [];
  const charset = /charset\s*=\s*"?([^\s";]+)/i.exec(parameters)?.[1];
  const coding = headers["content-encoding"];
  if (coding !== undefined && coding !== "identity") {
    return phrase("bodyCompressed");
  }
  const isJson =
    type !== undefined &&
    /^application\/(?:json|[\w.+-]+\+json)$/i.test(type) &&
    (charset === undefined || /^(?:utf-?8|us-ascii)$/i.test(charset));
  return isJson ? null : phrase("bodyNotJson");
}

/** Reads the record in a body, or returns why there is none. */
export function readPosted(body: Buffer): PostedRecord | { readonly problem: Problem } {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(body);
    const record = decodeTransactionRecord(parseJson(text, recordLimits));
    return { record, ids: identitiesOf(record), bytes: memoryOf(body) };
  } catch (error) {
    const isSaid = error instanceof ShapeError || error instanceof JsonLimitError;
    return { problem: isSaid ? error.problem : phrase("notJson") };
  }
}

/**
 * Version 1 identifies a transaction by the integer that is the legacyId in version 2: a record is the same one if
 * either id is.
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
