import type { ServerResponse } from "node:http";
import { contentPolicy, pageHeaders } from "../../package/page-headers.ts";

/** Headers of every answer. */
const headers: Readonly<Record<string, string>> = {
  ...pageHeaders,
  "cross-origin-opener-policy": "same-origin",
  "x-frame-options": "DENY",
};

/** The headers of an answer, with those that every answer has. */
export function headersOf(
  more: Readonly<Record<string, string>> = {},
  policy = contentPolicy,
): Record<string, string> {
  return { ...headers, "content-security-policy": policy, ...more };
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  more?: Readonly<Record<string, string>>,
): void {
  const text = Buffer.from(JSON.stringify(body));
  const type = { "content-type": "application/json; charset=utf-8", "content-length": String(text.length) };
  response.writeHead(status, headersOf({ ...type, ...more }));
  response.end(text);
}

export function sendNothing(
  response: ServerResponse,
  status: number,
  more?: Readonly<Record<string, string>>,
): void {
  response.writeHead(status, headersOf({ "content-length": "0", ...more }));
  response.end();
}

/** A request that is refused. The page has a text for each reason, in its language. */
export class Refusal extends Error {
  readonly status: number;
  readonly reason: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, reason: string, more: Readonly<Record<string, string>> = {}) {
    super(reason);
    this.name = "Refusal";
    this.status = status;
    this.reason = reason;
    this.headers = more;
  }
}
