import { isUtf8 } from "node:buffer";
import {
  brotliDecompressSync,
  constants,
  gunzipSync,
  inflateRawSync,
  inflateSync,
  zstdDecompressSync,
} from "node:zlib";
import { wantsTls } from "../errors/connect-problem.ts";
import { DimensionerError, type FailureFacts } from "../errors/dimensioner-error.ts";
import { type Problem, type Values, phrase, verbatim } from "../errors/interpolation.ts";
import { hideIn } from "../errors/secrets.ts";
import type { SentenceKey } from "../errors/sentences.ts";
import { ShapeError } from "../model/decode.ts";
import {
  charsetOf,
  contentOf,
  failureIn,
  isHtml,
  isXml,
  isZipped,
  mostCodings,
  textOf,
} from "../model/documents.ts";
import { decodeMeasureResult } from "../model/measure-result.ts";
import type { MeasureSource, Measurement } from "../model/measurement.ts";
import {
  ByteCollector,
  JsonLimitError,
  type JsonLimits,
  JsonNumberError,
  ambiguousName,
  findJsonFault,
  parseJson,
  recordLimits,
} from "../model/parse-json.ts";
import type { Call, Command, Peer } from "./call.ts";
import type { Flow, Headers, Receiver } from "./exchange.ts";
import { callFailure, hasMeasured, outcomeOf, statusFailure } from "./failures.ts";
import { retryAfterOf } from "./retry.ts";

/** A complete response with a body of limited size. */
export interface HttpResponse {
  /** Without the compression that some servers apply without being asked. */
  readonly body: Buffer;
  /** The encoding of a text that the headers name. */
  readonly charset: string | undefined;
  /** The compression that could not be undone; undefined if there is none. */
  readonly coding: string | undefined;
  /** The beginning of the body as a text, for the error of a command whose response cannot be used. */
  readonly answer: string;
}

/** The limit of a JSON body in bytes. */
const megabyte = 1024 * 1024;
const jsonLimitBytes = 5 * megabyte;
/** How much of an answer an error keeps. */
const keptAnswerBytes = 64 * 1024;
/** How long the words that a command was refused with are waited for: what they say is told, but nobody waits for it. */
const refusalMs = 2_000;
/** No figure of a measurement, and no ID, has more characters. */
const numberLength = 30;

/**
 * Collects a response with a 2xx status. Any other status, a part of the body, and a body over the limit end the
 * exchange; that of a command once its words have arrived, as far as they do.
 */
export class ResponseReceiver implements Receiver {
  readonly #peer: Peer;
  readonly #call: Call;
  readonly #body = new ByteCollector(jsonLimitBytes);
  #headers: Headers = {};
  #refusal: DimensionerError | undefined;
  /** The wait that the peer asks for before the next try; undefined if it sent none that can be used. */
  retryAfterMs: number | undefined;

  constructor(peer: Peer, call: Call) {
    this.#peer = peer;
    this.#call = call;
  }

  onHead(statusCode: number, headers: Headers, flow: Flow): void {
    this.retryAfterMs = retryAfterOf(headers);
    this.#headers = headers;
    try {
      refuseUnusable(this.#peer, this.#call, statusCode, headers);
      if (statusCode === 206 && readRange(headers)?.isWhole !== true) {
        refusePart(this.#peer, this.#call, headers);
      }
    } catch (error) {
      const mayWantTls = statusCode === 400 && this.#peer.origin.startsWith("http:");
      if (!(error instanceof DimensionerError) || !(this.#call.acts || mayWantTls)) {
        throw error;
      }
      this.#refusal = error;
      flow.endWithin(refusalMs);
      return;
    }
  }

  onData(chunk: Buffer): void {
    if (this.#refusal !== undefined && this.#body.bytes().length > keptAnswerBytes) {
      throw this.#refusal;
    }
    if (!this.#body.add(chunk)) {
      this.#refuseLarge();
    }
  }

  response(): HttpResponse {
    if (this.#refusal !== undefined) {
      throw this.#wordedRefusal(this.#refusal);
    }
    const body = this.#body.bytes();
    const coding = String(this.#headers["content-encoding"] ?? "").toLowerCase();
    const charset = this.#charset();
    try {
      const plain = withoutCodings(body, coding);
      return { body: plain, charset, coding: undefined, answer: this.#answer(plain, true) };
    } catch (error) {
      if (error instanceof RangeError) {
        this.#refuseLarge();
      }
      // The bytes decide: they may be plain, whatever the header says.
      const known = codings.test(coding) ? coding : "gzip";
      return { body, charset, coding: known, answer: this.#answer(beginningOf(body), true) };
    }
  }

  /** The error of an exchange that has failed, with what has arrived of the answer to a command: it cannot be asked for again. */
  explain(error: unknown): unknown {
    const failure = this.#refusal === undefined ? error : this.#wordedRefusal(this.#refusal);
    const body = this.#body.bytes();
    if (failure instanceof DimensionerError && this.#call.acts && body.length > 0) {
      failure.keepAnswer(this.#answer(body, false));
    }
    return failure;
  }

  /** Many servers that expect HTTPS say so in plain words, with the status of any bad request. */
  #wordedRefusal(refusal: DimensionerError): DimensionerError {
    const isPlain = this.#peer.origin.startsWith("http:") && refusal.details.statusCode === 400;
    return isPlain && wantsTls.test(this.#body.bytes().toString("latin1", 0, keptAnswerBytes))
      ? callFailure(
          this.#peer,
          this.#call,
          "responseOnlyTls",
          refusal.details.outcome,
          {},
          { statusCode: 400 },
        )
      : refusal;
  }

  #charset(): string | undefined {
    return charsetOf(String(this.#headers["content-type"]));
  }

  /** A longer text is cut when the secrets are out of it: no part of one may be left at its end. */
  #answer(body: Buffer, isWhole: boolean): string {
    const beginning = body.subarray(0, 2 * keptAnswerBytes);
    const isCut = !isWhole || beginning.length < body.length;
    const { text } = textOf(isCut ? wholeCharacters(beginning) : beginning, this.#charset());
    const shown = Buffer.from(hidden(this.#peer, text));
    return shown.length > keptAnswerBytes
      ? wholeCharacters(shown.subarray(0, keptAnswerBytes)).toString()
      : shown.toString();
  }

  #refuseLarge(): never {
    throw callFailure(this.#peer, this.#call, "tooLarge", outcomeOf(this.#call, "sent"), {
      limit: phrase("megabytes", { count: jsonLimitBytes / megabyte }),
    });
  }
}

const hidden = ({ hide }: Peer, text: string): string => hide?.(text) ?? text;

/** A text in UTF-8 that was cut, without the part of a character at its end. */
function wholeCharacters(bytes: Buffer): Buffer {
  const cut = [0, 1, 2, 3].find((missing) => isUtf8(bytes.subarray(0, bytes.length - missing)));
  return bytes.subarray(0, bytes.length - (cut ?? 0));
}

// An error repeats only the part of a header that has the expected form: a server could send the token back in it.
const codings = /^(?:(?:x-)?(?:gzip|compress)|br|deflate|zstd)$/;
const ranges = /^[a-z]{1,12} [\d*-]{1,40}\/[\d*]{1,20}$/i;

/** Whether a Content-Encoding names a compression that exists. */
export function compressionOf(headers: Headers): string | undefined {
  return codingsIn(String(headers["content-encoding"] ?? "")).find((coding) => codings.test(coding));
}

function codingsIn(field: string): string[] {
  return field
    .toLowerCase()
    .split(",", mostCodings)
    .map((coding) => coding.trim());
}

/** Undoes the last of these compressions first, and those that only the bytes show. Throws a RangeError above the limit of a body. */
function withoutCodings(body: Buffer, given: string): Buffer {
  const said = ["", ...codingsIn(given).toReversed()].reduce(withoutCoding, body);
  return withoutCoding(said, hasZlibFrame(said) ? "deflate" : "");
}

/** What can be read of gzip that breaks off, has a fault at its end or something behind it: nobody else can read what a command has brought. */
function beginningOf(body: Buffer): Buffer {
  // Where these bytes are 0, the compressed text follows.
  if (!isZipped(body) || body[3] !== 0) {
    return body;
  }
  try {
    const options = { maxOutputLength: jsonLimitBytes, finishFlush: constants.Z_SYNC_FLUSH };
    return inflateRawSync(body.subarray(gzipHeadBytes), options);
  } catch {
    return body;
  }
}

const gzipHeadBytes = 10;

function withoutCoding(body: Buffer, coding: string): Buffer {
  const options = { maxOutputLength: jsonLimitBytes };
  if (isZipped(body)) {
    return gunzipSync(body, options);
  }
  switch (coding) {
    case "br":
      return brotliDecompressSync(body, options);
    case "zstd":
      return zstdDecompressSync(body, options);
    case "deflate":
      // Some servers leave out the frame around it.
      return ((body[0] ?? 0) & 0x0f) === 8 ? inflateSync(body, options) : inflateRawSync(body, options);
    default:
      return body;
  }
}

/** Whether bytes begin with the frame of "deflate" (RFC 1950), which is sent without a name or as gzip as well. No JSON begins with an x. */
function hasZlibFrame(body: Buffer): boolean {
  return body.length > 1 && body[0] === 0x78 && body.readUInt16BE(0) % 31 === 0;
}

/** Throws for what no call accepts: a status that is not 2xx, and a part that claims to be the whole. */
export function refuseUnusable(peer: Peer, call: Call, statusCode: number, headers: Headers): void {
  if (statusCode < 200 || statusCode > 299) {
    throw statusFailure(peer, call, statusCode);
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

/** A character of ASCII that JSON may write in another way. */
const anyEscape = /\\u00[2-7]/;

/** The name of a field that every measurement has, as JSON has it, also within a text of JSON. */
const measured = /[{,]\s*\\?["']?(?:errorCode|measuredObjects)\\?["']?\s*:/i;

/** Whether this is what a device has measured, readable or not, and whatever stands around it: then its address is right. */
function isOfMeasure(text: string): boolean {
  // Other encodings have zeros between the letters.
  const plain = text.replaceAll("\0", "");
  return measured.test(plain) || hasMeasured(plain);
}

function isOfApi(text: string): boolean {
  return /^[\s\uFEFF]*[{[]/.test(text);
}

/**
 * Decodes a body that the API promises to be JSON in UTF-8, whatever type is announced, and takes out what is secret. A web page, other data and an empty body have
 * errors of their own, and what is JSON but for a fault has one that says which and where.
 */
function readJson(peer: Peer, call: Call, response: HttpResponse, limits: JsonLimits): JsonResponse {
  const fail = (sentence: SentenceKey, values: Values = {}): DimensionerError =>
    callFailure(peer, call, sentence, outcomeOf(call, "sent"), values, answerOf(call, response));
  if (response.body.length === 0) {
    throw fail("responseEmpty");
  }
  const { text, wrongByte } = textOf(response.body, response.charset);
  const shown = hidden(peer, text);
  /** Whether no name and no text of it can have a secret in it. */
  const isClean = peer.hide === undefined || (shown === text && !anyEscape.test(text));
  if (isHtml(text) || isXml(text)) {
    const isXmlText = !isHtml(text);
    throw call.acts && hasMeasured(text)
      ? fail("responseFaulty", { problem: phrase(isXmlText ? "isXml" : "notJson") })
      : fail(isXmlText ? "responseXml" : "responseHtml");
  }
  const fault = (problem: Problem): DimensionerError => {
    const isItsOwn = call.acts ? isOfMeasure(text) : isOfApi(text);
    return isItsOwn ? fail("responseFaulty", { problem }) : fail("responseNotJson", { problem });
  };
  if (wrongByte !== null) {
    if (response.coding === undefined) {
      throw fault(phrase("notUtf8At", { count: wrongByte }));
    }
    throw call.acts && isOfMeasure(response.answer)
      ? fail("responseFaulty", { problem: phrase("bodyCompressed") })
      : fail("responseEncoded", { problem: verbatim(response.coding) });
  }
  try {
    const value = parseJson(contentOf(text), { ...limits, numberLength });
    return { text: shown, value: isClean ? value : hideIn(value, peer.hide) };
  } catch (error) {
    if (error instanceof JsonLimitError) {
      throw fail("jsonTooLarge", { problem: error.problem });
    }
    if (error instanceof JsonNumberError) {
      throw fault(isClean ? error.problem : phrase("notJson"));
    }
    // The parser's message quotes the body, which may contain the token.
    throw fault(isOfApi(text) || isOfMeasure(text) ? findJsonFault(contentOf(shown)) : phrase("notJson"));
  }
}

/** A read can be repeated, but what a command has done is told once: its answer is kept as it came. */
function answerOf(call: Call, { answer }: HttpResponse): Pick<FailureFacts, "rawResponse"> {
  return call.acts && answer !== "" ? { rawResponse: answer } : {};
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
      // What was measured is a result of its own, also if it is none that can be read.
      if (!call.acts) {
        refuseFailure(peer, call, response, text);
      }
      const { problem } = error;
      const sentence = call.acts && isOfMeasure(text) ? "responseFaulty" : "responseShape";
      throw callFailure(peer, call, sentence, outcomeOf(call, "sent"), { problem }, answerOf(call, response));
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
  const name = result.ok ? ambiguousName(rawResponse) : undefined;
  if (name !== undefined) {
    const problem = phrase("fieldTwice", { name });
    const outcome = outcomeOf(command, "sent");
    throw callFailure(peer, command, "responseFaulty", outcome, { problem }, answerOf(command, response));
  }
  return { result, rawResponse };
}

/**
 * A response to a command has an empty body; some servers add a word. A web page or XML means that something other than the
 * peer has responded, and an error code that the command has failed.
 */
export function refuseDocument(peer: Peer, call: Call, response: HttpResponse): void {
  const { text } = textOf(response.body, response.charset);
  const sentence = isHtml(text) ? "responseHtml" : "responseXml";
  if (isHtml(text) || isXml(text)) {
    throw callFailure(peer, call, sentence, outcomeOf(call, "sent"), {}, answerOf(call, response));
  }
  refuseFailure(peer, call, response, text);
}

/** Throws for an answer whose status is one of success and which says itself that something has failed. */
function refuseFailure(peer: Peer, call: Call, response: HttpResponse, text: string): void {
  const failure = failureIn(text, peer.hide);
  if (failure !== undefined) {
    const { problem, errorCode } = failure;
    const more = { ...answerOf(call, response), ...(errorCode !== null && { errorCode }) };
    throw callFailure(peer, call, "responseFailed", call.acts ? "failed" : null, { problem }, more);
  }
}
