import type { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readPem } from "../../../src/vault/timestamp/timestamp-folder.ts";

export const fixtures = join(import.meta.dirname, "../../fixtures/timestamp");

/** A file of test/fixtures/timestamp, which OpenSSL has made. */
export const fixture = (name: string): Buffer => readFileSync(join(fixtures, name));

export const certificates = (name: string): X509Certificate[] => readPem(fixture(`${name}.crt`).toString());
