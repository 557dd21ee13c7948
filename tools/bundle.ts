/**
 * Puts into dist/ what the compiler does not make, after `tsc -b`: the page that Node-RED's editor loads for each node
 * type, the simulator's page, catalogs, help, icons and pictures. `npm run build` runs both.
 */
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { build, type BuildOptions } from "esbuild";

/** How forms write the catalog that all types share. */
const sharedMark = "shared:";
const sharedNamespace = "@dimflow/node-red-dimensioner/dimensioner-device:";

process.chdir(dirname(import.meta.dirname));
for (const name of readdirSync("nodes")) {
  mkdirSync(`dist/nodes/${name}`, { recursive: true });
  writeFileSync(`dist/nodes/${name}/${name}.html`, await editorHtml(name));
  cpSync(`nodes/${name}/locales`, `dist/nodes/${name}/locales`, { recursive: true });
}
// Beside more than one node, each icon would be listed more than once.
cpSync("icons", "dist/nodes/device/icons", { recursive: true });
await simulatorPage();
copy("src/simulator/catalogue", /\.(?:jpg|bmp\.gz|mp4)$/);
const { bin } = JSON.parse(readFileSync("package.json", "utf8")) as { bin: Record<string, string> };
for (const command of Object.values(bin)) {
  chmodSync(command, 0o755);
}

/** The form and, inline, its script: a script of its own would race with the registration of the type. */
async function editorHtml(name: string): Promise<string> {
  const style =
    name === "device" ? `<style>\n${readFileSync("src/editor/form.css", "utf8")}</style>\n\n` : "";
  return (
    `${style}<script type="text/html" data-template-name="dimensioner-${name}">\n` +
    `<div class="dimensioner-form">\n${editorForm(name)}</div>\n</script>\n\n` +
    `<script type="text/javascript">\n${await editorScript(name)}</script>\n`
  );
}

/** The form with the rows that forms share put in. */
function editorForm(name: string): string {
  const path = `nodes/${name}/${name}.editor.html`;
  const form = readFileSync(path, "utf8").replaceAll(
    /<!-- include (rows\/[a-z-]+\.html) -->\n/g,
    (_, row: string) => readFileSync(join("src/editor", row), "utf8"),
  );
  if (form.includes("<!--") || /<\/script/i.test(form)) {
    throw new Error(`${path} holds a comment or a script: neither belongs into a form`);
  }
  return form.replaceAll(sharedMark, sharedNamespace);
}

/** As written but for comments and white space: the flow library reads type, defaults and colour without running it. */
async function editorScript(name: string): Promise<string> {
  const [script = ""] = await bundle({
    entryPoints: [`nodes/${name}/${name}.editor.ts`],
    target: "es2020",
    minifyWhitespace: true,
    write: false,
  });
  // Neither may stand in an inline script.
  return script.replaceAll(/<(?=\/script|!--)/gi, "\\x3C");
}

async function simulatorPage(): Promise<void> {
  await bundle({
    entryPoints: ["src/simulator/page/page.ts", "src/simulator/page/page.css"],
    outdir: "dist/src/simulator/page",
    target: "es2022",
    minify: true,
  });
  copy("src/simulator/page", /\.(?:html|svg)$/);
}

/** Bundles for browsers; gives the texts of what it has not written. */
async function bundle(options: BuildOptions): Promise<string[]> {
  const { outputFiles = [] } = await build({
    bundle: true,
    format: "iife",
    platform: "browser",
    charset: "utf8",
    legalComments: "none",
    ...options,
  });
  return outputFiles.map(({ text }) => text);
}

/** Copies the files of a folder whose names fit to the same place below dist/. */
function copy(folder: string, fits: RegExp): void {
  for (const name of readdirSync(folder).filter((one) => fits.test(one))) {
    cpSync(join(folder, name), join("dist", folder, name));
  }
}
