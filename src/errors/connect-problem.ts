import { phrase, problemOf, verbatim, type Problem } from "./interpolation.ts";

const tlsCodes = /^(ERR_(TLS|SSL)_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|EPROTO$)/;

const certificateTimes = /^CERT_(?:NOT_YET_VALID|HAS_EXPIRED)$/;

/**
 * OpenSSL's errors for a response that is not TLS, mostly from a plain HTTP server whose address was entered with
 * https.
 */
const notTlsCodes = new Set([
  "ERR_SSL_WRONG_VERSION_NUMBER",
  "ERR_SSL_PACKET_LENGTH_TOO_LONG",
  "ERR_SSL_DATA_LENGTH_TOO_LONG",
]);

/** Whether the TLS handshake failed, for instance because of the certificate. */
export function isUntrusted(error: unknown): boolean {
  return tlsCodes.test(codeOf(error));
}

/** Whether what answers does not use TLS. */
export function isNotTls(error: unknown): boolean {
  return notTlsCodes.has(codeOf(error));
}

/** What nginx, Apache and programs in Go say of HTTP on a port for HTTPS. */
export const wantsTls = /\bHTTP\b[^<]{0,60}\b(?:HTTPS|SSL-enabled|TLS)\b/i;

/** Whether the answer to HTTP is an alert of TLS, which undici's parser cannot read. */
export function isTlsAlert(error: unknown): boolean {
  return error instanceof Error && "data" in error && String(error.data).startsWith("\u0015\u0003");
}

/** The code of an error of the system, of TLS or of a library; blank if it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

/**
 * Why a connection failed. To several addresses, the error has a code and no message; OpenSSL's messages have numbers and
 * file names around the reason.
 */
export function connectProblem(error: unknown): Problem {
  const code = codeOf(error);
  if (!(error instanceof Error) || code === "") {
    return problemOf(error);
  }
  if (code.startsWith("ERR_SSL_") && "reason" in error && typeof error.reason === "string") {
    return verbatim(error.reason);
  }
  if (isUntrusted(error)) {
    // Node.js adds advice about its own options, which is of no use to the reader.
    const problem = verbatim(error.message.replace(/;.*/s, ""));
    // Of a computer after a power cut, no certificate is valid, and nothing is wrong with any of them.
    return certificateTimes.test(code)
      ? phrase("certificateTime", { problem, value: new Date().toISOString() })
      : problem;
  }
  return error.message === "" ? verbatim(code) : problemOf(error);
}
