import type { JsonSchema } from "@valibot/to-json-schema";
import { libraryShapes, sent, shapes, taken, definitions } from "./messages.ts";
import { jsonSchemas } from "./schema-file.ts";

/** The comment above the generated types. */
function notice(source: string): string {
  return [
    `// Written by tools/write-docs.ts from ${source}:`,
    "// change those, not this file. Plain interfaces show those who use them fields and what they mean, and need no schema",
    "// library to compile.",
    "",
  ].join("\n");
}

/** Writes src/model/shapes.ts: the values on messages and of the library. */
export function writeShapes(): string {
  return write("the schemas beside it and in tools/write-docs/payloads.ts", {}, [
    ...Object.keys(shapes),
    ...Object.keys(libraryShapes),
  ]);
}

/** Writes src/library/messages.ts: the messages that nodes accept and send. */
export function writeMessages(): string {
  const imports = {
    "../errors/dimensioner-error.ts": ["ErrorCode", "ErrorDetails"],
    "../model/shapes.ts": Object.keys(shapes),
  };
  return write("the schemas in tools/write-docs/messages.ts", imports, [
    ...Object.keys(taken),
    ...Object.keys(sent),
  ]);
}

function write(
  source: string,
  imports: Readonly<Record<string, readonly string[]>>,
  names: readonly string[],
): string {
  const schemas: Readonly<Record<string, JsonSchema>> = jsonSchemas({ ...definitions, ...libraryShapes });
  const types = names.map((name) => typeOf(name, schemas[name] ?? {}, schemas)).join("\n");
  const lines = Object.entries(imports).map(([file, all]) => {
    const used = all.filter((name) => new RegExp(`: .*\\b${name}\\b`).test(types));
    return `import type { ${used.join(", ")} } from "${file}";`;
  });
  return [notice(source) + lines.join("\n"), types].join("\n\n");
}

function typeOf(name: string, schema: JsonSchema, schemas: Readonly<Record<string, JsonSchema>>): string {
  return `${comment(schema.description)}export interface ${name} ${spell(schema, schemas)}\n`;
}

/** Writes a schema as TypeScript. An object within an error that has no type of its own is written in its place. */
function spell(schema: JsonSchema | boolean, schemas: Readonly<Record<string, JsonSchema>>): string {
  if (typeof schema === "boolean") {
    return "unknown";
  }
  if (schema.$ref !== undefined) {
    const name = schema.$ref.replace("#/$defs/", "");
    return name === "ErrorObject" ? spell(schemas[name] ?? {}, schemas) : name;
  }
  if (schema.const !== undefined) {
    return JSON.stringify(schema.const);
  }
  if (schema.enum !== undefined) {
    return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
  }
  if (schema.anyOf !== undefined) {
    return schema.anyOf.map((one) => spell(one, schemas)).join(" | ");
  }
  if (schema.type === "array") {
    const { items = true } = schema;
    const item = spell(Array.isArray(items) ? true : items, schemas);
    return item.includes("|") ? `(${item})[]` : `${item}[]`;
  }
  if (schema.type === "object") {
    return spellObject(schema, schemas);
  }
  const types = [schema.type ?? schema.$comment ?? "unknown"].flat();
  return types.map((one) => (one === "integer" ? "number" : one)).join(" | ");
}

function spellObject(
  { properties = {}, required = [], additionalProperties }: JsonSchema,
  schemas: Readonly<Record<string, JsonSchema>>,
): string {
  const fields = Object.entries(properties).map(([name, schema]) => {
    const description = typeof schema === "object" ? schema.description : undefined;
    const mark = required.includes(name) ? "" : "?";
    return `${comment(description)}${name}${mark}: ${spell(schema, schemas)};`;
  });
  const others = additionalProperties === true ? ["[field: string]: unknown;"] : [];
  return `{\n${[...fields, ...others].join("\n")}\n}`;
}

function comment(text: string | undefined): string {
  if (text === undefined) {
    return "";
  }
  if (text.length < 100) {
    return `/** ${text} */\n`;
  }
  const lines = text.match(/.{1,110}(?: |$)/g) ?? [];
  return `/**\n${lines.map((line) => ` * ${line.trim()}\n`).join("")} */\n`;
}
