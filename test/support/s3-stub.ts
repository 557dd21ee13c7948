import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** A request as the stub has received it. */
export interface StubRequest {
  readonly method: string;
  readonly key: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

/**
 * What goes wrong with a request: an error of S3, or of something before it, which answers with a text; a connection that ends before the request is served or after it, or
 * in the middle of the response; or a response that never goes on from its middle, until the client has `left`.
 */
export type Fault =
  | { readonly left: () => void }
  | { readonly status: number; readonly text: string }
  | {
      readonly status: number;
      readonly code: string;
      readonly headers?: Record<string, string>;
      readonly message?: string;
    }
  | "cut"
  | "lost"
  | "reset";

interface Stored {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
  /** When; when the stub was started, if it is not given. */
  readonly storedAt?: Date;
}

interface Upload extends Pick<Stored, "headers"> {
  readonly key: string;
  readonly initiated: Date;
  readonly parts: Map<number, Buffer>;
}

interface StubOptions {
  /** What it does with conditions for writing: obeys them, ignores them, or refuses them, as S3-compatible stores do. */
  readonly conditions?: "ignored" | "obeyed" | "refused";
  /** Whether the bucket has Object Lock. */
  readonly hasLock?: boolean;
  /** Whether the bucket keeps versions: then even a protected object can be hidden, and is kept as an earlier one. */
  readonly hasVersions?: boolean;
  /** Whether the bucket retains each object for a month, as its owner can set it: then it has Object Lock and versions. */
  readonly hasDefaultRetention?: boolean;
  /** What it makes of the retention of an object: some drop that of one in parts, and let it be set afterwards or not. */
  readonly retention?: "keptForWhole" | "never" | "obeyed";
  /** The entries on one page of a listing. */
  readonly pageSize?: number;
  /** How far its clock is ahead, as the Date of its answers says. */
  readonly clockAheadMs?: () => number;
}

const monthMs = 30 * 86_400_000;

/** An object store in memory with one bucket, `evidence`, that can be made to fail. It does not check signatures. */
export interface BucketStub {
  readonly origin: string;
  readonly url: (prefix: string) => string;
  readonly objects: Map<string, Stored>;
  /** What was deleted or replaced, if it keeps versions. */
  readonly versions: Map<string, readonly Stored[]>;
  readonly uploads: Map<string, Upload>;
  readonly requests: StubRequest[];
  /** Decides for each request. */
  fault: (request: StubRequest) => Fault | undefined | Promise<Fault | undefined>;
  close(): Promise<void>;
}

export async function startStub({
  conditions = "obeyed",
  hasDefaultRetention = false,
  hasLock = hasDefaultRetention,
  hasVersions = hasDefaultRetention,
  retention = "obeyed",
  pageSize = 1_000,
  clockAheadMs,
}: StubOptions = {}): Promise<BucketStub> {
  const begun = new Date();
  const objects = new Map<string, Stored>();
  const versions = new Map<string, readonly Stored[]>();
  const uploads = new Map<string, Upload>();
  const requests: StubRequest[] = [];
  const server = createServer((incoming, response) => void receive(incoming, response));

  async function receive(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? "", "http://stub");
    const [, bucket, ...rest] = decodeURIComponent(url.pathname).split("/");
    const request: StubRequest = {
      method: incoming.method ?? "",
      key: rest.join("/"),
      query: url.searchParams,
      headers: incoming.headers,
      body: await buffer(incoming),
    };
    requests.push(request);
    if (clockAheadMs !== undefined) {
      response.setHeader("date", new Date(Date.now() + clockAheadMs()).toUTCString());
    }
    const fault = await stub.fault(request);
    if (fault === "reset") {
      incoming.socket.destroy();
    } else if (fault === "lost") {
      serve(request, { ...ignored });
      incoming.socket.destroy();
    } else if (typeof fault === "object" && "text" in fault) {
      response.writeHead(fault.status, { "content-type": "text/plain" }).end(fault.text);
    } else if (typeof fault === "object" && "code" in fault) {
      refuse(response, fault.status, fault.code, fault.headers, fault.message);
    } else if (bucket !== "evidence") {
      refuse(response, 404, "NoSuchBucket");
    } else {
      serve(request, answerTo(response, fault));
    }
  }

  function serve(request: StubRequest, { send, fail }: Answer): void {
    const { method, key, query, headers, body } = request;
    const hash = createHash("sha256").update(body).digest("hex");
    if (headers["x-amz-content-sha256"] !== hash) {
      return fail(400, "XAmzContentSHA256Mismatch");
    }
    const isConditional = headers["if-none-match"] === "*";
    if (isConditional && conditions === "refused") {
      return fail(501, "NotImplemented");
    }
    if (isConditional && conditions === "obeyed" && objects.has(key)) {
      return fail(412, "PreconditionFailed");
    }
    if (headers["x-amz-object-lock-mode"] !== undefined && !hasLock) {
      return fail(400, "InvalidRequest", "Bucket is missing ObjectLockConfiguration");
    }
    const upload = uploads.get(query.get("uploadId") ?? "");
    if (query.has("uploadId") && upload === undefined) {
      return fail(404, "NoSuchUpload");
    }
    const md5 = headers["content-md5"];
    if (md5 !== undefined && md5 !== createHash("md5").update(body).digest("base64")) {
      return fail(400, "BadDigest");
    }
    if (method === "PUT" && md5 === undefined && isLocked(upload ?? { headers: keptOf(headers) })) {
      const what = upload === undefined ? "Object" : "Part";
      return fail(
        400,
        "InvalidRequest",
        `Content-MD5 OR x-amz-checksum- HTTP header is required for Put ${what} requests with Object Lock parameters`,
      );
    }
    if (method === "GET" && query.has("uploads")) {
      return send(200, xmlOfUploads(query.get("prefix") ?? ""));
    }
    if (method === "GET" && query.has("object-lock")) {
      return hasLock
        ? send(
            200,
            "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled></ObjectLockConfiguration>",
          )
        : fail(404, "ObjectLockConfigurationNotFoundError");
    }
    if (method === "GET" && key === "") {
      return send(200, xmlOfList(query));
    }
    if (method === "POST" && query.has("uploads")) {
      const id = randomUUID();
      const kept = retention === "obeyed" ? keptOf(headers) : withoutLock(keptOf(headers));
      uploads.set(id, { key, initiated: new Date(), parts: new Map(), headers: kept });
      return send(
        200,
        `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
      );
    }
    if (upload !== undefined) {
      return serveUpload(request, upload, { send, fail });
    }
    const found = objects.get(key);
    const keepVersion = (): void => {
      if (hasVersions && found !== undefined) {
        versions.set(key, [...(versions.get(key) ?? []), found]);
      }
    };
    if (method === "PUT" && query.has("retention")) {
      const until = /<RetainUntilDate>(.*)<\/RetainUntilDate>/.exec(body.toString())?.[1] ?? "";
      if (retention === "never" || found === undefined) {
        return fail(403, "AccessDenied");
      }
      const lock = { "x-amz-object-lock-mode": "GOVERNANCE", "x-amz-object-lock-retain-until-date": until };
      objects.set(key, { ...found, headers: { ...found.headers, ...lock } });
      return send(200, "");
    }
    if (method === "PUT") {
      keepVersion();
      const kept = retention === "never" ? withoutLock(keptOf(headers)) : keptOf(headers);
      objects.set(key, { body, headers: kept, storedAt: new Date() });
      return send(200, "", { etag: etagOf(body) });
    }
    if (method === "DELETE") {
      if (!hasVersions && found !== undefined && isProtected(found)) {
        return fail(403, "AccessDenied", "Access Denied because object protected by object lock.");
      }
      keepVersion();
      objects.delete(key);
      return send(204, "");
    }
    const match = headers["if-match"];
    if (found === undefined || (match !== undefined && match !== etagOf(found.body))) {
      return fail(found === undefined ? 404 : 412, found === undefined ? "NoSuchKey" : "PreconditionFailed");
    }
    const own = { ...found.headers, etag: etagOf(found.body) };
    const [range, from, to] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? "") ?? [];
    if (range === undefined) {
      return send(200, found.body, own);
    }
    const [first, total] = [Number(from), found.body.length];
    if (first >= total) {
      return fail(416, "InvalidRange");
    }
    const last = to === "" ? total - 1 : Math.min(Number(to), total - 1);
    send(206, found.body.subarray(first, last + 1), {
      ...own,
      "content-range": `bytes ${first}-${last}/${total}`,
    });
  }

  /** What it keeps of the headers of an object, and until when it retains it. */
  function keptOf(headers: IncomingMessage["headers"]): Readonly<Record<string, string>> {
    const until = new Date(Date.now() + monthMs).toISOString();
    const retained = { "x-amz-object-lock-mode": "GOVERNANCE", "x-amz-object-lock-retain-until-date": until };
    const kept = Object.entries(headers).flatMap(([name, value]) =>
      /^(?:content-type$|x-amz-meta-|x-amz-object-lock-)/.test(name) ? [[name, String(value)]] : [],
    );
    return { ...(hasDefaultRetention ? retained : {}), ...Object.fromEntries(kept) };
  }

  function serveUpload({ method, query, body }: StubRequest, upload: Upload, { send, fail }: Answer): void {
    const id = query.get("uploadId") ?? "";
    if (method === "PUT") {
      upload.parts.set(Number(query.get("partNumber")), body);
      return send(200, "", { etag: etagOf(body) });
    }
    if (method === "POST") {
      const parts = [...upload.parts].toSorted(([a], [b]) => a - b).map(([, part]) => part);
      const etags = [...body.toString().matchAll(/<ETag>(.*?)<\/ETag>/g)].map(([, etag]) => etag);
      if (etags.join() !== parts.map((part) => etagOf(part).replaceAll('"', "&#34;")).join()) {
        return fail(400, "InvalidPart");
      }
      objects.set(upload.key, { body: Buffer.concat(parts), headers: upload.headers, storedAt: new Date() });
    }
    uploads.delete(id);
    send(method === "POST" ? 200 : 204, method === "POST" ? "<CompleteMultipartUploadResult/>" : "");
  }

  function xmlOfList(query: URLSearchParams): string {
    const prefix = query.get("prefix") ?? "";
    const keys = [...objects.keys()].filter((key) => key.startsWith(prefix)).toSorted();
    const after = decodeURIComponent(query.get("continuation-token") ?? "");
    const most = Math.min(pageSize, Number(query.get("max-keys") ?? pageSize));
    const left = keys.filter((key) => key > after);
    const page = left.slice(0, most).map((key) => {
      const name = encodeURIComponent(key).replaceAll("%20", "+");
      const { body, storedAt = begun } = objects.get(key) ?? { body: Buffer.of() };
      return `<Contents><Key>${name}</Key><LastModified>${storedAt.toISOString()}</LastModified><Size>${body.length}</Size></Contents>`;
    });
    const next =
      left.length > most
        ? `<NextContinuationToken>${encodeURIComponent(left[most - 1] ?? "")}</NextContinuationToken>`
        : "";
    return `<ListBucketResult><EncodingType>url</EncodingType><IsTruncated>${next !== ""}</IsTruncated>${next}${page.join("")}</ListBucketResult>`;
  }

  function xmlOfUploads(prefix: string): string {
    const found = [...uploads].filter(([, { key }]) => key.startsWith(prefix));
    const entries = found.map(
      ([id, { key, initiated }]) =>
        `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${initiated.toISOString()}</Initiated></Upload>`,
    );
    return `<ListMultipartUploadsResult>${entries.join("")}</ListMultipartUploadsResult>`;
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  const stub: BucketStub = {
    origin,
    url: (prefix) => `s3://evidence/${prefix}?endpoint=${origin}`,
    objects,
    versions,
    uploads,
    requests,
    fault: () => undefined,
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
  return stub;
}

interface Answer {
  send(status: number, body: Buffer | string, headers?: Readonly<Record<string, string>>): void;
  fail(status: number, code: string, message?: string): void;
}

const ignored: Answer = { send: () => undefined, fail: () => undefined };

function answerTo(response: ServerResponse, fault: Fault | undefined): Answer {
  return {
    send(status, content, headers = {}) {
      const body = Buffer.from(content);
      response.writeHead(status, { ...headers, "content-length": body.length });
      if (fault === "cut") {
        response.write(body.subarray(0, body.length / 2), () => response.destroy());
      } else if (typeof fault === "object" && "left" in fault) {
        response.write(body.subarray(0, body.length / 2));
        response.once("close", fault.left);
      } else {
        response.end(response.req.method === "HEAD" ? undefined : body);
      }
    },
    fail: (status, code, message) => refuse(response, status, code, {}, message),
  };
}

function refuse(
  response: ServerResponse,
  status: number,
  code: string,
  headers: Record<string, string> = {},
  message = "said by the stub",
): void {
  response.writeHead(status, headers);
  response.end(`<?xml version="1.0"?>\n<Error><Code>${code}</Code><Message>${message}</Message></Error>`);
}

function withoutLock(headers: Stored["headers"]): Stored["headers"] {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !name.startsWith("x-amz-object-lock-")),
  );
}

function isLocked({ headers }: Pick<Stored, "headers">): boolean {
  return headers["x-amz-object-lock-mode"] !== undefined;
}

function isProtected({ headers }: Stored): boolean {
  const until = Date.parse(headers["x-amz-object-lock-retain-until-date"] ?? "");
  return until > Date.now() || headers["x-amz-object-lock-legal-hold"] === "ON";
}

function etagOf(body: Buffer): string {
  return `"${createHash("md5").update(body).digest("hex")}"`;
}
