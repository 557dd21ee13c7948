import type { IncomingHttpHeaders } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import type { AwsV4Signer } from "aws4fetch";
import type { Dispatcher, EnvHttpProxyAgent, Pool } from "undici";
import {
  codeOf,
  connectProblem,
  isNotTls,
  isTlsAlert,
  isUntrusted,
  wantsTls,
} from "../../errors/connect-problem.ts";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { ProblemError, type Values, phrase, problemOf, verbatim } from "../../errors/interpolation.ts";
import { hider } from "../../errors/secrets.ts";
import type { SentenceKey } from "../../errors/sentences.ts";
import { mostProvisional } from "../../http/exchange.ts";
import { sha256Of } from "../../model/sha256.ts";
import { afterLimit } from "../../time/after-limit.ts";
import { PeerClock } from "../../time/clocks.ts";
import type { BucketAddress } from "./bucket-address.ts";
import { CredentialChain, type Credentials } from "./credentials.ts";

/** A request to a bucket. */
export interface BucketRequest {
  readonly method: "DELETE" | "GET" | "HEAD" | "POST" | "PUT";
  /** The whole key; blank: the bucket itself. */
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

export interface BucketOptions {
  readonly signal?: AbortSignal | undefined;
  /** For tests; otherwise those of the environment. */
  readonly credentials?: Pick<CredentialChain, "drop" | "get">;
  /** The first pause before a request is sent again, in milliseconds; each further one is twice as long. */
  readonly firstPauseMs?: number;
  /** For tests. */
  readonly answerMs?: number;
  /** For tests: how often a request is sent. */
  readonly tries?: number;
}

type Response = Dispatcher.ResponseData;

const mostTries = 5;
const connectMs = 10_000;
/** The longest time without a byte. */
const silenceMs = 60_000;
/** How long an answer that is read as a whole may take. */
const wholeAnswerMs = 60_000;
/** What an object that is read brings at least, in each time of that length. The slowest lines have eight times as much. */
const leastBytesPerSecond = 1_000;
/** What is sent goes out at least as fast: on a line of 64 kbit/s. An answer is waited for after that. */
const slowestUploadBytesPerSecond = 8_000;
const mostErrorBytes = 64 * 1024;
/**
 * The proxies that the environment names, for undici, which reads no address without a scheme as curl and Node-RED do. Throws ERR_CONFIG
 * for what is no address.
 */
function proxiesOf(env: NodeJS.ProcessEnv): { readonly httpProxy?: string; readonly httpsProxy?: string } {
  const read = (name: string): string | undefined => {
    const found = [name, name.toUpperCase()].find((one) => env[one] !== undefined);
    const given = env[found ?? ""] ?? "";
    const url = given === "" || given.includes("://") ? given : `http://${given}`;
    if (url !== "" && !URL.canParse(url)) {
      const values = {
        what: phrase("store"),
        field: verbatim(found ?? name),
        problem: phrase("proxyAddress"),
      };
      throw new DimensionerError("configInvalid", { surface: "config", operation: "store" }, values);
    }
    return found === undefined ? undefined : url;
  };
  const [httpProxy, httpsProxy] = ["http_proxy", "https_proxy"].map(read);
  return {
    ...(httpProxy === undefined ? {} : { httpProxy }),
    ...(httpsProxy === undefined ? {} : { httpsProxy }),
  };
}

/** A page of a listing has 1,000 keys of 1,024 bytes at most. */
const mostXmlBytes = 8 * 1024 * 1024;

/** Sends signed requests to one bucket, and repeats those that the object store could not serve. */
export class BucketRequests {
  readonly address: BucketAddress;
  readonly #agent: EnvHttpProxyAgent;
  readonly #dispatcher: Dispatcher;
  readonly #Signer: typeof AwsV4Signer;
  readonly #credentials: Pick<CredentialChain, "drop" | "get">;
  readonly #signal: AbortSignal | undefined;
  readonly #firstPauseMs: number;
  readonly #answerMs: number;
  readonly #tries: number;
  /** That of the object store, as its answers tell it. */
  readonly clock = new PeerClock();
  /** The keys that are derived from the credentials each day. */
  readonly #signingKeys = new Map<string, ArrayBuffer>();

  private constructor(
    address: BucketAddress,
    loaded: { readonly agent: EnvHttpProxyAgent; readonly Signer: typeof AwsV4Signer },
    {
      signal,
      credentials = new CredentialChain(),
      firstPauseMs = 250,
      answerMs = wholeAnswerMs,
      tries = mostTries,
    }: BucketOptions,
  ) {
    this.address = address;
    this.#agent = loaded.agent;
    this.#dispatcher = loaded.agent.compose(
      (dispatch) => (request, handler) =>
        dispatch(request, new SpeedWatch(handler, answerMs, () => this.#slow())),
    );
    this.#Signer = loaded.Signer;
    this.#credentials = credentials;
    this.#signal = signal;
    this.#firstPauseMs = firstPauseMs;
    this.#answerMs = answerMs;
    this.#tries = tries;
  }

  /** What signs and sends is loaded only here: most users have no bucket. */
  static async open(address: BucketAddress, options: BucketOptions): Promise<BucketRequests> {
    const [{ EnvHttpProxyAgent: Agent, Pool }, { AwsV4Signer: Signer }] = await Promise.all([
      import("undici"),
      import("aws4fetch"),
    ]);
    const agent = new Agent({
      ...proxiesOf(process.env),
      allowH2: false,
      connect: { timeout: connectMs },
      bodyTimeout: silenceMs,
      // The connections to a proxy, which has to answer as soon as any other server.
      clientFactory: (origin: URL, given: Pool.Options) =>
        new Pool(origin, { ...given, headersTimeout: connectMs }),
    });
    return new BucketRequests(address, { agent, Signer }, options);
  }

  /** Ends all requests. */
  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  /**
   * Sends a request until it succeeds or cannot, and returns the response, whose body the caller has to consume. Throws
   * BucketRefusal, undici's error, or ERR_CONFIG if there are no credentials.
   */
  async send(request: BucketRequest): Promise<Response> {
    let hasRenewed = false;
    for (let tries = 1; ; tries += 1) {
      const credentials = await this.#credentials.get();
      try {
        return await this.#sendOnce(request, credentials);
      } catch (error) {
        this.#signal?.throwIfAborted();
        if (isExpired(error) && !hasRenewed) {
          hasRenewed = true;
          this.#credentials.drop(credentials);
          continue;
        }
        if (!mayPass(error) || tries === this.#tries) {
          throw error;
        }
        await this.pauseAfter(tries);
      }
    }
  }

  /**
   * The same, with the whole response as text. Throws ProblemError if it is longer than any of S3, and ERR_STORE if it takes longer
   * than a minute.
   */
  async sendForText(request: BucketRequest): Promise<{ text: string; headers: Response["headers"] }> {
    for (let tries = 1; ; tries += 1) {
      const { body, headers } = await this.send(request);
      const stopTimer = afterLimit(this.#answerMs, () => body.destroy(this.#slow()));
      try {
        const { text, isWhole } = await readText(body, mostXmlBytes);
        if (!isWhole) {
          return notS3();
        }
        return { text, headers };
      } catch (error) {
        this.#signal?.throwIfAborted();
        if (!mayPass(error) || tries === this.#tries) {
          throw error;
        }
        await this.pauseAfter(tries);
      } finally {
        stopTimer();
      }
    }
  }

  #slow(): DimensionerError {
    const { origin, name } = this.address;
    const values = { host: origin, path: name, seconds: this.#answerMs / 1000 };
    return new DimensionerError("bucketSlow", { surface: "store", operation: "read" }, values);
  }

  /** Waits before the next try, with jitter, so that several workers do not all come back at once. */
  async pauseAfter(tries: number): Promise<void> {
    const fullMs = this.#firstPauseMs * 2 ** (tries - 1);
    await pause(fullMs * (0.5 + Math.random() / 2), undefined, { signal: this.#signal });
  }

  async #sendOnce(request: BucketRequest, credentials: Credentials): Promise<Response> {
    const { method, key, query = {}, body } = request;
    const { origin, basePath, region } = this.address;
    const pairs = Object.entries(query).map((pair) => pair.map(encode).join("="));
    const ofKey = key.split("/").map(encode).join("/");
    // Without a slash at its end: some object stores leave it out when they compute the signature.
    const resource = key === "" && basePath !== "" ? basePath : `${basePath}/${ofKey}`;
    const path = pairs.length === 0 ? resource : `${resource}?${pairs.join("&")}`;
    // The object store compares the hash with what it receives, so a body cannot change on its way.
    const hash = sha256Of(body ?? "");
    const { accessKeyId, secretAccessKey, sessionToken } = credentials;
    const signer = new this.#Signer({
      accessKeyId,
      secretAccessKey,
      ...(sessionToken === undefined ? {} : { sessionToken }),
      method,
      url: `${origin}${path}`,
      headers: { ...request.headers, "x-amz-content-sha256": hash },
      service: "s3",
      region,
      cache: this.#signingKeys,
    });
    const { headers } = await signer.sign();
    const response = await this.#dispatcher.request({
      origin,
      path,
      method,
      headers: Object.fromEntries(headers),
      body: body ?? null,
      headersTimeout: this.#answerMs + ((body?.length ?? 0) / slowestUploadBytesPerSecond) * 1_000,
      ...(this.#signal === undefined ? {} : { signal: this.#signal }),
    });
    this.clock.note(response.headers);
    if (response.statusCode < 300) {
      return response;
    }
    const { text } = await readText(response.body, mostErrorBytes);
    const said = hider([secretAccessKey, sessionToken ?? ""])?.(text) ?? text;
    throw new BucketRefusal(response.statusCode, response.headers, said, method);
  }
}

/**
 * Ends a response that comes more slowly than any line, as one does that brings a byte now and then. What waits for its reader is not
 * the object store's fault.
 */
class SpeedWatch implements Dispatcher.DispatchHandler {
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #leastBytes: number;
  readonly #ms: number;
  readonly #slow: () => Error;
  #bytes = 0;
  #provisional = 0;
  #stopTimer = (): void => undefined;

  constructor(handler: Dispatcher.DispatchHandler, ms: number, slow: () => Error) {
    this.#handler = handler;
    this.#ms = ms;
    this.#leastBytes = (leastBytesPerSecond * ms) / 1000;
    this.#slow = slow;
  }

  onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void {
    this.#handler.onRequestStart?.(controller, context);
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    ...head: [statusCode: number, headers: IncomingHttpHeaders, statusMessage?: string]
  ): void {
    this.#provisional += 1;
    if (head[0] < 200 && this.#provisional > mostProvisional) {
      controller.abort(new ProblemError(phrase("bucketNotS3")));
      return;
    }
    // Further provisional responses are no reason to wait longer.
    if (this.#provisional === 1 || head[0] >= 200) {
      this.#stopTimer();
      this.#watch(controller);
    }
    this.#handler.onResponseStart?.(controller, ...head);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    this.#handler.onResponseData?.(controller, chunk);
  }

  onResponseEnd(controller: Dispatcher.DispatchController, trailers: IncomingHttpHeaders): void {
    this.#stopTimer();
    this.#handler.onResponseEnd?.(controller, trailers);
  }

  onResponseError(controller: Dispatcher.DispatchController, error: Error): void {
    this.#stopTimer();
    this.#handler.onResponseError?.(controller, error);
  }

  #watch(controller: Dispatcher.DispatchController): void {
    this.#bytes = 0;
    this.#stopTimer = afterLimit(this.#ms, () => {
      if (this.#bytes < this.#leastBytes && !controller.paused) {
        controller.abort(this.#slow());
      } else {
        this.#watch(controller);
      }
    });
  }
}

/** Reads a body as text, or only its beginning if there is more. */
export async function readText(
  body: AsyncIterable<Buffer>,
  mostBytes: number,
): Promise<{ readonly text: string; readonly isWhole: boolean }> {
  const blocks: Buffer[] = [];
  let bytes = 0;
  for await (const block of body) {
    blocks.push(block);
    bytes += block.length;
    if (bytes > mostBytes) {
      break;
    }
  }
  return { text: Buffer.concat(blocks).toString(), isWhole: bytes <= mostBytes };
}

/** Percent-encoded as signatures of AWS need it: all but letters, digits and `-._~`. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

const regionForm = /^[\w.-]{1,60}$/;

/** The answer of an object store that has refused a request, or could not serve it. */
export class BucketRefusal extends Error {
  readonly status: number;
  /** S3's own, such as `NoSuchBucket`; blank if the answer has none. */
  readonly code: string;
  /** The time of the object store's clock; NaN if it has not said it. */
  readonly storeTimeMs: number;
  /** The bucket's region, where that is what was wrong. */
  readonly region: string | undefined;

  /** Whether a request to read was answered as if nothing were there, but not by an object store: something else was reached. */
  readonly isStray: boolean;
  /** Whether the request was sent without TLS to a server that expects it. */
  readonly wantsTls: boolean;

  constructor(status: number, headers: Readonly<Record<string, unknown>>, text: string, method?: string) {
    const xml = readXml(text);
    const code = childText(xml, "Code") ?? "";
    const said = childText(xml, "Message");
    super([code === "" ? `HTTP ${status}` : code, said].filter(Boolean).join(": "));
    this.status = status;
    this.code = code;
    this.isStray = status === 404 && code === "" && method === "GET";
    this.wantsTls = status === 400 && wantsTls.test(text);
    this.storeTimeMs = Date.parse(String(headers["date"]));
    const region = headers["x-amz-bucket-region"] ?? childText(xml, "Region");
    this.region = typeof region === "string" && regionForm.test(region) ? region : undefined;
  }
}

const sentenceOfCode: ReadonlyMap<string, SentenceKey> = new Map([
  ["NoSuchBucket", "bucketMissing"],
  // Of a listing: the endpoint has the name of the bucket, too.
  ["NoSuchKey", "bucketMissing"],
  ["RequestTimeTooSkewed", "bucketClock"],
  ["ExpiredToken", "bucketExpired"],
  ["ExpiredTokenException", "bucketExpired"],
  ["TokenRefreshRequired", "bucketExpired"],
  ["PermanentRedirect", "bucketRegion"],
  ["AuthorizationHeaderMalformed", "bucketRegion"],
]);

/** The request was too slow, or another one for the same object ran at the same time. */
const passingCodes: ReadonlySet<string> = new Set([
  "ConditionalRequestConflict",
  "OperationAborted",
  "RequestTimeout",
]);
/** How object stores say that an object must not be deleted: S3 has no code for it. */
const protection = /object ?lock|\bworm\b|immutab|protected|retention|retained|(?:legal|active) ?hold/i;
/** How they say that a bucket has no Object Lock, and not that a request needs something else because of it. */
const noLock =
  /(?:missing|without|no|not have) (?:an? )?object ?lock|object ?lock (?:is )?(?:disabled|not (?:configured|enabled|supported))/i;
/** How they say that they are full, with codes of their own. */
const noRoom = /quota|storage ?full|insufficient ?storage|no space|\bcap exceeded/i;
const busyStatus: ReadonlySet<number> = new Set([429, 503]);
const brokenStatus: ReadonlySet<number> = new Set([500, 502, 504]);

/** Whether the same request may succeed a moment later. */
export function mayPass(error: unknown): boolean {
  if (error instanceof BucketRefusal) {
    return error.isStray || isBroken(error) || isBusy(error) || passingCodes.has(error.code);
  }
  // Whoever has not answered for a minute would be waited for several times.
  const isSilent = codeOf(error) === "UND_ERR_HEADERS_TIMEOUT";
  return !(isSilent || error instanceof DimensionerError || error instanceof ProblemError);
}

/**
 * Whether there is no such object or upload. A missing bucket is another matter, and so is a proxy that does not reach the object
 * store; the answer to HEAD, which has no body, cannot tell.
 */
export function isMissing(error: unknown): boolean {
  return (
    error instanceof BucketRefusal && error.status === 404 && error.code !== "NoSuchBucket" && !error.isStray
  );
}

/** Whether the object store does not have this kind of request. */
export function isUnsupported(error: unknown): boolean {
  return error instanceof BucketRefusal && (error.status === 405 || error.status === 501);
}

/** Whether temporary credentials have ended. */
function isExpired(error: unknown): boolean {
  return error instanceof BucketRefusal && sentenceOf(error) === "bucketExpired";
}

/** Throws the ProblemError for an answer as no S3-compatible store gives it. */
export function notS3(): never {
  throw new ProblemError(phrase("bucketNotS3"));
}

/** Creates the ERR_STORE for a request that has failed for good. */
export function bucketError(address: BucketAddress, operation: string, error: unknown): DimensionerError {
  if (error instanceof DimensionerError) {
    return error;
  }
  const facts = { surface: "store", operation, cause: error } as const;
  const values: Values = { path: address.name, name: address.bucket, host: address.origin };
  if (error instanceof ProblemError) {
    return new DimensionerError("bucketFailed", facts, { ...values, problem: error.problem });
  }
  if (!(error instanceof BucketRefusal)) {
    // An error without a code is not one of the network.
    const sentence = codeOf(error) === "" && !isTlsAlert(error) ? "bucketFailed" : connectSentence(error);
    return new DimensionerError(sentence, facts, { ...values, problem: connectProblem(error) });
  }
  const offMs = Math.abs(Date.now() - error.storeTimeMs);
  const count = Number.isNaN(offMs) ? 15 : Math.max(1, Math.round(offMs / 60_000));
  const problem = problemOf(error);
  const isProtected = operation === "delete" && isRefused(error) && protection.test(error.message);
  const isOnlyTls = error.wantsTls && address.origin.startsWith("http:");
  const sentence = isProtected ? "bucketProtected" : isOnlyTls ? "bucketOnlyTls" : sentenceOf(error);
  const isTwice = sentence === "bucketMissing" && namesTwice(address);
  return new DimensionerError(isTwice ? "bucketTwice" : sentence, facts, {
    ...values,
    problem,
    count,
    value: error.region ?? "?",
  });
}

/** Whether the endpoint has the name of the bucket already, in its path or before its host. */
function namesTwice({ bucket, origin, basePath }: BucketAddress): boolean {
  const inHost = new URL(origin).hostname.split(".").filter((part) => part === bucket).length;
  const inPath = basePath.split("/").filter((part) => part === bucket).length;
  return inHost + inPath > 1;
}

function connectSentence(error: unknown): SentenceKey {
  if (isNotTls(error)) {
    return "bucketNotTls";
  }
  if (isTlsAlert(error)) {
    return "bucketOnlyTls";
  }
  return isUntrusted(error) ? "bucketTls" : "bucketUnreachable";
}

function sentenceOf(error: BucketRefusal): SentenceKey {
  const known = sentenceOfCode.get(error.code);
  if (known === "bucketRegion" || (known === undefined && error.status === 301)) {
    return error.region === undefined ? "bucketFailed" : "bucketRegion";
  }
  if (known !== undefined) {
    return known;
  }
  if (noLock.test(error.message)) {
    return "bucketNoLock";
  }
  // A quota may be one of requests.
  if (!isBusy(error) && (error.status === 507 || noRoom.test(error.message))) {
    return "bucketFull";
  }
  if (isDenied(error)) {
    return "bucketDenied";
  }
  return isBusy(error) ? "bucketBusy" : "bucketFailed";
}

function isDenied({ status }: BucketRefusal): boolean {
  return status === 401 || status === 403;
}

/** As object stores answer what they could serve. */
function isRefused({ status }: BucketRefusal): boolean {
  return status === 400 || status === 403 || status === 409;
}

function isBusy({ status, code }: BucketRefusal): boolean {
  return busyStatus.has(status) || code === "SlowDown";
}

function isBroken({ status, code }: BucketRefusal): boolean {
  return brokenStatus.has(status) || code === "InternalError";
}

/** An element of the XML that an object store sends. Attributes are left out: S3 uses none that matter. */
export interface XmlElement {
  readonly name: string;
  readonly text: string;
  readonly children: readonly XmlElement[];
}

/** S3 nests its answers four levels deep at most. */
const deepest = 16;
/** A page has 1,000 entries of about ten elements. */
const mostElements = 50_000;
/** Keys have 1,024 bytes, which may be percent-encoded; some texts are sent back, such as what asks for the next page. */
const longestText = 4_096;
/** A page has two for each entry, around its ETag. */
const mostEntities = 100_000;
const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
const tag = /^(\/?)([\w:.-]+).*?(\/?)$/s;

interface Open {
  name: string;
  text: string;
  children: XmlElement[];
}

/**
 * Reads the root element; undefined if the text is not well-formed XML as S3 writes it. The time that it takes depends on the
 * length of the text only, whatever a server sends.
 */
export function readXml(text: string): XmlElement | undefined {
  if (text.split("&", mostEntities + 2).length > mostEntities + 1) {
    return undefined;
  }
  const top: Open = { name: "", text: "", children: [] };
  const open: Open[] = [top];
  let tags = 0;
  for (let at = 0; at < text.length;) {
    const inner = open.at(-1);
    const start = text.indexOf("<", at);
    // Each element has two tags at most.
    if (inner === undefined || open.length > deepest || tags > 2 * mostElements) {
      return undefined;
    }
    inner.text += decode(text.slice(at, start < 0 ? text.length : start));
    if (start < 0) {
      break;
    }
    const end = text.indexOf(">", start);
    if (end < 0 || !readTag(text.slice(start + 1, end), inner, open)) {
      return undefined;
    }
    at = end + 1;
    tags += 1;
  }
  return open.length === 1 && top.children.length === 1 ? top.children[0] : undefined;
}

/** Opens or closes an element. False if that is not possible here. */
function readTag(content: string, inner: Open, open: Open[]): boolean {
  if (/^[?!]/.test(content)) {
    return true;
  }
  const [, slash, name, isEmpty] = tag.exec(content) ?? [];
  if (name === undefined) {
    return false;
  }
  if (slash === "/") {
    const isShort = inner.text.trim().length <= longestText;
    return isShort && open.length > 1 && open.pop()?.name === name;
  }
  const element: Open = { name, text: "", children: [] };
  inner.children.push(element);
  if (isEmpty !== "/") {
    open.push(element);
  }
  return true;
}

/** The text of the first child with this name; undefined if there is none. */
export function childText(element: XmlElement | undefined, name: string): string | undefined {
  return element?.children.find((child) => child.name === name)?.text;
}

/** The children with this name. */
export function childrenOf(element: XmlElement | undefined, name: string): XmlElement[] {
  return element?.children.filter((child) => child.name === name) ?? [];
}

/** Text for XML. */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

function decode(text: string): string {
  return text.replace(/&(?:#x([\da-f]{1,6})|#(\d{1,7})|(\w+));/gi, (whole, hex, decimal, name) => {
    const code = hex === undefined ? Number(decimal) : Number.parseInt(String(hex), 16);
    if (name !== undefined) {
      return entities[String(name)] ?? whole;
    }
    return code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole;
  });
}
