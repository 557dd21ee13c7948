import { isUtf8 } from "node:buffer";
import type { DimensionerError, FailureFacts } from "../errors/dimensioner-error.ts";
import { type Values, phrase, verbatim } from "../errors/interpolation.ts";
import type { SentenceKey } from "../errors/sentences.ts";
import { ShapeError } from "../model/decode.ts";
import { decodeMeasureResult } from "../model/measure-result.ts";
import type { MeasureSource, Measurement } from "../model/measurement.ts";
import {
  ByteCollector,
  JsonLimitError,
  type JsonLimits,
  parseJson,
  recordLimits,
} from "../model/parse-json.ts";
import type { Call, Command, Peer } from "./call.ts";
import type { Headers, Receiver } from "./exchange.ts";
import { callFailure, outcomeOf, statusFailure } from "./failures.ts";
import { readRetryAfterMs } from "./retry.ts";

/** A complete response with a body of limited size. */
export interface HttpResponse {
  readonly statusCode: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

/** The limit of a JSON body in bytes. */
const megabyte = 1024 * 1024;
const jsonLimitBytes = 5 * megabyte;

/**
 * Collects a response with a 2xx status. Any other status, a part of the body, and a body over the limit end the
 * exchange.
 */
export class ResponseReceiver implements Receiver {
  readonly #peer: Peer;
  readonly #call: Call;
  readonly #body = new ByteCollector(jsonLimitBytes);
  #statusCode = 0;
  #headers: Headers = {};
  /** The wait that the peer asks for before the next try; undefined if it sent none that can be used. */
  retryAfterMs: number | undefined;

  constructor(peer: Peer, call: Call) {
    this.#peer = peer;
    this.#call = call;
  }

  onHead(statusCode: number, headers: Headers): void {
    this.retryAfterMs = readRetryAfterMs(headers["retry-after"]);
    refuseUnusable(this.#peer, this.#call, statusCode, headers);
    if (statusCode === 206) {
      refusePart(this.#peer, this.#call, headers);
    }
    if (Number(headers["content-length"] ?? 0) > jsonLimitBytes) {
      this.#refuseLarge();
    }
    this.#statusCode = statusCode;
    this.#headers = headers;
  }

  onData(chunk: Buffer): void {
    if (!this.#body.add(chunk)) {
      this.#refuseLarge();
    }
  }

  response(): HttpResponse {
    return { statusCode: this.#statusCode, headers: this.#headers, body: this.#body.bytes() };
  }

  #refuseLarge(): never {
    throw callFailure(this.#peer, this.#call, "tooLarge", outcomeOf(this.#call, "sent"), {
      limit: phrase("megabytes", { count: jsonLimitBytes / megabyte }),
    });
  }
}

// An error repeats only the part of a header that has the expected form: a server could send the token back in it.
const codings = /^(?:(?:x-)?(?:gzip|compress)|br|deflate|zstd)$/;
const ranges = /^[a-z]{1,12} [\d*-]{1,40}\/[\d*]{1,20}$/i;

/**
 * Throws for what no call accepts: a status that is not 2xx, a part that claims to be the whole, and an encoding that
 * was not requested.
 */
export function refuseUnusable(peer: Peer, call: Call, statusCode: number, headers: Headers): void {
  if (statusCode < 200 || statusCode > 299) {
    throw statusFailure(peer, call, statusCode);
  }
  const encoding = String(headers["content-encoding"] ?? "identity").toLowerCase();
  if (encoding !== "identity") {
    throw callFailure(peer, call, "responseEncoded", outcomeOf(call, "sent"), {
      problem: verbatim(codings.test(encoding) ? encoding : "?"),
    });
  }
  if (statusCode !== 206 && headers["content-range"] !== undefined && !readRange(headers)?.isWhole) {
    refusePart(peer, call, headers);
  }
}

/** The position of the first byte and the total length, as Content-Range states them. */
export function readRange(
  headers: Headers,
):
  | { readonly first: number; readonly total: number; readonly endsWhole: boolean; readonly isWhole: boolean }
  | undefined {
  const range = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(String(headers["content-range"]));
  const [first = 0, last = 0, total = 0] = range?.slice(1).map(Number) ?? [];
  const endsWhole = last === total - 1;
  return range === null ? undefined : { first, total, endsWhole, isWhole: first === 0 && endsWhole };
}

export function refusePart(peer: Peer, call: Call, headers: Headers): never {
  const range = headers["content-range"];
  const problem =
    range === undefined
      ? phrase("noContentRange")
      : verbatim(ranges.test(String(range)) ? String(range) : "?");
  throw callFailure(peer, call, "responsePartial", outcomeOf(call, "sent"), { problem });
}

/** The exact text of a JSON body, and its value. */
interface JsonResponse {
  readonly text: string;
  readonly value: unknown;
}

/**
 * Decodes a body that the API promises to be JSON in UTF-8. A web page, other data and an empty body have errors of
 * their own.
 */
function readJson(peer: Peer, call: Call, response: HttpResponse, limits: JsonLimits): JsonResponse {
  const fail = (sentence: SentenceKey, values: Values = {}, text?: string): DimensionerError =>
    callFailure(peer, call, sentence, outcomeOf(call, "sent"), values, answerOf(peer, call, text));
  if (response.body.length === 0) {
    throw fail("responseEmpty");
  }
  if (looksLikeHtml(response)) {
    throw fail("responseHtml");
  }
  if (!isUtf8(response.body)) {
    throw fail("responseNotJson", { problem: phrase("notUtf8") });
  }
  const text = response.body.toString();
  try {
    return { text, value: parseJson(text.replace(/^\uFEFF/, ""), limits) };
  } catch (error) {
    if (error instanceof JsonLimitError) {
      throw fail("jsonTooLarge", { problem: error.problem }, text);
    }
    // The parser's message quotes the body, which may contain the token.
    throw fail("responseNotJson", { problem: phrase("notJson") }, text);
  }
}

/**
 * A read can be repeated, but what a command has done is told once: a device's answer is kept as it came. The cloud keeps what was
 * measured itself, and a server in its place could send the token back.
 */
function answerOf(
  { surface }: Peer,
  call: Call,
  text: string | undefined,
): Pick<FailureFacts, "rawResponse"> {
  return call.acts && surface !== "cloud" ? { rawResponse: text } : {};
}

/** Decodes the body into the type that the API promises. */
export function readShape<T>(
  peer: Peer,
  call: Call,
  response: HttpResponse,
  limits: JsonLimits,
  decode: (value: unknown) => T,
): { readonly text: string; readonly value: T } {
  const { text, value } = readJson(peer, call, response, limits);
  try {
    return { text, value: decode(value) };
  } catch (error) {
    if (error instanceof ShapeError) {
      const { problem } = error;
      throw callFailure(
        peer,
        call,
        "responseShape",
        outcomeOf(call, "sent"),
        { problem },
        answerOf(peer, call, text),
      );
    }
    throw error;
  }
}

/** Reads what a measure has found, with the exact text. */
export function readMeasurement(
  peer: Peer,
  command: Command,
  response: HttpResponse,
  source: MeasureSource,
): Measurement {
  const { text: rawResponse, value: result } = readShape(peer, command, response, recordLimits, (value) =>
    decodeMeasureResult(value, source),
  );
  return { result, rawResponse };
}

/**
 * A response to a command has an empty body; some servers add a word. A web page means that something other than the
 * peer has responded.
 */
export function refuseHtml(peer: Peer, call: Call, response: HttpResponse): void {
  if (looksLikeHtml(response)) {
    throw callFailure(peer, call, "responseHtml", outcomeOf(call, "sent"));
  }
}

function looksLikeHtml({ headers, body }: HttpResponse): boolean {
  const type = String(headers["content-type"] ?? "").toLowerCase();
  return body.length > 0 && (type.includes("text/html") || /^\s*</.test(body.toString("latin1", 0, 64)));
}
