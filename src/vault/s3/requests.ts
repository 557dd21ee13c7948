import { setTimeout as pause } from "node:timers/promises";
import type { AwsV4Signer } from "aws4fetch";
import type { Dispatcher, EnvHttpProxyAgent } from "undici";
import type { BucketAddress } from "./bucket-address.ts";
import { CredentialChain } from "./credential-chain.ts";
import type { Credentials } from "./credentials.ts";
import { sha256Of } from "../../model/sha256.ts";
import { isExpired, mayPass, notS3, BucketRefusal } from "./failures.ts";

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
}

type Response = Dispatcher.ResponseData;

/** How often a request is sent. */
const mostTries = 5;
const connectMs = 10_000;
/** The longest time without a byte. */
const silenceMs = 60_000;
const mostErrorBytes = 64 * 1024;
/** A page of a listing has 1,000 keys of 1,024 bytes at most. */
const mostAnswerBytes = 8 * 1024 * 1024;

/** Sends signed requests to one bucket, and repeats those that the object store could not serve. */
export class BucketRequests {
  readonly address: BucketAddress;
  readonly #agent: EnvHttpProxyAgent;
  readonly #Signer: typeof AwsV4Signer;
  readonly #credentials: Pick<CredentialChain, "drop" | "get">;
  readonly #signal: AbortSignal | undefined;
  readonly #firstPauseMs: number;
  /** The keys that are derived from the credentials each day. */
  readonly #signingKeys = new Map<string, ArrayBuffer>();

  private constructor(
    address: BucketAddress,
    loaded: { readonly agent: EnvHttpProxyAgent; readonly Signer: typeof AwsV4Signer },
    { signal, credentials = new CredentialChain(), firstPauseMs = 250 }: BucketOptions,
  ) {
    this.address = address;
    this.#agent = loaded.agent;
    this.#Signer = loaded.Signer;
    this.#credentials = credentials;
    this.#signal = signal;
    this.#firstPauseMs = firstPauseMs;
  }

  /** What signs and sends is loaded only here: most users have no bucket. */
  static async open(address: BucketAddress, options: BucketOptions): Promise<BucketRequests> {
    const [{ EnvHttpProxyAgent: Agent }, { AwsV4Signer: Signer }] = await Promise.all([
      import("undici"),
      import("aws4fetch"),
    ]);
    const agent = new Agent({
      allowH2: false,
      connect: { timeout: connectMs },
      headersTimeout: silenceMs,
      bodyTimeout: silenceMs,
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
        if (!mayPass(error) || tries === mostTries) {
          throw error;
        }
        await this.pauseAfter(tries);
      }
    }
  }

  /** The same, with the whole response as text. Throws ProblemError if it is longer than any of S3. */
  async sendForText(request: BucketRequest): Promise<{ text: string; headers: Response["headers"] }> {
    for (let tries = 1; ; tries += 1) {
      const { body, headers } = await this.send(request);
      try {
        const { text, isWhole } = await readText(body, mostAnswerBytes);
        if (!isWhole) {
          return notS3();
        }
        return { text, headers };
      } catch (error) {
        this.#signal?.throwIfAborted();
        if (!mayPass(error) || tries === mostTries) {
          throw error;
        }
        await this.pauseAfter(tries);
      }
    }
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
    const response = await this.#agent.request({
      origin,
      path,
      method,
      headers: Object.fromEntries(headers),
      body: body ?? null,
      ...(this.#signal === undefined ? {} : { signal: this.#signal }),
    });
    if (response.statusCode < 300) {
      return response;
    }
    const { text } = await readText(response.body, mostErrorBytes);
    throw new BucketRefusal(response.statusCode, response.headers, text, method);
  }
}

/** Reads a body as text, or only its beginning if there is more. */
async function readText(
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
