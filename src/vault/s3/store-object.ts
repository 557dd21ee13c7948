import { createHash } from "node:crypto";
import { ProblemError, phrase } from "../../errors/interpolation.ts";
import { sha256Of } from "../../model/sha256.ts";
import {
  BucketRefusal,
  type BucketRequests,
  childText,
  escapeXml,
  isMissing,
  isUnsupported,
  mayPass,
  notS3,
  readXml,
} from "./requests.ts";

/** The content of an object that is to be stored. */
export interface UploadSource {
  readonly bytes: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
  /** Reads a part; less than the length only at the end. */
  read(position: number, length: number): Promise<Buffer>;
}

/** What is in memory, to be stored as an object. */
export function sourceOf(content: string | Buffer): UploadSource {
  const bytes = Buffer.from(content);
  return {
    bytes: bytes.length,
    sha256: sha256Of(bytes),
    read: async (position, length) => bytes.subarray(position, position + length),
  };
}

export interface StoreOptions {
  /** Only if there is no such object yet. */
  readonly isNew?: boolean;
  readonly contentType?: string | undefined;
  /** Nobody without a special right can delete or replace it before this time (Object Lock). */
  readonly retainUntil?: Date | undefined;
  /** In parts, however small it is: object stores have treated the two differently. */
  readonly inParts?: boolean;
}

export type Stored = "changed" | "exists" | "stored";

/** The header in which the SHA-256 of an object is kept. */
export const sha256Header = "x-amz-meta-sha256";

/** A part is kept in memory until the object store has it. S3 accepts 10,000 of them, thus objects of up to 80 GB. */
const partBytes = 8 * 1024 * 1024;
const mostTries = 3;
const unknownType = "application/octet-stream";
/** What a header can say. Others announce a type of media, and may announce anything. */
const mediaType = /^[\w.+-]{1,100}\/[\w.+-]{1,100}(?:;[ -~]{1,100})?$/;

/**
 * Stores an object: a small one with one request, a large one in parts. It exists only when all of it has arrived and
 * its SHA-256 is the one that is expected.
 */
export async function storeObject(
  requests: BucketRequests,
  key: string,
  source: UploadSource,
  options: StoreOptions,
): Promise<Stored> {
  const { contentType, retainUntil } = options;
  const headers = {
    [sha256Header]: source.sha256,
    "content-type": contentType !== undefined && mediaType.test(contentType) ? contentType : unknownType,
    ...(retainUntil === undefined
      ? {}
      : {
          "x-amz-object-lock-mode": "GOVERNANCE",
          "x-amz-object-lock-retain-until-date": retainUntil.toISOString(),
        }),
  };
  try {
    return source.bytes <= partBytes && options.inParts !== true
      ? await storeAtOnce(requests, key, source, headers, options)
      : await storeInParts(requests, key, source, headers, options);
  } catch (error) {
    if (options.isNew === true && error instanceof BucketRefusal && error.status === 412) {
      // It may be there because of the same request, whose answer was lost.
      return (await isStored(requests, key, source)) ? "stored" : "exists";
    }
    throw error;
  }
}

/** Ends an upload in parts, and removes the parts that have arrived, if the object store can. */
export async function endUpload(requests: BucketRequests, key: string, uploadId: string): Promise<void> {
  try {
    const { body } = await requests.send({ method: "DELETE", key, query: { uploadId } });
    await body.dump();
  } catch (error) {
    if (!isMissing(error) && !isUnsupported(error)) {
      throw error;
    }
  }
}

type Headers = Readonly<Record<string, string>>;

async function storeAtOnce(
  requests: BucketRequests,
  key: string,
  { bytes, sha256, read }: UploadSource,
  headers: Headers,
  { isNew }: StoreOptions,
): Promise<Stored> {
  // One byte more than expected shows that a file has grown.
  const body = await read(0, bytes + 1);
  if (body.length !== bytes || sha256Of(body) !== sha256) {
    return "changed";
  }
  const own = { ...headers, ...condition(isNew), ...md5Of(body) };
  const answer = await requests.sendForText({ method: "PUT", key, headers: own, body });
  // A server that is no object store may answer anything with 200.
  return answer.headers["etag"] !== undefined || (await isStored(requests, key, { bytes, sha256 }))
    ? "stored"
    : notS3();
}

async function storeInParts(
  requests: BucketRequests,
  key: string,
  source: UploadSource,
  headers: Headers,
  options: StoreOptions,
): Promise<Stored> {
  for (let tries = 1; ; tries += 1) {
    const { text } = await requests.sendForText({ method: "POST", key, query: { uploads: "" }, headers });
    const uploadId = childText(readXml(text), "UploadId") ?? notS3();
    let parts: readonly string[] | undefined;
    try {
      parts = await sendParts(requests, key, uploadId, source);
      if (parts !== undefined && (await complete(requests, key, uploadId, parts, source, options))) {
        return "stored";
      }
    } catch (error) {
      // What a broken connection leaves behind is ended by a later run.
      await endUpload(requests, key, uploadId).catch(() => undefined);
      throw error;
    }
    await endUpload(requests, key, uploadId);
    if (parts === undefined) {
      return "changed";
    }
    if (tries === mostTries) {
      throw new ProblemError(phrase("bucketLostParts"));
    }
  }
}

/** Sends all parts and returns their ETags; undefined if the content is not what its SHA-256 says. */
async function sendParts(
  requests: BucketRequests,
  key: string,
  uploadId: string,
  { bytes, sha256, read }: UploadSource,
): Promise<readonly string[] | undefined> {
  const hash = createHash("sha256");
  const etags: string[] = [];
  for (let position = 0; position < bytes; position += partBytes) {
    const isLast = position + partBytes >= bytes;
    const body = await read(position, isLast ? bytes - position + 1 : partBytes);
    if (body.length !== Math.min(partBytes, bytes - position)) {
      return undefined;
    }
    hash.update(body);
    const { headers } = await requests.sendForText({
      method: "PUT",
      key,
      query: { partNumber: String(etags.length + 1), uploadId },
      headers: md5Of(body),
      body,
    });
    etags.push(String(headers["etag"] ?? ""));
  }
  return hash.digest("hex") === sha256 ? etags : undefined;
}

/** Puts the parts together. False if the object store does not have them all any more: then they have to be sent again. */
async function complete(
  requests: BucketRequests,
  key: string,
  uploadId: string,
  etags: readonly string[],
  source: UploadSource,
  { isNew }: StoreOptions,
): Promise<boolean> {
  const parts = etags.map(
    (etag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`,
  );
  const body = Buffer.from(`<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`);
  const headers = { "content-type": "application/xml", ...condition(isNew) };
  for (let tries = 1; ; tries += 1) {
    try {
      const { text } = await requests.sendForText({
        method: "POST",
        key,
        query: { uploadId },
        headers,
        body,
      });
      // S3 answers 200 before it has put the parts together, and an error may follow.
      const answer = readXml(text);
      if (answer?.name === "Error") {
        throw new BucketRefusal(childText(answer, "Code") === "InternalError" ? 500 : 400, {}, text);
      }
      const isDone = answer?.name === "CompleteMultipartUploadResult";
      return isDone || (await isStored(requests, key, source)) || notS3();
    } catch (error) {
      // After a lost answer the upload is gone, and the object is there.
      if (isMissing(error) && (await isStored(requests, key, source))) {
        return true;
      }
      if (isMissing(error) || (error instanceof BucketRefusal && error.code === "InvalidPart")) {
        return false;
      }
      if (!mayPass(error) || tries === mostTries) {
        throw error;
      }
      await requests.pauseAfter(tries);
    }
  }
}

/**
 * Protects an object from being deleted before a time, after it was stored: Ceph, for one, has dropped the retention of what was sent in
 * parts.
 */
export async function retainObject(requests: BucketRequests, key: string, until: Date): Promise<void> {
  const body = Buffer.from(
    `<Retention xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Mode>GOVERNANCE</Mode><RetainUntilDate>${until.toISOString()}</RetainUntilDate></Retention>`,
  );
  const headers = { "content-type": "application/xml", ...md5Of(body) };
  await requests.sendForText({ method: "PUT", key, query: { retention: "" }, headers, body });
}

async function isStored(
  requests: BucketRequests,
  key: string,
  { bytes, sha256 }: Pick<UploadSource, "bytes" | "sha256">,
): Promise<boolean> {
  try {
    const { headers, body } = await requests.send({ method: "HEAD", key });
    await body.dump();
    return headers[sha256Header] === sha256 && Number(headers["content-length"]) === bytes;
  } catch (error) {
    if (isMissing(error)) {
      return false;
    }
    throw error;
  }
}

function condition(isNew = false): Headers {
  return isNew ? { "if-none-match": "*" } : {};
}

/**
 * Object stores demand it for what they are to protect, in addition to the SHA-256 in the signature, and a bucket may protect
 * everything by itself. All know this header; newer ones for other checksums make some refuse the request.
 */
function md5Of(body: Buffer): Headers {
  try {
    return { "content-md5": createHash("md5").update(body).digest("base64") };
  } catch {
    // Where only the algorithms of FIPS may be used there is no MD5, and most buckets do without.
    return {};
  }
}
