import type { IncomingMessage } from "node:http";

/**
 * Whether a request that changes something comes from the page itself and not from another site, as the browser says.
 * Browsers send Sec-Fetch-Site only over HTTPS and to this computer; they send Origin with every post.
 */
export function isFromOwnPage({ headers }: IncomingMessage): boolean {
  const site = headers["sec-fetch-site"];
  if (site !== undefined) {
    return site === "same-origin";
  }
  const { origin, host } = headers;
  if (origin === undefined || host === undefined || !URL.canParse(origin)) {
    return false;
  }
  return new URL(origin).host === host.toLowerCase().replace(/:(?:80|443)$/, "");
}
