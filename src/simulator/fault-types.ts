import type { SurfaceName } from "./requests.ts";

/** True: the device executes the request, and only the response is faulty. False: it never receives the request. */
interface Acts {
  acts?: boolean;
}

/** A place in the body: a number of bytes (negative: counted from its end) or a fraction of its length. */
interface Place {
  atByte?: number;
  atFraction?: number;
}

interface Framed {
  framing?: "length" | "chunked";
}

/** What happens to the connection after the last byte. */
interface Ending {
  end?: "close" | "reset" | "hold";
}

interface InSteps {
  bytes?: number;
  everyMs?: number;
}

/** Faults of the connection itself. No request is read, so they match by surface only. */
export type ConnectionFault =
  /** The port is closed, open connections end. Ends after `forMs` or when the fault is removed. */
  | { kind: "refuse"; forMs?: number }
  /** The connection is accepted, then nothing is sent: over TLS the handshake never ends. */
  | { kind: "connect-silence" }
  /** The connection is accepted and reset at once. */
  | { kind: "connect-reset" };

/** Faults that leave the client without a complete response. `acts` is true by default, where it can be chosen. */
export type LostResponseFault =
  | ({ kind: "reset"; afterMs?: number } & Acts)
  | ({ kind: "close"; afterMs?: number } & Acts)
  | ({ kind: "silence" } & Acts)
  | ({ kind: "headers-then-silence" } & Acts)
  /**
   * This request gets a correct response. Then the connection is closed at once, or reset when the next request arrives
   * on it. `acts`: whether the device executes that next request; false by default.
   */
  | ({ kind: "keep-alive-dies"; when?: "next-request" | "after-answer" } & Acts)
  | ({ kind: "cut" } & Place & Framed & Ending)
  /** A body with neither length nor chunks, which the end of the connection ends; with a place, it ends too early. */
  | ({ kind: "no-framing" } & Place);

/** Faults that delay the response. */
export type SlowFault =
  /** Ends after `ms` or when the fault is removed. */
  | { kind: "delay"; ms: number; before?: "action" | "answer" }
  /** When the fault is removed, the rest is sent without pauses. */
  | ({ kind: "drip" } & InSteps)
  | ({ kind: "slow-headers" } & InSteps)
  /** Sends responses with status 103 before the correct one, every `everyMs` (10); without `count`, they never end. */
  | { kind: "provisional"; count?: number; everyMs?: number };

/** Faults that replace the correct response. `acts` is false by default, and true for `body`. */
export type ReplacedResponseFault =
  /** Bytes that are not HTTP. */
  | ({ kind: "not-http"; text?: string; base64?: string } & Acts & Ending)
  /** Any status, with `body` or `bodyBytes` of filling. Redirects: give a `location` header. */
  | ({
      kind: "status";
      status: number;
      headers?: Record<string, string | string[]>;
      body?: string;
      bodyBytes?: number;
      /** Retry-After as a date, at this distance from now. */
      retryInMs?: number;
    } & Acts)
  /** The correct status and headers with another body: a text, bytes, or JSON that is generated while it is sent. */
  | ({
      kind: "body";
      text?: string;
      base64?: string;
      jsonBytes?: number;
      jsonItems?: number;
      /** What `jsonItems` repeats; default a media item. */
      item?: unknown;
      contentType?: string;
    } & Acts &
      Framed)
  /** Changes fields of a JSON response. Names may be paths: `measuredObjects.0.errorCode`. */
  | { kind: "json-patch"; set?: Record<string, unknown>; remove?: string[] };

/** Faults of the headers of a correct body. */
export type HeaderFault =
  /** Content-Length this many bytes too small or too large. */
  | ({ kind: "wrong-length"; by: number } & Ending)
  /** Content-Range as given, or shifted by a number of bytes (default 1) against what is sent. */
  | { kind: "wrong-range"; value?: string; shift?: number }
  /** 206 to a request without Range, with the bytes `from` up to, not including, `to` (default: the first half). */
  | { kind: "partial"; from?: number; to?: number }
  | { kind: "range-ignored" }
  /** Another ETag, or none. With `ignoreIfRange` the part is sent all the same, as a faulty server would. */
  | { kind: "etag"; value: string | null; ignoreIfRange?: boolean }
  | { kind: "content-type"; value: string | null }
  /** Adds or replaces headers. */
  | { kind: "headers"; set: Record<string, string> };

export type RequestFault = LostResponseFault | SlowFault | ReplacedResponseFault | HeaderFault;
export type Fault = ConnectionFault | RequestFault;

/** A fault and what it applies to. All conditions must hold; one that is left out always holds. */
export interface FaultRule {
  /** Shown in the outcome of the requests that it was applied to; default the fault's kind. */
  name?: string;
  surface?: SurfaceName;
  method?: string;
  /** Starting with a slash: what the path begins with. Otherwise a regular expression. Letter case is ignored. */
  path?: string;
  /** How often it is applied; 0: until it is removed. 1 if left out. */
  times?: number;
  /** How many matching requests or connections get a normal response first. 0 if left out. */
  after?: number;
  fault: Fault;
}
