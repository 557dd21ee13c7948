import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { build, type BuildOptions, type Plugin } from "esbuild";
import { currentVersion } from "../src/properties/migrations.ts";
import {
  newValuesOf,
  type Group,
  type Property,
  type PropertyTable,
} from "../src/properties/property-table.ts";
import type { NumberKind } from "../src/rules/numbers.ts";

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

/**
 * The `defaults` of a type's registration as source text, each property with its value: the flow library and the scorecard
 * read them from the page. The functions that check them are in src/editor/fields.ts.
 */
function writeDefaults(type: string, table: PropertyTable): string {
  const values = newValuesOf(table);
  const entries = Object.entries(table).flatMap(([name, property]) => {
    const value = JSON.stringify(values[name]);
    switch (property.kind) {
      case "credential":
        return [];
      case "outputs":
        return [`${name}: { value: 1 }`];
      case "typed":
        return [
          `${name}: { value: ${value}, ${checked(name)} }`,
          `${name}Type: { value: ${JSON.stringify(values[`${name}Type`])} }`,
        ];
      case "config":
        return [
          `${name}: { value: ${value}, type: ${JSON.stringify(property.of)}, ${chosen(name, property)} }`,
        ];
      default:
        return [
          isFree(property)
            ? `${name}: { value: ${value} }`
            : `${name}: { value: ${value}, ${checked(name)} }`,
        ];
    }
  });
  return `{ version: { value: ${currentVersion(type)}, ${versionCheck} }, ${entries.join(", ")} }`;
}

/** The `credentials` of a type's registration; the editor sees the value of a list, and what is shown. */
function writeCredentials(table: PropertyTable): string {
  const entries = Object.entries(table).flatMap(([name, property]) => {
    if (property.kind !== "credential") {
      return [];
    }
    const type = property.isList === true || property.isShown === true ? "text" : "password";
    return [`${name}: { type: "${type}", ${checked(name)} }`];
  });
  return `{ ${entries.join(", ")} }`;
}

/** Whether any value will do. */
function isFree(property: Property): boolean {
  return property.kind === "text" && property.rule === undefined && property.required === undefined;
}

/** The editor itself checks a config node that is optional. */
function chosen(name: string, { from }: { readonly from?: string }): string {
  return from === undefined ? `required: false, ${labelled(name)}` : checked(name);
}

/**
 * The label is looked up when it is needed: after an installation, the shared catalog may arrive later than this type's
 * script.
 */
function labelled(name: string): string {
  return `get label() { return fields.label("${name}"); }`;
}

// By the two declared arguments the editor knows that a string is the reason why the value is not valid.

function checked(name: string): string {
  return `${labelled(name)}, validate(value, options) { return fields.check(this, "${name}", value, options); }`;
}

/** Every type has a version without a field in the dialog: problems of the whole node are reported here. */
const versionCheck = "validate(value, _options) { return fields.checkNode(this, value); }";

/** The prefix of shared keys in tables and scripts, and in forms. */
const sharedMark = "shared:";
const sharedNamespace = "@dimflow/node-red-dimensioner/dimensioner-device:";
/** Whose keypad needs no decimal separator. */
const wholeNumbers: ReadonlySet<NumberKind> = new Set(["amount", "count", "port"]);
const advanced: Group = { legend: "shared:common.group.advanced" };

/** The form of a type, a row for each saved property in the order of the table. */
export function writeForm(table: PropertyTable, prefix: "node-input" | "node-config-input"): string {
  const rows = Object.entries(table).map(([name, property]) => ({
    property,
    html: rowOf(`${prefix}-${name}`, name, property),
  }));
  const main = rows.filter(({ property }) => !property.isAdvanced);
  const folded = rows.filter(({ property }) => property.isAdvanced);
  const groups: { group: Group | undefined; rows: string[] }[] = [];
  for (const { property, html } of main) {
    const last = groups.at(-1);
    if (last !== undefined && last.group === property.group) {
      last.rows.push(html);
    } else {
      groups.push({ group: property.group, rows: [html] });
    }
  }
  const framed = groups.map(({ group, rows: inner }) => frame(group, inner.join("")));
  const fold =
    folded.length === 0
      ? ""
      : `<details class="dimensioner-advanced">\n<summary${text(advanced.legend)}></summary>\n` +
        `${folded.map(({ html }) => html).join("")}</details>\n`;
  return framed.join("") + fold;
}

function frame(group: Group | undefined, rows: string): string {
  if (group === undefined) {
    return rows;
  }
  const note = group.note === undefined ? "" : `<div class="dimensioner-note"${text(group.note)}></div>\n`;
  return `<fieldset>\n<legend${text(group.legend)}></legend>\n${note}${rows}</fieldset>\n`;
}

function rowOf(id: string, name: string, property: Property): string {
  if (property.kind === "outputs" || (property.kind === "text" && property.isHidden === true)) {
    return `<input type="hidden" id="${id}" />\n`;
  }
  const label = text(property.label ?? `label.${name}`);
  const note =
    property.note === undefined ? "" : `<div class="dimensioner-note"${text(property.note)}></div>`;
  if (property.kind === "flag") {
    const box = `<label class="dimensioner-check"><input type="checkbox" id="${id}" /> <span${label}></span></label>`;
    return row(`<div class="dimensioner-spacer"></div>`, box + note);
  }
  const icon =
    property.icon === undefined ? "" : `<i class="fa fa-${property.icon}" aria-hidden="true"></i> `;
  const head = `<label for="${id}">${icon}<span${label}></span></label>`;
  return row(head, controlOf(id, name, property) + note) + tipsOf(property);
}

function row(head: string, cell: string): string {
  return `<div class="form-row">\n${head}\n<div class="dimensioner-field">${cell}</div>\n</div>\n`;
}

function controlOf(id: string, name: string, property: Property): string {
  const placeholder = placeholderOf(property);
  switch (property.kind) {
    case "choice": {
      const options = property.of.map(
        (choice) => `<option value="${choice}"${text(`${property.texts ?? name}.${choice}`)}></option>`,
      );
      return `<select id="${id}">${options.join("")}</select>`;
    }
    case "number": {
      const keys = wholeNumbers.has(property.of) ? "numeric" : "decimal";
      const shown = property.ifBlank ?? property.default;
      return `<input type="text" inputmode="${keys}" id="${id}" class="dimensioner-number" placeholder="${shown}" />`;
    }
    case "typed":
      return (
        `<input type="text" id="${id}" style="width: 100%"${placeholder} />` +
        `<input type="hidden" id="${id}Type" />`
      );
    case "credential":
      if (property.isList === true) {
        return `<input type="hidden" id="${id}" /><div class="dimensioner-list"></div>`;
      }
      return `<input type="${property.isShown === true ? "text" : "password"}" id="${id}"${placeholder} />`;
    default:
      return `<input type="text" id="${id}" style="width: 100%"${placeholder} />`;
  }
}

function placeholderOf({ placeholder }: Property): string {
  if (placeholder === undefined) {
    return "";
  }
  return typeof placeholder === "string"
    ? text(placeholder, "[placeholder]")
    : ` placeholder="${placeholder.text}"`;
}

/** The tips of a property, one below the row for each choice; the dialog shows that of the selected choice. */
function tipsOf(property: Property): string {
  if (property.kind !== "choice" || property.tips === undefined) {
    return "";
  }
  const { key, of } = property.tips;
  return of
    .map(
      (choice) =>
        `<div class="form-row dimensioner-tip" data-choice="${choice}">` +
        `<div class="form-tips"${text(`${key}.${choice}`)}></div></div>\n`,
    )
    .join("");
}

/** The attribute by which the editor inserts a text. */
function text(key: string, attribute = ""): string {
  const name = key.startsWith(sharedMark) ? sharedNamespace + key.slice(sharedMark.length) : key;
  return ` data-i18n="${attribute}${name}"`;
}
