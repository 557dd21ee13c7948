import { writePackingStation } from "../packing-station/flow.ts";
import { writeSupervisor } from "../supervisor/flow.ts";
import { writeBillingPage } from "./billing-page.ts";
import { writeErrorPage } from "./error-page.ts";
import { formatSource } from "./format.ts";
import { writeLayerPage } from "./layer-page.ts";
import { writeManifestSchema } from "./manifest-schema.ts";
import { writeMessagePage } from "./message-page.ts";
import { writeScanPage } from "./scan-page.ts";
import { writeSchemaFile } from "./schema-file.ts";
import { writeMessages, writeShapes } from "./type-files.ts";

/** The generated files by path, formatted like all files. */
export async function writePages(): Promise<Map<string, string>> {
  const pages = {
    "src/model/shapes.ts": writeShapes(),
    "src/library/messages.ts": writeMessages(),
    "docs/messages.schema.json": writeSchemaFile(),
    "docs/manifest.schema.json": writeManifestSchema(),
    "docs/messages.md": writeMessagePage(),
    "docs/errors.md": writeErrorPage(),
    "docs/scan.md": writeScanPage(),
    "docs/billable-weight.md": writeBillingPage(),
    "docs/development/layers.md": writeLayerPage(),
    "examples/30 packing station.json": writePackingStation(),
    "examples/31 supervisor.json": writeSupervisor(),
  };
  const formatted = Object.entries(pages).map(
    async ([name, page]) => [name, await formatSource(name, page)] as const,
  );
  return new Map(await Promise.all(formatted));
}
