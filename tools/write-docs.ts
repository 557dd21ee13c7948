/**
 * Writes what is made from the schemas and the error sentences: src/model/shapes.ts and src/library/messages.ts, the types
 * that users see, and the pages docs/messages.md, docs/errors.md, docs/messages.schema.json and docs/manifest.schema.json.
 * Run it after a change of those; a test holds them equal.
 *
 *   npm run write:docs
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { writePages } from "./write-docs/pages.ts";

for (const [name, text] of await writePages()) {
  await writeFile(join(import.meta.dirname, "..", name), text);
}
