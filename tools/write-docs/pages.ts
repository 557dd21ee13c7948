import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { phrases } from "../../src/errors/phrases.ts";
import { nodeWordings } from "../../src/errors/sentences.ts";
import { reportTexts } from "../../src/evidence/report/report-texts.ts";
import { failedTexts, statusTexts } from "../../src/runtime/status/node-status.ts";
import { packingStation } from "../../src/station/flow.ts";
import { supervisor } from "../../src/supervisor/flow.ts";
import { writeFlow } from "./flow-file.ts";
import { formatSource } from "./format.ts";
import {
  writeManifestSchema,
  writeMessages,
  writeSchemaFile,
  writeShapes,
  writeWeightTableSchema,
} from "./schemas.ts";
import { generated } from "./tables.ts";

const catalog = "nodes/device/locales/en-US/device.json";
const root = join(import.meta.dirname, "../..");

/** The generated files by path, and the pages with what is generated in them, formatted like all files. */
export async function writePages(): Promise<Map<string, string>> {
  const files = {
    "src/model/shapes.ts": writeShapes(),
    "src/library/messages.ts": writeMessages(),
    "docs/messages.schema.json": writeSchemaFile(),
    "docs/manifest.schema.json": writeManifestSchema(),
    "docs/weight-table.schema.json": writeWeightTableSchema(),
    [catalog]: await writeCatalog(),
    "examples/30 packing station.json": await writeFlow(packingStation),
    "examples/31 supervisor.json": await writeFlow(supervisor),
  };
  const pages = Object.keys(generated).map(async (name) => [name, await fillPage(name)] as const);
  const formatted = [...Object.entries(files), ...(await Promise.all(pages))].map(
    async ([name, content]) => [name, await formatSource(name, content)] as const,
  );
  return new Map(await Promise.all(formatted));
}

/** A page with what is generated between its marks. */
async function fillPage(name: string): Promise<string> {
  const parts = new Map(Object.entries(generated[name] ?? {}));
  const page = await readFile(join(root, name), "utf8");
  const filled = page.replace(
    /(<!-- generated: (\w+) -->)[^]*?(<!-- end -->)/g,
    (_, begin: string, part: string, end: string) => {
      const write = parts.get(part);
      parts.delete(part);
      if (write === undefined) {
        throw new Error(`${name} has a mark for “${part}” that is not generated, or has it twice.`);
      }
      return begin + write() + end;
    },
  );
  if (parts.size > 0) {
    throw new Error(`${name} has no mark for ${[...parts.keys()].join(", ")}.`);
  }
  return filled;
}

/** The English catalog with the errors, statuses and reports of the sources, where translators find them. */
async function writeCatalog(): Promise<string> {
  const wordings = [...nodeWordings];
  const written: unknown = JSON.parse(await readFile(join(root, catalog), "utf8"));
  const texts = {
    ...(written as object),
    status: { ...statusTexts, failed: failedTexts },
    errors: Object.fromEntries(wordings.map(([key, { text }]) => [key, text])),
    hints: Object.fromEntries(wordings.map(([key, { hint }]) => [key, hint])),
    phrases,
    format: { language: "en-US" },
    report: reportTexts,
  };
  return JSON.stringify(texts, null, 2);
}
