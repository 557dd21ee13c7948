import { bytesBody, type Body, type Content } from "./content.ts";

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
