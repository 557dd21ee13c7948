/**
 * Writes the sentences and status texts of the sources into the English catalog, where translators find them. Run it
 * after a change of src/errors/*-sentences.ts, src/errors/phrases.ts or src/runtime/status/status-texts.ts; a test checks that they agree.
 *
 *   npm run write:texts
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runtimeTexts } from "./runtime-texts.ts";

const file = join(import.meta.dirname, "../nodes/device/locales/en-US/device.json");
const catalog: unknown = JSON.parse(await readFile(file, "utf8"));
if (typeof catalog !== "object" || catalog === null) {
  throw new Error(`${file} holds no catalog`);
}
await writeFile(file, `${JSON.stringify({ ...catalog, ...runtimeTexts() }, null, 2)}\n`);
