import { randomUUID } from "node:crypto";
import type { Readable } from "node:stream";
import { DimensionerError, isDimensionerError } from "../../errors/dimensioner-error.ts";
import { ProblemError, phrase, problemOf } from "../../errors/interpolation.ts";
import { sha256Of } from "../../model/sha256.ts";
import type { PeerClock } from "../../time/clocks.ts";
import type { BucketAddress } from "./bucket-address.ts";
import {
  type BucketOptions,
  BucketRefusal,
  type BucketRequest,
  BucketRequests,
  type XmlElement,
  bucketError,
  childText,
  childrenOf,
  isMissing,
  isUnsupported,
  notS3,
  readText,
  readXml,
} from "./requests.ts";
import {
  type StoreOptions,
  type Stored,
  type UploadSource,
  endUpload,
  retainObject,
  sha256Header,
  sourceOf,
  storeObject,
} from "./store-object.ts";

/** An object that is being read. */
export interface OpenedObject extends ObjectHead {
  /** From the position that was asked for to the end, or to the last byte that was asked for. The caller has to consume or destroy it. */
  readonly body: Readable;
}

/** What reads and stores the objects of a bucket. One that has no clock has that of this computer. */
export type Objects = Omit<Bucket, "clock" | "demandRetention"> & Partial<Pick<Bucket, "clock">>;

/** The time of the object store, by which it protects objects, as far as it has told it; otherwise that of this computer. */
export function timeOf({ clock }: Pick<Objects, "clock">): Date {
  return clock?.now() ?? new Date();
}

/**
 * The objects of one bucket, by their whole keys. All methods reject with ERR_STORE, with ERR_CONFIG if there are no
 * credentials, and with the reason of an aborted signal.
 */
export class Bucket {
  readonly address: BucketAddress;
  readonly clock: PeerClock;
  readonly #requests: BucketRequests;
  readonly #signal: AbortSignal | undefined;
  /** False when the object store has said that it knows no conditions for writing. */
  #hasConditions = true;

  private constructor(requests: BucketRequests, signal: AbortSignal | undefined) {
    this.address = requests.address;
    this.clock = requests.clock;
    this.#requests = requests;
    this.#signal = signal;
  }

  /** Sends nothing yet. Aborting the signal ends everything that runs. */
  static async open(address: BucketAddress, options: BucketOptions = {}): Promise<Bucket> {
    return new Bucket(await BucketRequests.open(address, options), options.signal);
  }

  async close(): Promise<void> {
    await this.#requests.close();
  }

  /** Waits before another attempt to read on. */
  async pauseAfter(tries: number): Promise<void> {
    await this.#explained("read", () => this.#requests.pauseAfter(tries));
  }

  /** Undefined if there is no such object. */
  async head(key: string): Promise<ObjectHead | undefined> {
    return await this.#explained("read", async () => {
      const response = await this.#orNone({ method: "HEAD", key });
      await response?.body.dump();
      if (response !== undefined) {
        return headOf(response.headers);
      }
      // Something else than the object store may have answered. What is not there is given up, so this must be certain.
      const found = await this.#orNone({ method: "GET", key });
      await found?.body.dump();
      return found === undefined ? undefined : headOf(found.headers);
    });
  }

  /**
   * Opens an object from a position on, as far as its end or a last byte. Undefined if there is none, or none with the `etag`
   * any more.
   */
  async read(key: string, from = 0, etag = "", last?: number): Promise<OpenedObject | undefined> {
    return await this.#explained("read", async () => {
      const headers = {
        ...(from === 0 && last === undefined ? {} : { range: `bytes=${from}-${last ?? ""}` }),
        ...(etag === "" ? {} : { "if-match": etag }),
      };
      const response = await this.#orNone({ method: "GET", key, headers });
      if (response === undefined) {
        return undefined;
      }
      const part = partOf(response.headers);
      // Bytes from another position would be taken for those that were asked for.
      if (from > 0 && (response.statusCode !== 206 || part?.from !== from)) {
        await response.body.dump();
        throw new ProblemError(phrase("bucketNoRanges"));
      }
      const { bytes, ...head } = headOf(response.headers);
      return { ...head, bytes: part?.total ?? bytes, body: response.body };
    });
  }

  /** Lists all objects whose keys begin with a text, in the order of their keys; each page has up to 1,000. */
  async *list(prefix: string, most?: number): AsyncGenerator<readonly ListedObject[]> {
    const common = {
      "list-type": "2",
      "encoding-type": "url",
      prefix,
      ...(most === undefined ? {} : { "max-keys": String(most) }),
    };
    const tokens = new PageMarks();
    for (let token: string | undefined = ""; token !== undefined;) {
      const query: BucketRequest["query"] =
        token === "" ? common : { ...common, "continuation-token": token };
      const asked = { prefix, token };
      const page: Page = await this.#explained("read", async () => {
        const read = pageOf(await this.#askXml({ method: "GET", key: "", query }), asked);
        if (read.next !== undefined) {
          tokens.add(read.next, read.objects.length);
        }
        return read;
      });
      yield page.objects;
      token = page.next;
    }
  }

  /**
   * Stores an object, with its SHA-256 beside it. With `isNew`, an existing object is not replaced if the object store can
   * tell; object stores that cannot replace it. `changed`: the content is not what its SHA-256 says, and nothing was stored. A retention
   * is read back; where it is missing it is set, and where it cannot be set that is an error, although the object is stored.
   */
  async store(key: string, source: UploadSource, options: StoreOptions = {}): Promise<Stored> {
    const stored = await this.#store(key, source, options);
    if (stored === "stored" && options.retainUntil !== undefined) {
      await this.demandRetention(key, options.retainUntil);
    }
    return stored;
  }

  /** Protects an object that is there, unless it is protected for as long. Rejects with ERR_STORE if it cannot be. */
  async demandRetention(key: string, until: Date): Promise<void> {
    if (await this.#isRetained(key, until)) {
      return;
    }
    let refusal: unknown;
    try {
      await retainObject(this.#requests, key, until);
    } catch (error) {
      refusal = this.explain("write", error);
      if (!(error instanceof BucketRefusal)) {
        throw refusal;
      }
    }
    if (!(await this.#isRetained(key, until))) {
      const { name: path, origin: host } = this.address;
      const facts = { surface: "store", operation: "write", cause: refusal } as const;
      throw new DimensionerError("bucketNotRetained", facts, { name: key, path, host });
    }
  }

  /** An object store may keep whole seconds only. */
  async #isRetained(key: string, until: Date): Promise<boolean> {
    return ((await this.head(key))?.retainedUntilMs ?? 0) > until.getTime() - 1_000;
  }

  async #store(key: string, source: UploadSource, options: StoreOptions): Promise<Stored> {
    return await this.#explained("write", async () => {
      if (options.isNew === true && this.#hasConditions) {
        try {
          return await storeObject(this.#requests, key, source, options);
        } catch (error) {
          if (!(error instanceof BucketRefusal) || error.code !== "NotImplemented") {
            throw error;
          }
          this.#hasConditions = false;
        }
      }
      return await storeObject(this.#requests, key, source, { ...options, isNew: false });
    }).catch(async (error: unknown) => {
      throw await this.#explainRetention(options, error);
    });
  }

  /** Some object stores, such as Ceph, refuse a retention for a bucket without Object Lock and do not say why. */
  async #explainRetention({ retainUntil }: StoreOptions, error: unknown): Promise<unknown> {
    const isUnclear =
      isDimensionerError(error) &&
      error.sentence === "bucketFailed" &&
      error.cause instanceof Error &&
      error.cause.message.startsWith("InvalidRequest");
    if (retainUntil === undefined || !isUnclear || (await this.hasLock().catch(() => null)) !== false) {
      return error;
    }
    const { bucket: name, name: path, origin: host } = this.address;
    const facts = { surface: "store", operation: "write", cause: error.cause } as const;
    return new DimensionerError("bucketNoLock", facts, { name, path, host, problem: problemOf(error.cause) });
  }

  /** Removes an object if it is there. Where the bucket keeps versions, it stays as an earlier one. */
  async remove(key: string): Promise<void> {
    await this.#explained("delete", async () => {
      const response = await this.#orNone({ method: "DELETE", key });
      await response?.body.dump();
    });
  }

  /**
   * Whether objects can be protected from being deleted; null if the key may not ask. An object store that does not say so
   * cannot do it.
   */
  async hasLock(): Promise<boolean | null> {
    return await this.#explained("read", async () => {
      try {
        const answer = await this.#askXml({ method: "GET", key: "", query: { "object-lock": "" } });
        return childText(answer, "ObjectLockEnabled") === "Enabled";
      } catch (error) {
        if (error instanceof BucketRefusal && error.code !== "NoSuchBucket") {
          return error.status === 403 ? null : false;
        }
        throw error;
      }
    });
  }

  /**
   * Ends the uploads below a prefix that were begun before a time and never completed, or only those of some keys. Returns
   * how many there were; null if the object store does not list them.
   */
  async endUploads(
    prefix: string,
    beforeMs: number,
    isOurs: (key: string) => boolean = () => true,
  ): Promise<number | null> {
    try {
      return await this.#endUploads(prefix, beforeMs, isOurs);
    } catch (error) {
      if (isUnsupported(error)) {
        return null;
      }
      throw this.explain("write", error);
    }
  }

  async #endUploads(prefix: string, beforeMs: number, isOurs: (key: string) => boolean): Promise<number> {
    let ended = 0;
    const pages = new PageMarks();
    for (let marks: Record<string, string> | undefined = {}; marks !== undefined;) {
      const query = { uploads: "", prefix, ...marks };
      const page = await this.#askXml({ method: "GET", key: "", query });
      if (page.name !== "ListMultipartUploadsResult") {
        notS3();
      }
      for (const upload of childrenOf(page, "Upload")) {
        const [key = "", uploadId = ""] = [childText(upload, "Key"), childText(upload, "UploadId")];
        const isBefore = Date.parse(childText(upload, "Initiated") ?? "") < beforeMs;
        if (isBefore && key.startsWith(prefix) && isOurs(key)) {
          await endUpload(this.#requests, key, uploadId);
          ended += 1;
        }
      }
      const next = childText(page, "NextKeyMarker");
      const isMore = childText(page, "IsTruncated") === "true" && next !== undefined;
      const uploadMark = childText(page, "NextUploadIdMarker") ?? "";
      if (isMore) {
        pages.add(JSON.stringify([next, uploadMark]), childrenOf(page, "Upload").length);
      }
      marks = isMore ? { "key-marker": next, "upload-id-marker": uploadMark } : undefined;
    }
    return ended;
  }

  /** Sends a request whose answer is XML. */
  async #askXml(request: BucketRequest): Promise<XmlElement> {
    const { text } = await this.#requests.sendForText(request);
    const root = readXml(text);
    return root ?? notS3();
  }

  /** Undefined for an object that is not there, or not with the right ETag. */
  async #orNone(request: BucketRequest): Promise<Awaited<ReturnType<BucketRequests["send"]>> | undefined> {
    try {
      return await this.#requests.send(request);
    } catch (error) {
      if (isMissing(error) || (error instanceof BucketRefusal && error.status === 412)) {
        return undefined;
      }
      throw error;
    }
  }

  /** The ERR_STORE for an error of this bucket, or the reason of an abort. */
  explain(operation: string, error: unknown): unknown {
    return this.#signal?.aborted === true ? this.#signal.reason : bucketError(this.address, operation, error);
  }

  async #explained<T>(operation: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.explain(operation, error);
    }
  }
}

/** An entry of a listing. */
export interface ListedObject {
  readonly key: string;
  readonly bytes: number;
  /** When it was stored, by the clock of the object store, in milliseconds since 1970. */
  readonly storedAtMs: number;
}

export interface Page {
  readonly objects: readonly ListedObject[];
  /** What asks for the next page; undefined for the last one. */
  readonly next: string | undefined;
}

/**
 * Reads a page of a listing. Objects are removed because of their keys, and what is not listed counts as missing: so an answer
 * with other keys, or with pages that cannot be asked for, is none. Throws ProblemError.
 */
function pageOf(
  answer: XmlElement,
  { prefix, token }: { readonly prefix: string; readonly token: string },
): Page {
  // Some stores do not encode keys, and do not say so.
  const isEncoded = childText(answer, "EncodingType") === "url";
  const objects = childrenOf(answer, "Contents").map((one) => {
    const key = childText(one, "Key") ?? "";
    return {
      key: isEncoded ? decoded(key) : key,
      bytes: Number(childText(one, "Size")),
      storedAtMs: Date.parse(childText(one, "LastModified") ?? ""),
    };
  });
  const next =
    childText(answer, "IsTruncated") === "true"
      ? (childText(answer, "NextContinuationToken") ?? token)
      : undefined;
  const isListing = answer.name === "ListBucketResult" && objects.every(({ key }) => key.startsWith(prefix));
  return isListing && next !== token ? { objects, next } : notS3();
}

function decoded(key: string): string {
  try {
    return decodeURIComponent(key.replaceAll("+", " "));
  } catch {
    return notS3();
  }
}

/** No list of S3 has more pages: that is a hundred million objects. */
const mostPages = 100_000;
/** Some object stores look through many objects for a page, and find none of those that were asked for. */
const mostEmptyPages = 100;

/**
 * Notices when a listing does not end. One goes round in a circle: the marks of its pages come again. Only one of them is kept, another one after
 * twice as many pages each time, which every circle comes back to.
 */
class PageMarks {
  #count = 0;
  #empty = 0;
  #kept: string | undefined;
  #pages = 1;
  #left = 1;

  /** Throws ProblemError if this mark, which asks for the next page, was there before, or if there are too many pages. */
  add(mark: string, entries: number): void {
    this.#count += 1;
    this.#empty = entries === 0 ? this.#empty + 1 : 0;
    if (this.#count > mostPages || this.#empty > mostEmptyPages) {
      throw new ProblemError(phrase("bucketEndless"));
    }
    if (mark === this.#kept) {
      notS3();
    }
    this.#left -= 1;
    if (this.#left === 0) {
      this.#kept = mark;
      this.#pages *= 2;
      this.#left = this.#pages;
    }
  }
}

/** What a bucket says of an object. */
export interface ObjectHead {
  readonly bytes: number;
  /** Changes with the content; blank if the object store has none. */
  readonly etag: string;
  /** SHA-256 of the content, lower-case hexadecimal, as its writer has noted it; undefined if it has not. */
  readonly sha256: string | undefined;
  /**
   * Until when it is protected from being deleted (Object Lock), as far as the object store says so, in milliseconds since 1970:
   * infinite for a legal hold, 0 if it is not.
   */
  readonly retainedUntilMs: number;
}

type HeaderFields = Readonly<Record<string, string | string[] | undefined>>;

/** Throws ProblemError if the answer does not say how long the object is. */
function headOf(headers: HeaderFields): ObjectHead {
  const sha256 = headers[sha256Header];
  const bytes = Number(headers["content-length"] ?? Number.NaN);
  if (!Number.isSafeInteger(bytes)) {
    // Without its length, an object that was cut off could not be told from a whole one.
    return notS3();
  }
  return {
    bytes,
    etag: String(headers["etag"] ?? ""),
    sha256: typeof sha256 === "string" ? sha256 : undefined,
    retainedUntilMs: retainedUntil(headers),
  };
}

/**
 * Where a part of an object begins that was sent, and the length of the whole object; undefined if the answer does not say it.
 */
function partOf(headers: HeaderFields): { readonly from: number; readonly total: number } | undefined {
  const [, from, total] = /^bytes (\d+)-\d+\/(\d+)$/.exec(String(headers["content-range"] ?? "")) ?? [];
  return from === undefined ? undefined : { from: Number(from), total: Number(total) };
}

function retainedUntil(headers: HeaderFields): number {
  if (headers["x-amz-object-lock-legal-hold"] === "ON") {
    return Infinity;
  }
  const untilMs = Date.parse(String(headers["x-amz-object-lock-retain-until-date"] ?? ""));
  return Number.isNaN(untilMs) ? 0 : untilMs;
}

/** Long enough for the object of a test to be looked at; where the bucket keeps versions, it stays as an earlier one for as long. */
const probeRetentionMs = 60_000;

/**
 * Stores an object in parts with a retention whose key begins with the prefix, and removes it as far as the bucket lets it. Rejects with
 * ERR_STORE if it is not retained.
 */
export async function probeRetention(bucket: Objects, prefix: string): Promise<void> {
  const key = `${prefix}${probeName}${randomUUID()}`;
  const retainUntil = new Date(timeOf(bucket).getTime() + probeRetentionMs);
  try {
    await bucket.store(key, sourceOf("retained"), { inParts: true, retainUntil });
  } finally {
    // Where it is protected and no versions are kept, the tidying removes it by its name a day later.
    await bucket.remove(key).catch(() => undefined);
  }
}

/** What a bucket can do besides storing objects. */
export interface BucketAbilities {
  /** Whether an object can be stored only if there is none of its name. */
  readonly isConditional: boolean;
  /** Whether objects can be protected from being deleted (Object Lock); null if it is not known. */
  readonly hasLock: boolean | null;
}

/** How the name of the object begins. One that cannot be removed, because the test was ended, is removed by its name a day later. */
export const probeName = "test-";

/**
 * Stores, lists, reads and deletes an object whose key begins with the prefix, and finds out what the bucket can do. Nothing
 * remains. Rejects with ERR_STORE.
 */
export async function probeBucket(bucket: Objects, prefix: string): Promise<BucketAbilities> {
  const key = `${prefix}${probeName}${randomUUID()}`;
  let abilities: BucketAbilities;
  try {
    await bucket.store(key, sourceOf("first"), { isNew: true });
    const again = await bucket.store(key, sourceOf("second"), { isNew: true });
    const content = again === "exists" ? "first" : "second";
    const keys: string[] = [];
    for await (const page of bucket.list(key)) {
      keys.push(...page.map((one) => one.key));
    }
    const opened = await bucket.read(key);
    const kept = await (opened && readText(opened.body, content.length))?.catch((error: unknown) => {
      throw bucket.explain("test", error);
    });
    if (keys.join() !== key || opened?.sha256 !== sha256Of(content)) {
      throw bucket.explain("test", new ProblemError(phrase("bucketNotS3")));
    }
    if (kept?.text !== content) {
      throw bucket.explain("test", new ProblemError(phrase("bucketNotKept")));
    }
    abilities = { isConditional: again === "exists", hasLock: await bucket.hasLock() };
  } catch (error) {
    await bucket.remove(key).catch(() => undefined);
    throw error;
  }
  await bucket.remove(key);
  return abilities;
}
