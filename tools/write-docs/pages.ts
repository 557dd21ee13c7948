import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { join } from "node:path";
import { writeErrorPage } from "./error-page.ts";
import { writeMessagePage } from "./message-page.ts";
import { writeSchemaFile } from "./schema-file.ts";

const root = join(import.meta.dirname, "../..");

/** The generated pages by their names in docs/, formatted as everything here is. */
export async function writePages(): Promise<Map<string, string>> {
  const pages = {
    "messages.schema.json": writeSchemaFile(),
    "messages.md": writeMessagePage(),
    "errors.md": writeErrorPage(),
  };
  const formatted = Object.entries(pages).map(
    async ([name, page]) => [name, await format(name, page)] as const,
  );
  return new Map(await Promise.all(formatted));
}

/** What the formatter makes of a page; it gives up by itself on one that it cannot read. */
async function format(name: string, page: string): Promise<string> {
  const formatter = join(root, "node_modules/oxfmt/bin/oxfmt");
  const child = spawn(process.execPath, [formatter, `--stdin-filepath=docs/${name}`], {
    cwd: root,
    stdio: ["pipe", "pipe", "inherit"],
    timeout: 20_000,
  });
  child.stdin.end(page);
  const written = await text(child.stdout);
  if (written === "") {
    throw new Error(`docs/${name} could not be formatted.`);
  }
  return written;
}
