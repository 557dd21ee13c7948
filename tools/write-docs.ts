/**
 * Writes the pages that are made from the sources: docs/messages.md, docs/messages.schema.json and docs/errors.md. Run it
 * after a change of the error sentences or of what a node puts on a message; a test holds them equal.
 *
 *   npm run write:docs
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { writePages } from "./write-docs/pages.ts";

for (const [name, text] of await writePages()) {
  await writeFile(join(import.meta.dirname, "../docs", name), text);
}
