import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";

const folder = "src/simulator/page";
const asWritten = ["index.html", "icon.svg", "table.svg"];

/** The files of the simulator's page as browsers load them, by their path below dist/. */
export async function simulatorPage(root: string): Promise<Map<string, Buffer>> {
  const { outputFiles } = await build({
    entryPoints: ["page.ts", "page.css"].map((file) => join(root, folder, file)),
    outdir: join(root, folder),
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    platform: "browser",
    target: "es2022",
    charset: "utf8",
    legalComments: "none",
    logLevel: "silent",
  });
  const files = new Map<string, Buffer>();
  for (const { path, contents } of outputFiles) {
    files.set(`${folder}/page${path.slice(path.lastIndexOf("."))}`, Buffer.from(contents));
  }
  for (const file of asWritten) {
    files.set(`${folder}/${file}`, await readFile(join(root, folder, file)));
  }
  return files;
}
