import { createHash } from "node:crypto";
import type { OpenJob } from "../journal/open-job.ts";

/** What makes two jobs the same. */
export function cloudKey(origin: string, transactionId: string): string {
  return digest(["cloud", origin, transactionId]);
}

/**
 * Of messages that bring their media: the same id with the same content. Other content under the same id is other
 * evidence, and gets a package of its own.
 */
export function contentKey({ items, intent }: OpenJob): string {
  const slots = [...items].sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true }));
  return digest([
    "message",
    intent.transactionId,
    intent.raw ?? "",
    ...slots.map(([, { sha256 }]) => sha256),
  ]);
}

function digest(parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32);
}
