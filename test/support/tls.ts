import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A file of test/fixtures/tls. */
export const pem = (name: string): string =>
  readFileSync(join(import.meta.dirname, "../fixtures/tls", name), "latin1");
/** The key and certificate of a server. */
export const identity = (name: string): { key: string; cert: string } => ({
  key: pem(`${name}.key`),
  cert: pem(`${name}.crt`),
});
