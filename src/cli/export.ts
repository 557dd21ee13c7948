import { saveExport } from "../evidence/export/export-packages.ts";
import { withPackages } from "../evidence/packages.ts";
import type { PackageLookup } from "../model/archive-reports.ts";
import { languages } from "../rules/languages.ts";
import {
  databaseOption,
  defineVerb,
  namedStore,
  oneOf,
  required,
  rootsOption,
  sayBytes,
  sayCount,
  storeText,
  wholeNumber,
  withFindings,
} from "./command-line.ts";

const lookups = [
  "reference",
  "transactionId",
  "barcode",
  "packageId",
  "text",
  "size",
  "period",
  "all",
] as const satisfies readonly PackageLookup[];

export const exportPackages = defineVerb({
  name: "export",
  usage: ["STORE [--database <file>] [--by <what>] --value <text> --to <folder> [--json]"],
  description: `Exports packages of a store as a ZIP to hand over: the packages, a report for people about each of them and about all
together, the result of their verification, and the SHA-256 of every file. The packages are only read, and you can run it while Node-RED is
writing. A package that is not as it was archived is exported, too: the reports say so first. The ZIP gets its name only when it is
complete, and nothing is overwritten.

${storeText}`,
  options: {
    database: { ...databaseOption, help: `${databaseOption.help}; required without a store file` },
    by: { type: "string", choices: lookups, default: "reference", help: "what packages are looked up by" },
    value: {
      type: "string",
      value: "<text>",
      help: "what is looked up; of a size a text such as 33.5x21x12.5 cm, of a period 2026-11-22 or 7d",
    },
    to: {
      type: "string",
      value: "<folder>",
      help: "the folder in which the ZIP is saved, outside of the packages; required",
    },
    filename: {
      type: "string",
      value: "<name>",
      help: "the name of the ZIP; by default it is made of the reference",
    },
    language: { type: "string", choices: languages, default: "en-US", help: "the language of the reports" },
    claim: { type: "string", value: "<number>", help: "the number of the claim, for the reports" },
    shop: { type: "string", value: "<name>", help: "what the reports begin with: the name of your shop" },
    "shop-address": { type: "string", value: "<text>", help: "its address, on one line" },
    logo: { type: "string", value: "<file>", help: "its logo, a PNG or JPEG file of at most 512 kB" },
    "timestamp-roots": rootsOption,
    limit: { type: "string", value: "<number>", default: "100", help: "how many packages at most" },
  },
  examples: [
    "export store.json --value ORDER-1 --to /tmp",
    "export store.json --by period --value 2026-11-22 --to /tmp --limit 1000 --language de",
  ],
  exitCodes: `0 exported, and everything is as it was archived; 1 exported, and something is not as it was archived; 2 nothing was
exported; 130 stopped with Ctrl+C.`,
  async run(values, positionals, signal) {
    const { address, name, ...named } = await namedStore(positionals);
    const by = oneOf("by", lookups, values.by);
    const language = oneOf("language", languages, values.language);
    const limit = wholeNumber("limit", values.limit, 1);
    const place = {
      folder: address,
      database: required("database", values.database ?? named.database),
      operation: "export",
    };
    const target = {
      folder: required("to", values.to),
      filename: values.filename,
      ifExists: "rename",
    } as const;
    const heading = { name: values.shop ?? "", address: values["shop-address"], logo: values.logo };
    const { verdict } = await withFindings(
      { verb: "export", store: name, json: values.json === true },
      async (onFinding, onProgress) => {
        const { output, verification } = await withPackages(
          place,
          { by, value: values.value, limit },
          (vault, packages) =>
            saveExport(vault, packages, {
              language,
              target,
              timestampRoots: values["timestamp-roots"],
              heading,
              claim: values.claim,
              onProgress,
              signal,
            }),
          { roots: values["timestamp-roots"], signal },
        );
        for (const finding of verification.findings) {
          await onFinding(finding);
        }
        return { ...verification, ...output };
      },
      ({ path, bytes, sha256, packages, incomplete }) => [
        ...(incomplete > 0
          ? [`${sayCount(incomplete, "package")} incomplete: archived without all media`]
          : []),
        `${path}: ${sayCount(packages, "package")}, ${sayBytes(bytes)}: sha256 ${sha256}`,
      ],
    );
    return verdict === "ok" ? 0 : 1;
  },
});
