import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { build, type BuildOptions, type Plugin } from "esbuild";
import type { PropertyTable } from "../src/properties/property-table.ts";
import { writeCredentials, writeDefaults } from "./editor-html/defaults.ts";
import { writeForm } from "./editor-html/form.ts";

const root = join(import.meta.dirname, "..");

/**
 * The html that Node-RED's editor loads for one node type: its form, made from the table of its saved properties, and
 * inline its script. A script of its own would race with the registration of the type.
 */
export async function editorHtml(name: string, plugins: readonly Plugin[]): Promise<string> {
  const shared = (await import(`../nodes/${name}/${name}.shared.ts`)) as { properties: PropertyTable };
  const entry = join(root, "nodes", name, `${name}.editor.ts`);
  const source = await readFile(entry, "utf8");
  const isConfig = source.includes('category: "config"');
  const form = writeForm(shared.properties, isConfig ? "node-config-input" : "node-input");
  const literal = literally(`dimensioner-${name}`, shared.properties);
  const script = await scriptOf(entry, [literal, ...plugins]);
  const style =
    name === "device"
      ? `<style>\n${await readFile(join(root, "src/editor/form.css"), "utf8")}</style>\n\n`
      : "";
  return (
    `${style}<script type="text/html" data-template-name="dimensioner-${name}">\n` +
    `<div class="dimensioner-form">\n${form}</div>\n</script>\n\n` +
    `<script type="text/javascript">\n${script}</script>\n`
  );
}

/** Writes the saved properties into the registration, where others read them without running the script. */
function literally(type: string, properties: PropertyTable): Plugin {
  const places: readonly (readonly [string, string])[] = [
    ["editorDefaults(fields)", writeDefaults(type, properties)],
    ["editorCredentials(fields)", writeCredentials(properties)],
  ];
  return {
    name: "literal properties",
    setup({ onLoad }) {
      onLoad({ filter: /\.editor\.ts$/ }, async ({ path }) => {
        const source = await readFile(path, "utf8");
        if (!source.includes("defaults: editorDefaults(fields)")) {
          throw new Error(`${basename(path)} has no "defaults: editorDefaults(fields)"`);
        }
        const contents = places.reduce((text, [mark, literal]) => text.split(mark).join(literal), source);
        return { contents, loader: "ts" };
      });
    },
  };
}

/**
 * As written, without comments and white space: the flow library reads type, defaults and colour without running it.
 */
async function scriptOf(entry: string, plugins: Plugin[]): Promise<string> {
  const { outputFiles } = await build({
    ...forBrowsers,
    entryPoints: [entry],
    plugins,
    target: "es2020",
    minifyWhitespace: true,
    write: false,
  });
  const script = outputFiles.map(({ text }) => text).join("");
  // An inline script must not contain either.
  return script.replaceAll(/<(?=\/script|!--)/gi, "\\x3C");
}

/** How scripts are bundled for browsers. */
export const forBrowsers = {
  bundle: true,
  format: "iife",
  platform: "browser",
  charset: "utf8",
  legalComments: "none",
} as const satisfies BuildOptions;
