/**
 * Reads a token as people paste it: surrounding white space and a leading "Bearer " are removed. Returns undefined if
 * nothing is left, or if it has characters that a header field cannot contain (RFC 6750, 2.1).
 */
export function readToken(pasted: unknown): string | undefined {
  const token = (typeof pasted === "string" ? pasted : "").trim().replace(/^bearer(\s+|$)/i, "");
  return /^[\x21-\x7e]+$/.test(token) ? token : undefined;
}
