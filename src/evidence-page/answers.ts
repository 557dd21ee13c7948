import type { ServerResponse } from "node:http";

/** Headers of every answer. Nothing is kept by a cache: what is shown is evidence, and the next person may lack the right. */
const headers: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

/** Allows only the page's own files, and no text as markup or script. */
export const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "media-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");
/** Of everything else: a picture or a video that is opened on its own runs nothing. */
const contentPolicy = "default-src 'none'; frame-ancestors 'none'; sandbox";

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
