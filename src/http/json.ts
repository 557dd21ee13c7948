import { isUtf8 } from "node:buffer";
import type { Answer } from "./answer.ts";
import type { Call, Peer } from "./call.ts";
import { callFailure, outcomeOf } from "./failures.ts";
import type { DimensionerError } from "../errors/dimensioner-error.ts";
import { phrase, type Values } from "../errors/interpolation.ts";
import { ShapeError } from "../model/decode.ts";
import { JsonLimitError, parseJson, type JsonLimits } from "../model/parse-json.ts";
import type { SentenceKey } from "../errors/sentences.ts";

/** The text of a JSON answer, exactly as it came, and what it says. */
interface JsonAnswer {
  readonly text: string;
  readonly value: unknown;
}

/** Decodes an answer that the API promises as JSON in UTF-8; a web page, rubbish and an empty body are told apart. */
function readJson(peer: Peer, call: Call, answer: Answer, limits: JsonLimits): JsonAnswer {
  const fail = (sentence: SentenceKey, values: Values = {}): DimensionerError =>
    callFailure(peer, call, sentence, outcomeOf(call, "sent"), values);
  if (answer.body.length === 0) {
    throw fail("responseEmpty");
  }
  if (looksLikeHtml(answer)) {
    throw fail("responseHtml");
  }
  if (!isUtf8(answer.body)) {
    throw fail("responseNotJson", { problem: phrase("notUtf8") });
  }
  const text = answer.body.toString();
  try {
    return { text, value: parseJson(text.replace(/^\uFEFF/, ""), limits) };
  } catch (error) {
    if (error instanceof JsonLimitError) {
      throw fail("jsonTooLarge", { problem: error.problem });
    }
    // The parser's own words quote the body, and what answers may echo the token.
    throw fail("responseNotJson", { problem: phrase("notJson") });
  }
}

/** The same, decoded into the shape that the API promises. */
export function readShape<T>(
  peer: Peer,
  call: Call,
  answer: Answer,
  limits: JsonLimits,
  decode: (value: unknown) => T,
): { readonly text: string; readonly value: T } {
  const { text, value } = readJson(peer, call, answer, limits);
  try {
    return { text, value: decode(value) };
  } catch (error) {
    if (error instanceof ShapeError) {
      throw callFailure(peer, call, "responseShape", outcomeOf(call, "sent"), { problem: error.problem });
    }
    throw error;
  }
}

/** A command answers with an empty body; some servers add a word. A web page means that something else answered. */
export function refuseHtml(peer: Peer, call: Call, answer: Answer): void {
  if (looksLikeHtml(answer)) {
    throw callFailure(peer, call, "responseHtml", outcomeOf(call, "sent"));
  }
}

function looksLikeHtml({ headers, body }: Answer): boolean {
  const type = String(headers["content-type"] ?? "").toLowerCase();
  return body.length > 0 && (type.includes("text/html") || /^\s*</.test(body.toString("latin1", 0, 64)));
}
