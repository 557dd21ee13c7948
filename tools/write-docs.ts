/**
 * Writes what is made from the schemas, the error sentences and the layers: src/model/shapes.ts and src/library/messages.ts, the types
 * that users see, the JSON Schemas, and the pages that tools/write-docs/pages.ts lists.
 * Run it after a change of those; a test checks that the files agree with them.
 *
 *   npm run write:docs
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { writePages } from "./write-docs/pages.ts";

for (const [name, text] of await writePages()) {
  await writeFile(join(import.meta.dirname, "..", name), text);
}
