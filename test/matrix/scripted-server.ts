import { createHash } from "node:crypto";
import type { Socket } from "node:net";
import { replyBytes, resetAfter, type RawRequest } from "../support/servers.ts";
import { box } from "../media/samples.ts";

/** One response to a download, byte by byte. Parts that are left out are those of a correct server. */
export interface Step {
  /** 200, or 206 where a part is sent. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Which version of the file: its ETag tells them apart. The first. */
  readonly version?: 1 | 2;
  readonly etag?: "strong" | "weak" | "none";
  /** The first byte of the file that is sent; `asked`: the byte that was requested. Default 0. */
  readonly from?: number | "asked";
  /** How many bytes of the body are sent before the connection ends. */
  readonly bytes?: number;
  /** A wrong Content-Range of a part. */
  readonly range?: string | null;
  readonly framing?: "length" | "chunked" | "none";
  /** A wrong Content-Length. */
  readonly length?: number;
  /** The body instead of the file. */
  readonly body?: string;
  /** The bytes instead of a response. */
  readonly raw?: string;
  /** Bytes after the response. */
  readonly more?: string;
  readonly end?: "close" | "reset" | "hold";
  /** Whether this request asks for the whole file, or for the rest of it. */
  readonly asks?: "whole" | "rest";
}

/** The transaction of the cloud's media. */
export const transaction = "905865";

export const fileBytes = 32_768;

/** Two versions of one small video: no byte of their data stands at the same place in the other. */
const versions = ["first", "second"].map((name) => {
  const block = createHash("sha512").update(name).digest();
  const head = Buffer.concat([box("ftyp", Buffer.from("isom\0\0\0\0isommp42")), box("moov", block)]);
  const data = Buffer.concat(Array.from({ length: 512 }, () => block));
  return Buffer.concat([head, box("mdat", data.subarray(0, fileBytes - head.length - 8))]);
});

export const fileOf = (version: 1 | 2): Buffer => versions[version - 1] ?? Buffer.alloc(0);

const etags = { strong: (version: number) => `"v${version}"`, weak: (version: number) => `W/"v${version}"` };

/** Which bytes a download requests. */
export const asksFor = ({ headers }: RawRequest): "whole" | "rest" =>
  headers["range"] === undefined ? "whole" : "rest";

/** Responds to one request as the step says. */
export function answerStep(step: Step, request: RawRequest, socket: Socket): void {
  if (step.raw !== undefined) {
    finish(step, socket, Buffer.from(step.raw, "latin1"));
    return;
  }
  const { framing = "length", version = 1, etag = "strong", bytes } = step;
  const file = fileOf(version);
  const asked = Number(/^bytes=(\d+)-$/.exec(request.headers["range"] ?? "")?.[1] ?? 0);
  const from = step.from === "asked" ? asked : (step.from ?? 0);
  const body = step.body === undefined ? file.subarray(from) : Buffer.from(step.body);
  const isPart = step.from !== undefined;
  const range = step.range === undefined ? `bytes ${from}-${file.length - 1}/${file.length}` : step.range;
  const headers = {
    "content-type": "video/mp4; codecs=x",
    ...(etag === "none" ? {} : { etag: etags[etag](version) }),
    ...(isPart && range !== null ? { "content-range": range } : {}),
    ...(step.length === undefined ? {} : { "content-length": step.length }),
    ...(framing === "none" ? { connection: "close" } : {}),
    ...step.headers,
  };
  const whole = replyBytes({ status: step.status ?? (isPart ? 206 : 200), headers, body, framing });
  if (bytes === undefined) {
    finish(step, socket, whole);
    return;
  }
  finish({ end: "close", ...step }, socket, whole.subarray(0, whole.indexOf("\r\n\r\n") + 4 + bytes));
}

function finish({ end, framing, more = "" }: Step, socket: Socket, bytes: Buffer): void {
  const all = Buffer.concat([bytes, Buffer.from(more)]);
  if (end === "reset") {
    resetAfter(socket, all);
  } else if (end === "close" || framing === "none") {
    socket.end(all);
  } else {
    socket.write(all);
  }
}
