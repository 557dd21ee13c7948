import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

/** Formats the content of a file; the formatter fails by itself if it cannot read it. */
export async function formatSource(name: string, source: string): Promise<string> {
  const formatter = join(root, "node_modules/oxfmt/bin/oxfmt");
  const child = spawn(process.execPath, [formatter, `--stdin-filepath=${name}`], {
    cwd: root,
    stdio: ["pipe", "pipe", "inherit"],
    timeout: 20_000,
  });
  child.stdin.end(source);
  const written = await text(child.stdout);
  if (written === "") {
    throw new Error(`${name} could not be formatted.`);
  }
  return written;
}
