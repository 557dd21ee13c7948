import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join } from "node:path";
import type { Source } from "../../src/dashboard/flow-builder.ts";
import { formatSource } from "./format.ts";

const src = join(import.meta.dirname, "../../src");
const importOf = /^import (type )?[^"]*? from "(\.[^"]+)";\n/gm;
/** The comment of a type goes with the type. */
const typeComment = /\/\*\*(?:(?!\*\/)[^])*\*\/\n(?=(?:export |declare )?(?:interface|type|global)\b)/g;

/** The file of an example: its nodes, with the text of each source in its place. */
export async function writeFlow(nodes: readonly object[]): Promise<string> {
  const written = nodes.map(async (node) => {
    const properties = Object.entries<unknown>({ ...node }).map(
      async ([name, value]) => [name, isSource(value) ? await textOf(value) : value] as const,
    );
    return Object.fromEntries(await Promise.all(properties));
  });
  return JSON.stringify(await Promise.all(written));
}

function isSource(value: unknown): value is Source {
  return (
    typeof value === "object" && value !== null && ["code", "template", "text"].some((key) => key in value)
  );
}

async function textOf(source: Source): Promise<string> {
  if ("text" in source) {
    return read(source.text).trimEnd();
  }
  if ("code" in source) {
    return functionNode(source.code);
  }
  // Dashboard takes one object, not what a call returns.
  const script = withoutTypes(source.component).replace(
    /^export default component\(([^]*)\);\n*$/m,
    "export default $1;",
  );
  const styles = source.styles.map((file) => read(file).trimEnd()).join("\n\n");
  return `${read(source.template).trimEnd()}\n\n<script>\n${await format(script)}\n</script>\n\n<style>\n${styles}\n</style>`;
}

/**
 * The code of a Function node: the module and all that it imports, one below the other and without types, and at the end the call of
 * its `onMessage` or `onStart` with what Node-RED has under the names of the parameters.
 */
async function functionNode(file: string): Promise<string> {
  const modules = new Set<string>();
  addModules(file, modules);
  const code = [...modules].map((one) => withoutTypes(one).replace(/^export /gm, "")).join("\n\n");
  const names = [...code.matchAll(/^(?:function|const|let|class) (\w+)/gm)].map(([, name]) => name);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) {
    throw new Error(`Two modules of ${file} declare ${twice}, and a Function node has one scope.`);
  }
  const [, name, parameters] = /^function (onMessage|onStart)\(([^)]*)\)/m.exec(code) ?? [];
  if (name === undefined) {
    throw new Error(`${file} has neither onMessage nor onStart.`);
  }
  const call = `${name}(${parameters?.replace("_msg", "msg")});`;
  const [comment = ""] = /^(?:\/\/.*\n)*/.exec(read(file)) ?? [];
  return format(
    `${comment}\n${code.replace(comment, "")}\n\n${name === "onMessage" ? "return " : ""}${call}\n`,
  );
}

/** Adds a module behind those that it imports. */
function addModules(file: string, modules: Set<string>): void {
  for (const [, isType, specifier = ""] of read(file).matchAll(importOf)) {
    const target = join(dirname(file), specifier);
    if (isType === undefined && !modules.has(target)) {
      addModules(target, modules);
    }
  }
  modules.add(file);
}

function withoutTypes(file: string): string {
  return stripTypeScriptTypes(read(file).replace(typeComment, "")).replace(importOf, "");
}

async function format(code: string): Promise<string> {
  // What is a CommonJS module may return, as a Function node does.
  return (await formatSource(code.includes("export default") ? "page.js" : "function.cjs", code)).trimEnd();
}

function read(file: string): string {
  return readFileSync(join(src, file), "utf8");
}
