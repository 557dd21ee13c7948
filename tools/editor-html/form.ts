import type { NumberKind } from "../../src/rules/numbers.ts";
import type { Group, Property, PropertyTable } from "../../src/properties/property-table.ts";

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
  if (property.kind === "outputs") {
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
