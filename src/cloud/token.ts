/**
 * Reads a token as people paste it: white space around it and a "Bearer " before it are no part of it. Undefined when
 * nothing is left or when it has characters that cannot stand in a header field (RFC 6750, 2.1).
 */
export function readToken(pasted: unknown): string | undefined {
  const token = (typeof pasted === "string" ? pasted : "").trim().replace(/^bearer(\s+|$)/i, "");
  return /^[\x21-\x7e]+$/.test(token) ? token : undefined;
}
