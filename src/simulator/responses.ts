import { createHash } from "node:crypto";
import { STATUS_CODES, type ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** A known number of bytes, which may be generated while they are sent. */
export interface Body {
  readonly size: number;
  /** The bytes from `start` up to, not including, `end`. The chunks may be shared: read them, never write to them. */
  read(start: number, end: number): Iterable<Uint8Array>;
}

/** A file as a server knows it. */
export interface Content extends Body {
  readonly contentType: string;
  /** Strong, with its quotes. */
  readonly etag: string;
}

const filler = Buffer.alloc(256 * 1024);

/** A body in memory. */
export function bytesBody(bytes: Uint8Array): Body {
  return { size: bytes.length, read: (start, end) => [bytes.subarray(start, end)] };
}

/** `head`, then zeros up to `size`, which are never in memory at once. */
export function filledBody(head: Uint8Array, size: number): Body {
  return {
    size: Math.max(size, head.length),
    *read(start, end) {
      if (start < head.length) {
        yield head.subarray(start, Math.min(end, head.length));
      }
      for (let at = Math.max(start, head.length); at < end; at += filler.length) {
        yield filler.subarray(0, Math.min(filler.length, end - at));
      }
    },
  };
}

/** Several bodies, one after the other, as one. */
function joinedBody(parts: readonly Body[]): Body {
  return {
    size: parts.reduce((sum, part) => sum + part.size, 0),
    *read(start, end) {
      let before = 0;
      for (const part of parts) {
        const from = Math.max(0, start - before);
        const to = Math.min(part.size, end - before);
        if (from < to) {
          yield* part.read(from, to);
        }
        before += part.size;
      }
    },
  };
}

function etagOf(...parts: readonly (Uint8Array | string)[]): string {
  const hash = createHash("sha256");
  parts.forEach((part) => hash.update(part));
  return `"${hash.digest("hex").slice(0, 32)}"`;
}

/** A file in memory. */
export function bytesContent(contentType: string, bytes: Uint8Array): Content {
  return { ...bytesBody(bytes), contentType, etag: etagOf(bytes) };
}

/** A file of any length: `head`, then zeros. */
export function filledContent(contentType: string, head: Uint8Array, size: number): Content {
  return { ...filledBody(head, size), contentType, etag: etagOf(head, String(size)) };
}

const shortHeaderBytes = 8;
const longHeaderBytes = 16;
const largestShortBox = 2 ** 32 - 1;

/** The start of an MP4 `free` box, which players skip: its header and the first bytes of its payload. */
function freeBox(size: number, payload: Buffer): Buffer {
  const long = size > largestShortBox;
  const header = Buffer.alloc(long ? longHeaderBytes : shortHeaderBytes);
  header.writeUInt32BE(long ? 1 : size, 0);
  header.write("free", 4, "latin1");
  if (long) {
    header.writeBigUInt64BE(BigInt(size), shortHeaderBytes);
  }
  return Buffer.concat([header, payload]);
}

/**
 * A playable MP4 that ends in a `free` box with the id of the recording, so that no two recordings are the same file,
 * and with its reference. With `totalBytes` the box fills the file up to that length; the filling is generated while it
 * is sent, and so is `film`, which must be the same each time.
 */
export function videoContent(film: () => Buffer, recorded: string, totalBytes: number | undefined): Content {
  const mp4 = film();
  const payload = Buffer.from(`recording ${recorded}`);
  const smallest = mp4.length + shortHeaderBytes + payload.length;
  const size = Math.max(smallest, totalBytes ?? 0);
  // A recording holds no film, so that many of them take little memory.
  const body = joinedBody([
    { size: mp4.length, read: (start, end) => [film().subarray(start, end)] },
    filledBody(freeBox(size - mp4.length, payload), size - mp4.length),
  ]);
  return { ...body, contentType: "video/mp4", etag: etagOf(mp4, payload, String(size)) };
}

/** The response of a server, before a fault is applied to it. */
export interface SimResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body | null;
}

/** One request, as the handlers see it. */
export interface SimRequest {
  readonly method: string;
  /** Decoded path segments, with `.` and `..` already followed. */
  readonly segments: readonly string[];
  /** Query by lower-case name; the first of equal names counts. */
  readonly query: ReadonlyMap<string, string>;
  /** A header by its lower-case name; null when it is not there. */
  header(name: string): string | null;
  /** Set by faults: another ETag for the content (null: none), or ranges that are ignored. */
  readonly contentFault: ContentFault;
}

export interface ContentFault {
  readonly etag?: string | null;
  readonly ignoreRange?: boolean;
  readonly ignoreIfRange?: boolean;
}

export type Handler = (request: SimRequest) => SimResponse | Promise<SimResponse>;

export function emptyResponse(status: number, headers: Readonly<Record<string, string>> = {}): SimResponse {
  return { status, headers, body: null };
}

/** A JSON response from text that is JSON already. */
export function jsonTextResponse(text: string, headers: Readonly<Record<string, string>> = {}): SimResponse {
  const type = { "content-type": "application/json; charset=utf-8" };
  return { status: 200, headers: { ...type, ...headers }, body: bytesBody(Buffer.from(text)) };
}

export function jsonResponse(value: unknown, headers: Readonly<Record<string, string>> = {}): SimResponse {
  return jsonTextResponse(JSON.stringify(value), headers);
}

interface Range {
  readonly start: number;
  /** Not included. */
  readonly end: number;
}

/** The requested range; null: send everything; `unsatisfiable`: respond with 416. */
function rangeOf(header: string | null, size: number): Range | null | "unsatisfiable" {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? "");
  const [first, last] = [match?.[1] ?? "", match?.[2] ?? ""];
  if (first === "" && last === "") {
    return null;
  }
  if (first === "") {
    return last === "0" ? "unsatisfiable" : { start: Math.max(0, size - Number(last)), end: size };
  }
  const start = Number(first);
  const end = last === "" ? size : Math.min(size, Number(last) + 1);
  if (last !== "" && Number(last) < start) {
    return null;
  }
  return start >= size ? "unsatisfiable" : { start, end };
}

/** A part of a body as a body of its own. */
export function partOf(body: Body, start: number, end: number): Body {
  return { size: end - start, read: (from, to) => body.read(start + from, start + to) };
}

/** Responds with a file, or with the requested range of it. */
export function contentResponse(
  request: SimRequest,
  content: Content,
  headers: Readonly<Record<string, string>> = {},
): SimResponse {
  const { contentFault } = request;
  const etag = contentFault.etag === undefined ? content.etag : contentFault.etag;
  const common = {
    "content-type": content.contentType,
    "accept-ranges": "bytes",
    ...(etag === null ? {} : { etag }),
    ...headers,
  };
  const ifRange = contentFault.ignoreIfRange === true ? null : request.header("if-range");
  // A weak validator never allows a part (RFC 9110, 13.1.5).
  const allowed = ifRange === null || (ifRange === etag && !ifRange.startsWith("W/"));
  const wanted = allowed && contentFault.ignoreRange !== true ? request.header("range") : null;
  const range = rangeOf(wanted, content.size);
  if (range === "unsatisfiable") {
    return emptyResponse(416, { "content-range": `bytes */${content.size}` });
  }
  if (range === null) {
    return { status: 200, headers: common, body: content };
  }
  const { start, end } = range;
  return {
    status: 206,
    headers: { ...common, "content-range": `bytes ${start}-${end - 1}/${content.size}` },
    body: partOf(content, start, end),
  };
}

const mediaItem = {
  contentId: "00000000-0000-4000-8000-000000000000",
  contentType: "image/jpeg",
  description: "ColorImageJpeg",
};

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !JSON.isRawJSON(value);
}

/** The object that holds the last part of a path, and that part. */
function holderOf(root: unknown, path: string): { holder: Record<string, unknown>; key: string } | null {
  const keys = path.split(".");
  const key = keys.pop() ?? "";
  let holder = root;
  // Properties that every object inherits are not part of the response: setting `__proto__.x` would change all objects.
  for (const part of keys) {
    holder = isObject(holder) && Object.hasOwn(holder, part) ? holder[part] : null;
  }
  return isObject(holder) ? { holder, key } : null;
}

function keepNumberText(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === "number" ? JSON.rawJSON(context?.source ?? String(value)) : value;
}

/** A JSON body with fields set and removed; numbers that stay keep their exact text. */
export function patchedJson(
  body: Body,
  patch: { readonly set?: Readonly<Record<string, unknown>>; readonly remove?: readonly string[] },
): Body {
  const root: unknown = JSON.parse(Buffer.concat([...body.read(0, body.size)]).toString(), keepNumberText);
  for (const path of patch.remove ?? []) {
    const found = holderOf(root, path);
    if (found !== null) {
      delete found.holder[found.key];
    }
  }
  for (const [path, value] of Object.entries(patch.set ?? {})) {
    const found = holderOf(root, path);
    if (found !== null) {
      found.holder[found.key] = value;
    }
  }
  return bytesBody(Buffer.from(JSON.stringify(root)));
}

/** One unit, `times` times, as bytes of which any part can be read. */
function repeated(unit: Buffer, times: number): Body {
  const perBlock = Math.max(1, Math.floor((256 * 1024) / unit.length));
  const block = Buffer.concat(Array.from({ length: Math.min(perBlock, times) }, () => unit));
  return {
    size: unit.length * times,
    *read(start, end) {
      for (let at = start; at < end;) {
        const offset = at % block.length;
        const take = Math.min(block.length - offset, end - at);
        yield block.subarray(offset, offset + take);
        at += take;
      }
    },
  };
}

/** A JSON array of so many equal items, or of at least so many bytes; never in memory as a whole. */
export function repeatedJson(wanted: {
  readonly jsonItems?: number;
  readonly jsonBytes?: number;
  readonly item?: unknown;
}): Body {
  const item = JSON.stringify(wanted.item ?? mediaItem);
  const unit = Buffer.from(`${item},`);
  const items = wanted.jsonItems ?? Math.max(1, Math.ceil(((wanted.jsonBytes ?? 0) - 1) / unit.length));
  if (items === 0) {
    return bytesBody(Buffer.from("[]"));
  }
  const [open, last] = [bytesBody(Buffer.from("[")), bytesBody(Buffer.from(`${item}]`))];
  return joinedBody([open, repeated(unit, items - 1), last]);
}

/** So many bytes at a time, with a pause in between. */
interface Pace {
  readonly bytes: number;
  readonly everyMs: number;
}

/** What is sent to the client, with the faults. */
export interface Plan {
  /** Null: the body is sent without any HTTP around it; with no body, nothing is sent. */
  readonly head: { readonly status: number; readonly headers: readonly (readonly [string, string])[] } | null;
  readonly body: Body | null;
  readonly framing: "length" | "chunked" | "close";
  /** A wrong value for Content-Length. */
  readonly declaredLength?: number;
  /** The number of bytes of the body after which `end` happens. */
  readonly cutAt?: number;
  readonly pace?: Pace;
  readonly headPace?: Pace;
  /** Responses with status 103 before the head. */
  readonly provisional?: { readonly count: number; readonly everyMs: number };
  /** `keep` is the normal end; the others act on the socket itself. `hold` leaves the connection open and silent. */
  readonly end: "keep" | "close" | "reset" | "hold";
}

interface Sink {
  write(bytes: Uint8Array | string): boolean;
  once(event: "drain" | "close", listener: () => void): unknown;
  off(event: "drain" | "close", listener: () => void): unknown;
  readonly destroyed: boolean;
}

const resetAfterMs = 20;

type Sleep = (ms: number) => Promise<void>;

function drained(sink: Sink): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      sink.off("drain", done);
      sink.off("close", done);
      resolve();
    };
    sink.once("drain", done);
    sink.once("close", done);
  });
}

async function send(
  sink: Sink,
  chunks: Iterable<Uint8Array>,
  pace: Pace | undefined,
  sleep: Sleep,
): Promise<void> {
  for (const chunk of chunks) {
    const step = pace?.bytes ?? chunk.length;
    for (let at = 0; at < chunk.length; at += step) {
      if (sink.destroyed) {
        return;
      }
      if (!sink.write(chunk.subarray(at, at + step))) {
        await drained(sink);
      }
      if (pace !== undefined) {
        await sleep(pace.everyMs);
      }
    }
  }
}

function* inChunks(chunks: Iterable<Uint8Array>): Iterable<Uint8Array> {
  for (const chunk of chunks) {
    yield Buffer.from(`${chunk.length.toString(16)}\r\n`);
    yield chunk;
    yield Buffer.from("\r\n");
  }
}

/** The headers of the framing: a length, chunks, or neither. */
function framingHeaders(plan: Plan): readonly (readonly [string, string])[] {
  const { body, framing, declaredLength, head } = plan;
  if (head?.status === 204 || framing === "close") {
    return [];
  }
  if (framing === "chunked" && body !== null) {
    return [["transfer-encoding", "chunked"]];
  }
  return [["content-length", String(declaredLength ?? body?.size ?? 0)]];
}

async function sendByResponse(response: ServerResponse, plan: Plan, sleep: Sleep): Promise<void> {
  const { head, body } = plan;
  if (head === null) {
    return;
  }
  response.writeHead(head.status, [...head.headers, ...framingHeaders(plan)].flat());
  if (body !== null) {
    // A small body is sent together with its head.
    if (plan.pace === undefined && body.size <= 64 * 1024) {
      response.end(Buffer.concat([...body.read(0, body.size)]));
      return;
    }
    await send(response, body.read(0, body.size), plan.pace, sleep);
  }
  response.end();
}

function headBytes(plan: Plan): Buffer {
  const { head } = plan;
  if (head === null) {
    return Buffer.alloc(0);
  }
  const lines = [
    `HTTP/1.1 ${head.status} ${STATUS_CODES[head.status] ?? "Unknown"}`,
    ...[...head.headers, ...framingHeaders(plan)].map(([name, value]) => `${name}: ${value}`),
    `date: ${new Date().toUTCString()}`,
  ];
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
}

/** Resolves when all bytes are sent, or the client has closed the connection. */
async function sendProvisional(socket: Socket, plan: Plan, sleep: Sleep): Promise<void> {
  const { count, everyMs } = plan.provisional ?? { count: 0, everyMs: 0 };
  for (let sent = 0; sent < count && !socket.destroyed; sent++) {
    socket.write("HTTP/1.1 103 Early Hints\r\nlink: </later>\r\n\r\n");
    await sleep(everyMs);
  }
}

async function sendBySocket(socket: Socket, plan: Plan, sleep: Sleep, reset: () => void): Promise<void> {
  const { body, cutAt } = plan;
  await sendProvisional(socket, plan, sleep);
  await send(socket, [headBytes(plan)], plan.headPace, sleep);
  if (body !== null) {
    const stop = Math.min(body.size, cutAt ?? body.size);
    const chunked = plan.framing === "chunked" && plan.head !== null;
    const chunks = body.read(0, stop);
    await send(socket, chunked ? inChunks(chunks) : chunks, plan.pace, sleep);
    if (chunked && stop === body.size && cutAt === undefined) {
      socket.write("0\r\n\r\n");
    }
  }
  if (plan.end === "reset") {
    // A reset that overtakes the last bytes looks like an ordinary end to some clients.
    if (plan.head !== null || body !== null) {
      await sleep(resetAfterMs);
    }
    reset();
  } else if (plan.end !== "hold") {
    socket.destroySoon();
  }
}

/** Sends a plan. Resolves when the last byte was written to the socket, or the client has closed the connection. */
export async function sendPlan(
  response: ServerResponse,
  socket: Socket,
  plan: Plan,
  tools: { readonly sleep: Sleep; readonly reset: () => void },
): Promise<void> {
  const wellFormed =
    plan.head !== null &&
    plan.declaredLength === undefined &&
    plan.cutAt === undefined &&
    plan.headPace === undefined &&
    plan.provisional === undefined;
  if (wellFormed && plan.end === "keep" && plan.framing !== "close") {
    await sendByResponse(response, plan, tools.sleep);
  } else {
    await sendBySocket(socket, plan, tools.sleep, tools.reset);
  }
}
