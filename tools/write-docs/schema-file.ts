import { toJsonSchemaDefs, type JsonSchema } from "@valibot/to-json-schema";
import type * as v from "valibot";
import { definitions, type DefinitionName } from "./messages.ts";

export type Defs = Readonly<Record<DefinitionName, JsonSchema>>;

/** The JSON Schemas, by name, of everything that this package puts on messages. */
export function messageSchemas(): Defs {
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

export function writeSchemaFile(): string {
  const file = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: "https://github.com/dimflow/node-red-dimensioner/blob/main/docs/messages.schema.json",
    title: "Messages of @dimflow/node-red-dimensioner",
    description: "What the nodes take and put on messages; messages.md says which node sends what.",
    $defs: messageSchemas(),
  };
  return JSON.stringify(file, null, 2);
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
