import type { SurfaceName } from "./requests.ts";

/** True: the machine does what is requested, only the answer is faulty. False: it never receives the request. */
interface Acts {
  acts?: boolean;
}

/** Where in the body: a number of bytes (negative: counted from its end) or a fraction of it. */
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

/** Faults of the connection itself: no request is ever read. They match by surface alone. */
export type ConnectionFault =
  /** The port is closed, open connections end. Ends after `forMs` or when the fault is removed. */
  | { kind: "refuse"; forMs?: number }
  /** The connection is accepted, then nothing is sent: over TLS the handshake never ends. */
  | { kind: "connect-silence" }
  /** The connection is accepted and reset at once. */
  | { kind: "connect-reset" };

/** Faults that leave the client without a whole answer. `acts` is true by default. */
export type LostResponseFault =
  | ({ kind: "reset"; afterMs?: number } & Acts)
  | ({ kind: "close"; afterMs?: number } & Acts)
  | ({ kind: "silence" } & Acts)
  | ({ kind: "headers-then-silence" } & Acts)
  /**
   * This request is answered correctly; the connection is closed right after the answer, or reset when the next request
   * arrives on it. `acts`: whether the machine does what that next request asks.
   */
  | ({ kind: "keep-alive-dies"; when?: "next-request" | "after-answer" } & Acts)
  | ({ kind: "cut" } & Acts & Place & Framed & Ending)
  /** Neither length nor chunks: the end of the connection is the end of the body; with a place it comes too early. */
  | ({ kind: "no-framing" } & Place);

/** Faults of time. */
export type SlowFault =
  /** Ends after `ms` or when the fault is removed. */
  | { kind: "delay"; ms: number; before?: "action" | "answer" }
  /** When the fault is removed, the rest is sent without pauses. */
  | ({ kind: "drip" } & InSteps)
  | ({ kind: "slow-headers" } & InSteps)
  /** Answers with status 103 before the correct one, every `everyMs` (10); without `count`, without end. */
  | { kind: "provisional"; count?: number; everyMs?: number };

/** Faults that replace the correct answer. `acts` is false by default, true for `body`. */
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
      /** Retry-After as a date so far from now. */
      retryInMs?: number;
    } & Acts)
  /** The right status and headers with another body: a text, bytes, or JSON generated while it is sent. */
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
  /** Changes fields of a JSON answer. Names may be paths: `measuredObjects.0.errorCode`. */
  | { kind: "json-patch"; set?: Record<string, unknown>; remove?: string[] };

/** Faults of the headers of a correct body. */
export type HeaderFault =
  /** Content-Length this many bytes too small or too large. */
  | ({ kind: "wrong-length"; by: number } & Ending)
  /** Content-Range as given, or shifted by so many bytes (default 1) against what is sent. */
  | { kind: "wrong-range"; value?: string; shift?: number }
  /** 206 to a request without Range, with the bytes `from` up to, not including, `to` (default: the first half). */
  | { kind: "partial"; from?: number; to?: number }
  | { kind: "range-ignored" }
  /** Another ETag, or none. With `ignoreIfRange` the part is served nevertheless, as by a broken server. */
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
  /** How often it is applied; 0: until it is removed. Default 1. */
  times?: number;
  /** How many matching requests or connections are left alone first. Default 0. */
  after?: number;
  fault: Fault;
}
