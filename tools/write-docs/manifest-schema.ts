import { manifestSchema } from "../../src/vault/packages/manifest.ts";
import { jsonSchemas } from "./schema-file.ts";

/** docs/manifest.schema.json, from the schema by which manifests are read. */
export function writeManifestSchema(): string {
  const { Manifest } = jsonSchemas({ Manifest: manifestSchema }, { areClosed: true });
  const file = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: "https://github.com/dimflow/node-red-dimensioner/blob/main/docs/manifest.schema.json",
    title: "Manifest of an evidence package",
    ...Manifest,
  };
  return JSON.stringify(file, null, 2);
}
