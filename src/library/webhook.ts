import { DimensionerError } from "../errors/dimensioner-error.ts";
import { phrase } from "../errors/interpolation.ts";
import { ShapeError } from "../model/decode.ts";
import { JsonLimitError, parseJson, recordLimits } from "../model/parse-json.ts";
import { decodeTransactionRecord } from "../model/transaction-record.ts";
import type { TransactionRecord } from "../model/shapes.ts";

/**
 * Reads what the cloud's webhook has posted, of either version, for those who take it with a server of their own. Text and
 * bytes are better than what JSON.parse makes of them: ids beyond 2^53 keep their last digits. Throws ERR_BAD_RESPONSE where
 * it is no transaction record.
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
