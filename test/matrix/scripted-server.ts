import { createHash } from "node:crypto";
import type { Socket } from "node:net";
import { replyBytes, resetAfter, type RawRequest } from "../support/servers.ts";
import { box } from "../media/samples.ts";

/** One answer to a download, by the byte. What is left out is as a good server does it. */
export interface Step {
  /** 200, or 206 where a part is sent. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Which version of the file: its ETag tells them apart. The first. */
  readonly version?: 1 | 2;
  readonly etag?: "strong" | "weak" | "none";
  /** First byte of the file that is sent; `asked`: where the request wants to go on. 0. */
  readonly from?: number | "asked";
  /** So many bytes of the body; then the connection ends. */
  readonly bytes?: number;
  /** Content-Range, where a part is sent and this is not its truth. */
  readonly range?: string | null;
  readonly framing?: "length" | "chunked" | "none";
  /** Content-Length, where it is not the truth. */
  readonly length?: number;
  /** Instead of the file. */
  readonly body?: string;
  /** Instead of an answer. */
  readonly raw?: string;
  /** Behind the answer. */
  readonly more?: string;
  readonly end?: "close" | "reset" | "hold";
  /** Whether this request asks for the whole file, or for the rest of it. */
  readonly asks?: "whole" | "rest";
}

/** Whose media the cloud has. */
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

/** What a download asks for. */
export const asksFor = ({ headers }: RawRequest): "whole" | "rest" =>
  headers["range"] === undefined ? "whole" : "rest";

/** Answers one request as the step says. */
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
