import type { JsonSchema } from "@valibot/to-json-schema";
import { sentMessages } from "./messages-by-node.ts";
import { shapes, type DefinitionName } from "./messages.ts";
import { messageSchemas, type Defs } from "./schema-file.ts";

/** The objects with a table of their own, in the order of the page. */
const objects = [...(Object.keys(shapes) as (keyof typeof shapes)[]), "ErrorObject", "ErrorDetails"] as const;

/** docs/messages.md, from the schemas. */
export function writeMessagePage(): string {
  const schemas = messageSchemas();
  return [
    "<!-- Written by tools/write-docs.ts from the sources: change those, not this page. -->",
    "",
    "# Messages",
    "",
    "What each node puts on a message. Whatever is not named here stays on the message as it was.",
    "[messages.schema.json](messages.schema.json) has the same as JSON Schema: each name on this page is under `$defs`",
    "there. [manifest.schema.json](manifest.schema.json) describes the `manifest.json` of an archived package.",
    "",
    "## By node",
    "",
    "| node | when | puts on the message | schema |",
    "| --- | --- | --- | --- |",
    ...sentMessages.map(
      ({ node, when, schema }) =>
        `| **${node}** | ${when} | ${listProperties(schemas, schema)} | ${schema} |`,
    ),
    "",
    "A failed measurement has the same properties with `payload.ok` false, whether it goes to the Catch node or to the second",
    "output. If a device's answer to measure cannot be used (ERR_BAD_RESPONSE, ERR_TOO_LARGE), `rawResponse` of the",
    "message with the error is that answer. With ERR_MEDIA_INCOMPLETE of **media list**, and of an **archive** node's transaction in the",
    "cloud, `payload` is the list of what has arrived there, and a measurement that was there is in `measurement`. A `payload` that",
    "**archive** needs to archive the message again stays: media, parts of a sequence, what a setting of the node reads, and a measurement",
    "where `measurement` is something else. The messages of **evidence** about what is missing, one for each item, have nothing of the parcel",
    "of the message that asked for them: neither what **archive** reads nor `error` and `resumed`.",
    "",
    "A measurement removes `billable` and `measurement`, which are of an earlier one, from the message. An error of **billable weight** removes",
    "`billable`. `scan` stays, because it is of the label.",
    ...objects.flatMap((name) => [
      "",
      `## ${name}`,
      "",
      schemas[name].description ?? "",
      "",
      ...table(schemas[name]),
    ]),
    "",
    "## Check a message against its schema",
    "",
    "Node-RED's own **JSON** node can do that. It does not know draft 2020-12, so give it one definition without `$schema`:",
    '`msg.schema = { $ref: "#/$defs/MeasureResult", $defs: schema.$defs }` in front of it, where `schema` is the content of',
    "messages.schema.json. Let it always convert to a JavaScript object: then it leaves an object as it is.",
    "In a program of your own, with [ajv](https://ajv.js.org):",
    "",
    "```js",
    'import { readFile } from "node:fs/promises";',
    'import { createRequire } from "node:module";',
    'import { Ajv2020 } from "ajv/dist/2020.js";',
    "",
    'const path = createRequire(import.meta.url).resolve("@dimflow/node-red-dimensioner/package.json");',
    'const schema = JSON.parse(await readFile(new URL("docs/messages.schema.json", `file://${path}`), "utf8"));',
    "const ajv = new Ajv2020({ allowUnionTypes: true }).addSchema(schema);",
    "const isMeasureResult = ajv.getSchema(`${schema.$id}#/$defs/MeasureResult`);",
    "console.log(isMeasureResult({ ok: true }), isMeasureResult.errors);",
    "```",
    "",
  ].join("\n");
}

function listProperties(schemas: Defs, name: DefinitionName): string {
  const { properties = {}, required = [] } = schemas[name];
  return Object.entries(properties)
    .map(([property, schema]) => {
      const type = describe(schema);
      return `\`${property}\`${required.includes(property) ? "" : " (sometimes)"}: ${type}`;
    })
    .join("<br>");
}

function table({ properties = {}, required = [] }: JsonSchema): string[] {
  return [
    "| field | type | meaning |",
    "| --- | --- | --- |",
    ...Object.entries(properties).map(([name, schema]) => {
      const { description = "" } = typeof schema === "object" ? schema : {};
      const type = describe(schema) + (required.includes(name) ? "" : ", optional");
      return `| \`${name}\` | ${type} | ${description.replaceAll("|", "\\|")} |`;
    }),
  ];
}

/** A schema's type as a reader wants it: “string or null”, “list of MediaItem”. */
function describe(schema: JsonSchema | boolean): string {
  if (typeof schema === "boolean") {
    return "any";
  }
  if (schema.$ref !== undefined) {
    const name = schema.$ref.replace("#/$defs/", "");
    if (name === "ErrorCode") {
      return "one of [its codes](errors.md)";
    }
    return `[${name}](#${name.toLowerCase()})`;
  }
  if (schema.const !== undefined) {
    return code(schema.const);
  }
  if (schema.enum !== undefined) {
    return schema.enum.map(code).join(", ");
  }
  if (schema.anyOf !== undefined) {
    return schema.anyOf.map(describe).join(" or ");
  }
  if (schema.type === "array") {
    const { items = true } = schema;
    return `list of ${Array.isArray(items) ? "any" : describe(items)}`;
  }
  if (schema.type === undefined) {
    return schema.$comment ?? "any";
  }
  return [schema.type].flat().join(" or ");
}

function code(value: unknown): string {
  return `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
}
