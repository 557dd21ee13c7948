import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { packageFolder } from "../package/package-files.ts";
import { bytesContent, type Content } from "./content.ts";

const contentTypes: Readonly<Record<string, string>> = {
  "index.html": "text/html; charset=utf-8",
  "page.css": "text/css; charset=utf-8",
  "page.js": "text/javascript; charset=utf-8",
  "icon.svg": "image/svg+xml",
  "table.svg": "image/svg+xml",
};

/** The folder of the built page, also if the sources are run; undefined if it was not built yet. */
function builtPage(): string | undefined {
  const folder = join(packageFolder(), "dist/src/simulator/page");
  return existsSync(join(folder, "page.js")) ? folder : undefined;
}

/** One of the page's files; null when there is none of this name, or no page was built. */
export async function pageFile(name: string): Promise<Content | null> {
  const type = Object.hasOwn(contentTypes, name) ? contentTypes[name] : undefined;
  const found = type === undefined ? undefined : builtPage();
  if (type === undefined || found === undefined) {
    return null;
  }
  return bytesContent(type, await readFile(join(found, name)));
}
