import type { Readable } from "node:stream";
import { phrase, ProblemError } from "../../errors/interpolation.ts";
import type { BucketAddress } from "./bucket-address.ts";
import { bucketError, BucketRefusal, isMissing, isUnsupported, notS3 } from "./failures.ts";
import { PageMarks, pageOf, type ListedObject, type Page } from "./listing.ts";
import { headOf, partOf, type ObjectHead } from "./object-head.ts";
import { BucketRequests, type BucketOptions, type BucketRequest } from "./requests.ts";
import { endUpload, storeObject, type Stored, type StoreOptions, type UploadSource } from "./store-object.ts";
import { childrenOf, childText, readXml, type XmlElement } from "./xml.ts";

/** An object that is being read. */
export interface OpenedObject extends ObjectHead {
  /** From the position that was asked for to the end, or to the last byte that was asked for. The caller has to consume or destroy it. */
  readonly body: Readable;
}

/** What reads and stores the objects of a bucket. */
export type Objects = Pick<Bucket, keyof Bucket>;

/**
 * The objects of one bucket, by their whole keys. All methods reject with ERR_STORE, with ERR_CONFIG if there are no
 * credentials, and with the reason of an aborted signal.
 */
export class Bucket {
  readonly address: BucketAddress;
  readonly #requests: BucketRequests;
  readonly #signal: AbortSignal | undefined;
  /** False when the object store has said that it knows no conditions for writing. */
  #hasConditions = true;

  private constructor(requests: BucketRequests, signal: AbortSignal | undefined) {
    this.address = requests.address;
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
          tokens.add(read.next);
        }
        return read;
      });
      yield page.objects;
      token = page.next;
    }
  }

  /**
   * Stores an object, with its SHA-256 beside it. With `isNew`, an existing object is not replaced if the object store can
   * tell; object stores that cannot replace it. `changed`: the content is not what its SHA-256 says, and nothing was stored.
   */
  async store(key: string, source: UploadSource, options: StoreOptions = {}): Promise<Stored> {
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
    });
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
        pages.add(JSON.stringify([next, uploadMark]));
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
