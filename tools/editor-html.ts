import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";

/** How forms write the catalog that all types share. */
const sharedMark = "shared:";
const sharedNamespace = "@dimflow/node-red-dimensioner/dimensioner-device:";

/**
 * The html that Node-RED's editor loads for one node type: its form and, inline, its script. A script of its own would
 * race with the registration of the type.
 */
export async function editorHtml(root: string, name: string): Promise<string> {
  const form = await formOf(root, name);
  const script = await scriptOf(join(root, "nodes", name, `${name}.editor.ts`));
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

/** The form with the rows that forms share put in. */
async function formOf(root: string, name: string): Promise<string> {
  const form = await readFile(join(root, "nodes", name, `${name}.editor.html`), "utf8");
  const parts = form.split(/<!-- include (rows\/[a-z-]+\.html) -->\n/);
  const whole = await Promise.all(
    parts.map(async (part, index) =>
      index % 2 === 0 ? part : readFile(join(root, "src/editor", part), "utf8"),
    ),
  );
  const text = whole.join("");
  if (text.includes("<!--") || /<\/script/i.test(text)) {
    throw new Error(
      `nodes/${name}/${name}.editor.html holds a comment or a script: neither belongs into a form`,
    );
  }
  return text.split(sharedMark).join(sharedNamespace);
}

/** The script, as written but for comments and white space: others read type, defaults and colour from it. */
async function scriptOf(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: "iife",
    platform: "browser",
    target: "es2020",
    minifyWhitespace: true,
    charset: "utf8",
    legalComments: "none",
    logLevel: "silent",
  });
  const [script] = outputFiles;
  if (script === undefined) {
    throw new Error(`${entry} gave no script`);
  }
  return script.text.split(/<(?=\/script|!--)/i).join("\\x3C");
}
