import { createHash, timingSafeEqual } from "node:crypto";

/**
 * Whether the secret is right. The time that this takes reveals neither how much of the given secret is right nor the
 * length of the right one, because digests of both are compared.
 */
export function isSecret(given: string | undefined, secret: string): boolean {
  return timingSafeEqual(digest(given ?? ""), digest(secret)) && given !== undefined;
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text, "utf8").digest();
}
