import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { join } from "node:path";
import { writeErrorPage } from "./error-page.ts";
import { writeManifestSchema } from "./manifest-schema.ts";
import { writeMessagePage } from "./message-page.ts";
import { writeSchemaFile } from "./schema-file.ts";
import { writeMessages, writeShapes } from "./type-files.ts";

const root = join(import.meta.dirname, "../..");

/** The generated files by their paths, formatted as everything here is. */
export async function writePages(): Promise<Map<string, string>> {
  const pages = {
    "src/model/shapes.ts": writeShapes(),
    "src/library/messages.ts": writeMessages(),
    "docs/messages.schema.json": writeSchemaFile(),
    "docs/manifest.schema.json": writeManifestSchema(),
    "docs/messages.md": writeMessagePage(),
    "docs/errors.md": writeErrorPage(),
  };
  const formatted = Object.entries(pages).map(
    async ([name, page]) => [name, await format(name, page)] as const,
  );
  return new Map(await Promise.all(formatted));
}

/** What the formatter makes of a page; it gives up by itself on one that it cannot read. */
async function format(name: string, page: string): Promise<string> {
  const formatter = join(root, "node_modules/oxfmt/bin/oxfmt");
  const child = spawn(process.execPath, [formatter, `--stdin-filepath=${name}`], {
    cwd: root,
    stdio: ["pipe", "pipe", "inherit"],
    timeout: 20_000,
  });
  child.stdin.end(page);
  const written = await text(child.stdout);
  if (written === "") {
    throw new Error(`${name} could not be formatted.`);
  }
  return written;
}
