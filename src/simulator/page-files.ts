import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { bytesContent, type Content } from "./content.ts";

const contentTypes: Readonly<Record<string, string>> = {
  "index.html": "text/html; charset=utf-8",
  "page.css": "text/css; charset=utf-8",
  "page.js": "text/javascript; charset=utf-8",
  "icon.svg": "image/svg+xml",
  "table.svg": "image/svg+xml",
};

/** The built page is beside this module or, when the sources are run, in the folder of the build. */
function folder(): string | undefined {
  const beside = join(import.meta.dirname, "page");
  const built = join(import.meta.dirname, "../../dist/src/simulator/page");
  return [beside, built].find((one) => existsSync(join(one, "page.js")));
}

/** One of the page's files; null when there is none of this name, or no page was built. */
export async function pageFile(name: string): Promise<Content | null> {
  const type = Object.hasOwn(contentTypes, name) ? contentTypes[name] : undefined;
  const found = type === undefined ? undefined : folder();
  if (type === undefined || found === undefined) {
    return null;
  }
  return bytesContent(type, await readFile(join(found, name)));
}
