/**
 * Writes what is made from the sources: src/model/shapes.ts and src/library/messages.ts, the types
 * that users see, the JSON Schemas, examples 30 and 31, and tables of the pages.
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
