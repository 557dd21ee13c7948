import { toJsonSchemaDefs, type JsonSchema } from "@valibot/to-json-schema";
import type * as v from "valibot";
import { weightTable } from "../../src/model/weight-table.ts";
import { manifestSchema } from "../../src/vault/packages/manifest.ts";
import {
  definitions,
  libraryShapes,
  sent,
  shapes,
  taken,
  type DefinitionName,
} from "../../src/model/message-schemas.ts";

// The JSON Schemas, and the types that are written from them.

/** The JSON Schemas, by name, of everything that this package puts on messages. */
export function messageSchemas(): Readonly<Record<DefinitionName, JsonSchema>> {
  return jsonSchemas(definitions);
}

/** The schemas of values after they were read, by name. */
export function jsonSchemas<TName extends string>(
  schemas: Readonly<Record<TName, v.GenericSchema>>,
  { areClosed = false }: { readonly areClosed?: boolean } = {},
): Record<TName, JsonSchema> {
  const found: Readonly<Record<string, JsonSchema>> = toJsonSchemaDefs(schemas, {
    target: "draft-2020-12",
    typeMode: "output",
    overrideSchema: ({ valibotSchema, jsonSchema }) => refine(valibotSchema, jsonSchema, areClosed),
  });
  const simple = Object.entries(found).map(([name, schema]) => [name, simplify(schema)]);
  return Object.fromEntries(simple) as Record<TName, JsonSchema>;
}

/** Adds what the conversion leaves open: a field with a default always exists, and a Buffer has no JSON type. */
function refine(schema: v.GenericSchema, converted: JsonSchema, areClosed: boolean): JsonSchema | undefined {
  if (schema.type === "instance") {
    return { $comment: "Buffer" };
  }
  if (schema.type === "nullish" && converted.anyOf !== undefined) {
    // A value that was null or missing has become the default.
    const [value = true] = converted.anyOf;
    return typeof value === "object" ? value : undefined;
  }
  if (!("entries" in schema)) {
    return undefined;
  }
  const entries = Object.entries(schema.entries as v.ObjectEntries);
  const required = entries.filter(([, { type }]) => type !== "exact_optional").map(([name]) => name);
  if (schema.type === "loose_object") {
    return { ...converted, required, additionalProperties: true };
  }
  return { ...converted, required, ...(areClosed ? { additionalProperties: false } : {}) };
}

/** Writes a choice between plain types as "type": ["string", "null"], which otherwise takes five lines. */
function simplify(schema: JsonSchema): JsonSchema {
  const inner: JsonSchema = Object.fromEntries(
    Object.entries(schema).map(([word, value]) => [word, simplifyInner(value)]),
  );
  const { anyOf, ...rest } = inner;
  const types = anyOf?.map((one) =>
    typeof one === "object" && Object.keys(one).join() === "type" ? one.type : undefined,
  );
  if (types === undefined || types.includes(undefined)) {
    return inner;
  }
  const names = types.flat().filter((one) => one !== undefined);
  return { type: names, ...rest };
}

function simplifyInner(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(simplifyInner);
  }
  return typeof value === "object" && value !== null ? simplify(value) : value;
}

/** docs/messages.schema.json. */
export function writeSchemaFile(): string {
  return schemaFile("messages", {
    title: "Messages of @dimflow/node-red-dimensioner",
    description: "What the nodes take and put on messages; messages.md says which node sends what.",
    $defs: messageSchemas(),
  });
}

/** docs/manifest.schema.json, from the schema by which manifests are read. */
export function writeManifestSchema(): string {
  const { Manifest } = jsonSchemas({ Manifest: manifestSchema }, { areClosed: true });
  return schemaFile("manifest", { title: "Manifest of an evidence package", ...Manifest });
}

/** docs/weight-table.schema.json, from the schema by which tables of one's own are read. */
export function writeWeightTableSchema(): string {
  const { WeightTable } = jsonSchemas({ WeightTable: weightTable }, { areClosed: true });
  return schemaFile("weight-table", {
    title: "Table of carriers' rules for the billable weight",
    ...WeightTable,
  });
}

function schemaFile(name: string, content: object): string {
  const $schema = "https://json-schema.org/draft/2020-12/schema";
  const $id = `https://github.com/dimflow/node-red-dimensioner/blob/main/docs/${name}.schema.json`;
  return JSON.stringify({ $schema, $id, ...content }, null, 2);
}

/** Writes src/model/shapes.ts: the values on messages and of the library. */
export function writeShapes(): string {
  return write("the schemas beside it", {}, [...Object.keys(shapes), ...Object.keys(libraryShapes)]);
}

/** Writes src/library/messages.ts: the messages that nodes accept and send. */
export function writeMessages(): string {
  const imports = {
    "../errors/dimensioner-error.ts": ["ErrorCode", "ErrorDetails"],
    "../model/shapes.ts": Object.keys(shapes),
  };
  return write("the schemas in src/model/message-schemas.ts", imports, [
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
  const notice = `// Written by tools/write-docs.ts from ${source}:
// change those, not this file. Plain interfaces show those who use them fields and what they mean, and need no schema
// library to compile.`;
  return [notice, ...lines, "", types].join("\n");
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
