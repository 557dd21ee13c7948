import * as v from "valibot";

const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const positive = v.pipe(v.number(), v.integer(), v.minValue(1));
const ms = v.pipe(v.number(), v.minValue(0));
const optional = v.exactOptional;

/** True: the machine does what was asked, only the answer suffers. False: it never hears of the request. */
const acts = optional(v.boolean());

/** What happens to the connection after the last byte. */
const end = v.picklist(["close", "reset", "hold"]);

/** Where in the body: a number of bytes (negative: counted from its end) or a fraction of it. */
const place = {
  atByte: optional(v.pipe(v.number(), v.integer())),
  atFraction: optional(v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
};

const headers = optional(v.record(v.string(), v.union([v.string(), v.array(v.string())])));

/** Faults of the connection itself: no request is ever read. They match by surface alone. */
export const connectionFault = v.variant("kind", [
  /** The port is closed, open connections die. Ends after `forMs` or when the fault is removed. */
  v.strictObject({ kind: v.literal("refuse"), forMs: optional(ms) }),
  /** Taken in, then nothing: over TLS the handshake never ends. */
  v.strictObject({ kind: v.literal("connect-silence") }),
  /** Taken in and reset at once. */
  v.strictObject({ kind: v.literal("connect-reset") }),
]);

/** Faults that leave the client without a whole answer. `acts` is true by default. */
export const lostAnswerFault = v.variant("kind", [
  v.strictObject({ kind: v.literal("reset"), acts, afterMs: optional(ms) }),
  v.strictObject({ kind: v.literal("close"), acts, afterMs: optional(ms) }),
  v.strictObject({ kind: v.literal("silence"), acts }),
  v.strictObject({ kind: v.literal("headers-then-silence"), acts }),
  /**
   * This request is answered well; the connection is closed right after the answer, or reset when the next request
   * arrives on it. `acts`: whether the machine does what that next request asks.
   */
  v.strictObject({
    kind: v.literal("keep-alive-dies"),
    acts,
    when: optional(v.picklist(["next-request", "after-answer"])),
  }),
  v.strictObject({
    kind: v.literal("cut"),
    ...place,
    framing: optional(v.picklist(["length", "chunked"])),
    end: optional(end),
  }),
  /** Neither length nor chunks: the end of the connection is the end of the body; with a place it comes early. */
  v.strictObject({ kind: v.literal("no-framing"), ...place }),
]);

/** Faults of time. */
export const slowFault = v.variant("kind", [
  v.strictObject({ kind: v.literal("delay"), ms, before: optional(v.picklist(["action", "answer"])) }),
  v.strictObject({ kind: v.literal("drip"), bytes: optional(positive), everyMs: optional(ms) }),
  v.strictObject({ kind: v.literal("slow-headers"), bytes: optional(positive), everyMs: optional(ms) }),
]);

/** Faults that put another answer in place of the right one. `acts` is false by default, true for `body`. */
export const otherAnswerFault = v.variant("kind", [
  /** Bytes that are not HTTP. */
  v.strictObject({
    kind: v.literal("not-http"),
    acts,
    text: optional(v.string()),
    base64: optional(v.string()),
    end: optional(end),
  }),
  /** Any status, with `body` or `bodyBytes` of filling. Redirects: give a `location` header. */
  v.strictObject({
    kind: v.literal("status"),
    acts,
    status: v.pipe(v.number(), v.integer(), v.minValue(200), v.maxValue(999)),
    headers,
    body: optional(v.string()),
    bodyBytes: optional(count),
  }),
  /** The right status and headers with another body: a text, bytes, or JSON made up while it is sent. */
  v.strictObject({
    kind: v.literal("body"),
    acts,
    text: optional(v.string()),
    base64: optional(v.string()),
    jsonBytes: optional(count),
    jsonItems: optional(count),
    /** What `jsonItems` repeats; default a media item. */
    item: optional(v.unknown()),
    contentType: optional(v.string()),
    framing: optional(v.picklist(["length", "chunked"])),
  }),
  /** Changes fields of a JSON answer. Names may be paths: `measuredObjects.0.errorCode`. */
  v.strictObject({
    kind: v.literal("json-patch"),
    set: optional(v.record(v.string(), v.unknown())),
    remove: optional(v.array(v.string())),
  }),
]);

/** Faults of the headers around the right bytes. */
export const headerFault = v.variant("kind", [
  /** Content-Length this many bytes too small or too large. */
  v.strictObject({
    kind: v.literal("wrong-length"),
    by: v.pipe(v.number(), v.integer()),
    end: optional(end),
  }),
  /** Content-Range as given, or shifted by so many bytes (default 1) against what is sent. */
  v.strictObject({
    kind: v.literal("wrong-range"),
    value: optional(v.string()),
    shift: optional(v.pipe(v.number(), v.integer())),
  }),
  /** 206 to a request without Range, with the bytes `from` up to, not including, `to` (default: the first half). */
  v.strictObject({ kind: v.literal("partial"), from: optional(count), to: optional(count) }),
  v.strictObject({ kind: v.literal("range-ignored") }),
  /** Another ETag, or none. With `ignoreIfRange` the part is served all the same: a broken server. */
  v.strictObject({
    kind: v.literal("etag"),
    value: v.nullable(v.string()),
    ignoreIfRange: optional(v.boolean()),
  }),
  v.strictObject({ kind: v.literal("content-type"), value: v.nullable(v.string()) }),
  /** Adds or replaces headers. */
  v.strictObject({ kind: v.literal("headers"), set: v.record(v.string(), v.string()) }),
]);

export const faultSchema = v.union([
  connectionFault,
  lostAnswerFault,
  slowFault,
  otherAnswerFault,
  headerFault,
]);

export type ConnectionFault = v.InferOutput<typeof connectionFault>;

export type RequestFault = v.InferOutput<
  typeof lostAnswerFault | typeof slowFault | typeof otherAnswerFault | typeof headerFault
>;
export type Fault = v.InferOutput<typeof faultSchema>;
