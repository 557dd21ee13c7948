/** Exports all packages of an archive in each language, and sends the SHA-256 of each ZIP:  export-child.ts <archive> <folder> */
import { saveExport } from "../../src/evidence/export/export-packages.ts";
import { withPackages } from "../../src/evidence/packages.ts";
import { languages } from "../../src/rules/languages.ts";
import { databaseOf } from "./store.ts";

const [, , root = "", to = ""] = process.argv;
const place = { folder: root, database: databaseOf(root), operation: "export" };
const hashes: Record<string, string> = {};
await withPackages(place, { by: "all", limit: 100 }, async (vault, packages) => {
  for (const language of languages) {
    const { output } = await saveExport(vault, packages, {
      language,
      target: { folder: to, filename: `${language}.zip`, ifExists: "rename" },
      signal: undefined,
      onProgress: () => undefined,
      now: () => new Date("2026-11-22T10:00:00Z"),
    });
    hashes[language] = output.sha256;
  }
});
console.log(JSON.stringify(hashes));
