/**
 * Puts into dist/ what the compiler does not make, after `tsc` has made the declarations: the modules, the page that
 * Node-RED's editor loads for each node type, the pages, catalogs, help, icons, pictures and licences. `npm run build`
 * runs both.
 */
import {
  chmodSync,
  cpSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, posix } from "node:path";
import { build } from "esbuild";
import { editorHtml, forBrowsers } from "./editor-html.ts";
import { ThirdParty } from "./third-party.ts";

process.chdir(dirname(import.meta.dirname));
const {
  bin,
  exports,
  "node-red": nodeRed,
} = JSON.parse(readFileSync("package.json", "utf8")) as {
  bin: Record<string, string>;
  exports: Record<string, string | { default: string; types: string }>;
  "node-red": { nodes: Record<string, string> };
};
const thirdParty = new ThirdParty();
declarations();
await modules();
for (const name of readdirSync("nodes")) {
  mkdirSync(`dist/nodes/${name}`, { recursive: true });
  writeFileSync(`dist/nodes/${name}/${name}.html`, await editorHtml(name, [thirdParty.plugin]));
  copyTexts(`nodes/${name}/locales`);
}
// Icons that lie beside several nodes would be listed several times.
cpSync("icons", "dist/nodes/device/icons", { recursive: true });
await page("src/simulator/page");
await page("src/evidence/page/client");
copyTexts("src/evidence/page/client/texts");
writeFileSync("dist/THIRD-PARTY.txt", thirdParty.notices());
copy("src/simulator/catalogue", /\.(?:jpg|png|bmp\.gz|mp4)$/);
for (const command of Object.values(bin)) {
  chmodSync(command, 0o755);
}

/** Removes the declarations that programs with the library do not see: the compiler makes one of each module. */
function declarations(): void {
  const needed = new Set<string>();
  const need = (path: string): void => {
    if (!needed.has(path)) {
      needed.add(path);
      for (const [, to = ""] of readFileSync(path, "utf8").matchAll(
        /\b(?:from|import) ?\(?"(\.[^"]+)\.[jt]s"/g,
      )) {
        need(posix.join(posix.dirname(path), `${to}.d.ts`));
      }
    }
  };
  for (const one of Object.values(exports)) {
    if (typeof one !== "string") {
      need(posix.normalize(one.types));
    }
  }
  for (const path of globSync("dist/**/*.d.ts").filter((one) => !needed.has(one.replaceAll("\\", "/")))) {
    rmSync(path);
  }
}

/**
 * The modules of all nodes in one file, since Node-RED would need longer to find and to read 260 of them than to run them. The
 * module with which a program, a process or a thread begins keeps its path, and shares its modules with the nodes.
 */
async function modules(): Promise<void> {
  const nodes = Object.values(nodeRed.nodes).map((file) => ({ file, name: basename(file, ".js") }));
  const all = ".build/nodes.ts";
  mkdirSync(dirname(all), { recursive: true });
  writeFileSync(
    all,
    nodes
      .map(({ name }) => `export { default as ${asName(name)} } from "../nodes/${name}/${name}.ts";\n`)
      .join(""),
  );
  const entries = [
    ...Object.values(bin),
    ...Object.values(exports).flatMap((one) => (typeof one === "string" ? [] : [one.default])),
    "dist/src/evidence/evidence-thread.js",
    "dist/src/vault/hash-thread.js",
    "dist/src/database/sqlite-thread.js",
  ].map((path) => posix.relative("dist", path).replace(/\.js$/, ""));
  await build({
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node22",
    packages: "external",
    plugins: [thirdParty.plugin],
    entryPoints: [
      { in: all, out: "nodes/nodes" },
      ...entries.map((path) => ({ in: `${path}.ts`, out: path })),
    ],
    outdir: "dist",
    chunkNames: "shared/[hash]",
    // Lines and names stay, so that a stack trace can be read.
    minifySyntax: true,
  });
  for (const { file, name } of nodes) {
    writeFileSync(file, `export { ${asName(name)} as default } from "../nodes.js";\n`);
  }
}

function asName(nodeName: string): string {
  return nodeName.replaceAll("-", "_");
}

async function page(folder: string): Promise<void> {
  await build({
    ...forBrowsers,
    entryPoints: [`${folder}/page.tsx`, `${folder}/page.css`],
    outdir: `dist/${folder}`,
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    plugins: [thirdParty.plugin],
    minify: true,
  });
  copy(folder, /\.(?:html|svg)$/);
}

/** Copies a folder to the same place below dist/, with its catalogs in one line each: they are a fifth of what is installed. */
function copyTexts(folder: string): void {
  cpSync(folder, join("dist", folder), { recursive: true });
  for (const path of globSync("**/*.json", { cwd: folder })) {
    const content: unknown = JSON.parse(readFileSync(join(folder, path), "utf8"));
    writeFileSync(join("dist", folder, path), JSON.stringify(content));
  }
}

/** Copies the files of a folder whose names fit to the same place below dist/. */
function copy(folder: string, fits: RegExp): void {
  for (const name of readdirSync(folder).filter((one) => fits.test(one))) {
    cpSync(join(folder, name), join("dist", folder, name));
  }
}
