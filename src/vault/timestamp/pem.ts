import { X509Certificate } from "node:crypto";
import { phrase, ProblemError } from "../../errors/interpolation.ts";

/** Reads the certificates in a text in PEM form; none if there are none. Throws a ProblemError for a damaged one. */
export function readPem(text: string): X509Certificate[] {
  const found = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  try {
    return found.map((one) => new X509Certificate(one));
  } catch (error) {
    throw new ProblemError(phrase("timestampRootDamaged"), { cause: error });
  }
}
