import { parse, type ObjectExpression } from "acorn";

const joined = ["computed", "methods"] as const;

/** Adds the computed properties and methods of parts to a component, because Dashboard takes one object without imports. */
export function joinComponent(component: string, parts: readonly string[]): string {
  return parts.reduce(
    (whole, part) =>
      joined.reduce((text, name) => {
        const [from, to] = [insideOf(part, name), insideOf(text, name)];
        const added = from === undefined ? "" : part.slice(from.start, from.end).trimEnd().replace(/^\n/, "");
        const at = to === undefined ? text.length : text.lastIndexOf("\n", to.end) + 1;
        return added === "" ? text : `${text.slice(0, at)}${added}\n${text.slice(at)}`;
      }, whole),
    component,
  );
}

/** Where the content of `name: { … }` is in the object that a module exports. */
function insideOf(
  source: string,
  name: string,
): { readonly start: number; readonly end: number } | undefined {
  const [statement] = parse(source, { ecmaVersion: "latest", sourceType: "module" }).body;
  if (statement?.type !== "ExportDefaultDeclaration" || statement.declaration.type !== "ObjectExpression") {
    throw new Error(`A component has to begin with "export default {": ${source.slice(0, 80)}`);
  }
  const object = objectIn(statement.declaration, name);
  return object && { start: object.start + 1, end: object.end - 1 };
}

function objectIn({ properties }: ObjectExpression, name: string): ObjectExpression | undefined {
  for (const property of properties) {
    const isIt =
      property.type === "Property" && property.key.type === "Identifier" && property.key.name === name;
    if (isIt && property.value.type === "ObjectExpression") {
      return property.value;
    }
  }
  return undefined;
}
