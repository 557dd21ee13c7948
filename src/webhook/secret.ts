import { createHash, timingSafeEqual } from "node:crypto";

/**
 * Whether the given secret is the right one, in a time that tells neither how much of it is right nor how long the right
 * one is: digests of both are compared.
 */
export function isSecret(given: string | undefined, secret: string): boolean {
  return timingSafeEqual(digest(given ?? ""), digest(secret)) && given !== undefined;
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text, "utf8").digest();
}
