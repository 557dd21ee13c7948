import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The path of a file of test/fixtures/tls. */
export const tlsFile = (name: string): string => join(import.meta.dirname, "../fixtures/tls", name);
/** Its content. */
export const pem = (name: string): string => readFileSync(tlsFile(name), "latin1");
/** The key and certificate of a server. */
export const identity = (name: string): { key: string; cert: string } => ({
  key: pem(`${name}.key`),
  cert: pem(`${name}.crt`),
});
