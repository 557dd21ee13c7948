/**
 * Puts into dist/ what the compiler does not make, after `tsc -b`: the page that Node-RED's editor loads for each node
 * type, the simulator's page, catalogs, help, icons and pictures. `npm run build` runs both.
 */
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import { editorHtml, forBrowsers } from "./editor-html.ts";

process.chdir(dirname(import.meta.dirname));
for (const name of readdirSync("nodes")) {
  mkdirSync(`dist/nodes/${name}`, { recursive: true });
  writeFileSync(`dist/nodes/${name}/${name}.html`, await editorHtml(name));
  cpSync(`nodes/${name}/locales`, `dist/nodes/${name}/locales`, { recursive: true });
}
// Beside more than one node, each icon would be listed more than once.
cpSync("icons", "dist/nodes/device/icons", { recursive: true });
await simulatorPage();
copy("src/simulator/catalogue", /\.(?:jpg|png|bmp\.gz|mp4)$/);
const { bin } = JSON.parse(readFileSync("package.json", "utf8")) as { bin: Record<string, string> };
for (const command of Object.values(bin)) {
  chmodSync(command, 0o755);
}

async function simulatorPage(): Promise<void> {
  await build({
    ...forBrowsers,
    entryPoints: ["src/simulator/page/page.ts", "src/simulator/page/page.css"],
    outdir: "dist/src/simulator/page",
    target: "es2022",
    minify: true,
  });
  copy("src/simulator/page", /\.(?:html|svg)$/);
}

/** Copies the files of a folder whose names fit to the same place below dist/. */
function copy(folder: string, fits: RegExp): void {
  for (const name of readdirSync(folder).filter((one) => fits.test(one))) {
    cpSync(join(folder, name), join("dist", folder, name));
  }
}
