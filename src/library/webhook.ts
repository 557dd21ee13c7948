import { DimensionerError } from "../errors/dimensioner-error.ts";
import { phrase } from "../errors/interpolation.ts";
import { ShapeError } from "../model/decode.ts";
import { JsonLimitError, parseJson, recordLimits } from "../model/parse-json.ts";
import { decodeTransactionRecord } from "../model/transaction-record.ts";
import type { TransactionRecord } from "../model/shapes.ts";

/**
 * Reads a record of either version that the cloud's webhook has posted, for applications with a server of their own.
 * Pass the text or the bytes rather than the result of JSON.parse, which rounds ids beyond 2^53. Throws
 * ERR_BAD_RESPONSE if it is not a transaction record.
 */
export function readTransactionRecord(body: unknown): TransactionRecord {
  try {
    return decodeTransactionRecord(parsed(body));
  } catch (error) {
    const isSaid = error instanceof ShapeError || error instanceof JsonLimitError;
    const problem = isSaid ? error.problem : phrase("notJson");
    const facts = { surface: "cloud", operation: "transaction record" } as const;
    throw new DimensionerError("recordShape", facts, { problem });
  }
}

function parsed(body: unknown): unknown {
  if (body instanceof Uint8Array) {
    return parseJson(new TextDecoder("utf-8", { fatal: true }).decode(body), recordLimits);
  }
  return typeof body === "string" ? parseJson(body, recordLimits) : body;
}
