import { toJsonSchemaDefs, type JsonSchema } from "@valibot/to-json-schema";
import { definitions, type DefinitionName } from "./messages.ts";

export type Defs = Readonly<Record<DefinitionName, JsonSchema>>;

/** JSON Schemas of all that this package puts on messages, by name. */
export function jsonSchemas(): Defs {
  const options = { target: "draft-2020-12", typeMode: "output" } as const;
  const found = toJsonSchemaDefs(definitions, options);
  return Object.fromEntries(Object.entries(found).map(([name, schema]) => [name, simplify(schema)])) as Defs;
}

export function writeSchemaFile(): string {
  const file = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: "https://github.com/dimflow/node-red-dimensioner/blob/main/docs/messages.schema.json",
    title: "Messages of @dimflow/node-red-dimensioner",
    description: "What the nodes put on messages; messages.md says which node sends what.",
    $defs: jsonSchemas(),
  };
  return JSON.stringify(file, null, 2);
}

/** The same schema with "type": ["string", "null"] where a choice between plain types takes five lines. */
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
