import { createHash } from "node:crypto";

/** SHA-256 as lower-case hexadecimal: 64 characters. Text counts as UTF-8. */
export function sha256Of(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
