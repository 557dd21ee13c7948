import { existsSync, readdirSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { PropertyTable } from "../../src/properties/property-table.ts";
import { writeForm } from "../../tools/editor-html.ts";

export const root = dirname(dirname(import.meta.dirname));

/** The folders below nodes/, one for each type; the build says when one lacks its editor half. */
export const names = readdirSync(join(root, "nodes"))
  .filter((name) => existsSync(join(root, `nodes/${name}/${name}.editor.ts`)))
  .toSorted();

/** The languages that there are catalogs for. */
export async function languages(): Promise<string[]> {
  return (await readdir(join(root, "nodes/device/locales"))).sort();
}

/** The saved properties of a type and their defaults. */
export async function defaultsOf(name: string): Promise<Record<string, unknown>> {
  const shared: { defaults: Record<string, unknown> } = await import(`../../nodes/${name}/${name}.shared.ts`);
  return shared.defaults;
}

/** A catalog as flat keys ("common.label.name") and their texts. */
export async function catalogOf(name: string, language = "en-US"): Promise<Map<string, string>> {
  const text = await readFile(join(root, `nodes/${name}/locales/${language}/${name}.json`), "utf8");
  const flat = new Map<string, string>();
  const walk = (value: unknown, path: string): void => {
    if (typeof value === "string") {
      flat.set(path, value);
    } else if (typeof value === "object" && value !== null) {
      for (const [key, inner] of Object.entries(value)) {
        walk(inner, path === "" ? key : `${path}.${key}`);
      }
    }
  };
  walk(JSON.parse(text), "");
  return flat;
}

/** A label of a form without the unit behind it. */
export function withoutUnit(label: string): string {
  return label.replace(/\s*[(（][^)）]*[)）]$/, "");
}

/** The table of a type's saved properties. */
export async function propertiesOf(name: string): Promise<PropertyTable> {
  const shared: { properties: PropertyTable } = await import(`../../nodes/${name}/${name}.shared.ts`);
  return shared.properties;
}

/** The sources of the editor half: each type's own with the form that is made of them, and what they share. */
export async function editorSources(name: string): Promise<string> {
  const files =
    name === "shared"
      ? [
          ...(await readdir(join(root, "src/editor"))).map((file) => join(root, "src/editor", file)),
          join(root, "src/properties/common-properties.ts"),
        ]
      : ["editor.ts", "shared.ts"].map((kind) => join(root, `nodes/${name}/${name}.${kind}`));
  const texts = await Promise.all(
    files.filter((file) => /(?<!\.d)\.ts$/.test(file)).map((file) => readFile(file, "utf8")),
  );
  const form = name === "shared" ? "" : writeForm(await propertiesOf(name), "node-input");
  return [...texts, form.replaceAll("@dimflow/node-red-dimensioner/dimensioner-device:", "shared:")].join(
    "\n",
  );
}

/** What ships for a type, as Node-RED reads it; it has to be built before. */
export async function builtHtml(name: string): Promise<string> {
  const file = join(root, `dist/nodes/${name}/${name}.html`);
  if (!existsSync(file)) {
    throw new Error(`${file} is not there: build first`);
  }
  return readFile(file, "utf8");
}

/** The keys of texts that are written to the log, which has no limit of characters as a status has. */
export const logged = new Set(
  [
    "undelivered",
    "recordsUnhandled",
    "damagedJob",
    "damagedPackage",
    "cutNodeGone",
    "jobNodeGone",
    "commandsNotNoted",
    "cutNotKept",
    "evidencePage",
    "evidencePageOff",
    "checkingDatabase",
    "checkedDatabase",
    "heldUp",
    "recordsUnhandled",
    "keptAside",
    "movedAside",
    "otherMeasurement",
    "packagesAway",
    "refusedSecretHelp",
    "resumedAfter",
    "stillWaiting",
    "storeUnusable",
    "unknownMedia",
  ].map((key) => `status.${key}`),
);
