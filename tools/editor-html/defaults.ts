import { currentVersion } from "../../src/properties/migrations.ts";
import { newValuesOf, type Property, type PropertyTable } from "../../src/properties/property-table.ts";

/**
 * The `defaults` of a type's registration as source text, each property with its value: the flow library and the scorecard
 * read them from the page. The functions that check them are in src/editor/fields.ts.
 */
export function writeDefaults(type: string, table: PropertyTable): string {
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
export function writeCredentials(table: PropertyTable): string {
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
