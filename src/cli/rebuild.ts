import type { RebuildReport } from "../model/archive-reports.ts";
import { rebuildIndex } from "../vault/upkeep/upkeep.ts";
import {
  databaseOption,
  defineVerb,
  namedStore,
  required,
  sayBytes,
  sayCount,
  storeText,
  withFindings,
} from "./command-line.ts";

export const rebuild = defineVerb({
  name: "rebuild",
  usage: ["STORE [--database <file>] [--log <id>] [--json]", "STORE [--database <file>] --new-log [--json]"],
  description: `Makes the database of a store from the log beside its packages and from the packages. If the database is missing or damaged,
it creates a new one; a damaged one is renamed to <file>.damaged-<time>, and nothing is deleted. If the database is intact, its log and
its index get what they lack, and nothing else is written. A package that the log does not know, or knows otherwise, is reported and not
indexed. Packages are only read. Stop Node-RED first: the command fails while another process has
the database open. You can stop it and run it again at any time: a new database gets its name only when it is complete.

In PostgreSQL, Node-RED need not be stopped. The tables are created in the schema dimensioner, and each run adds what is missing.

${storeText}`,
  options: {
    database: { ...databaseOption, help: `${databaseOption.help}; required without a store file` },
    log: {
      type: "string",
      value: "<id>",
      help: "the store whose log is used, where several stores have one beside the packages",
    },
    "new-log": {
      type: "boolean",
      help: "begin a new log with the packages that are there, because the log is lost for good: what happened before is not known then, and verify says so",
    },
  },
  examples: ["rebuild store.json", "rebuild /srv/packages --database postgres://user@host:5432/packages"],
  exitCodes:
    "0 done, 1 some packages could not be indexed, 2 nothing could be done, 130 stopped with Ctrl+C.",
  async run(values, positionals, signal) {
    const { place, name, ...named } = await namedStore(positionals);
    const file = required("database", values.database ?? named.database);
    const { notIndexed } = await withFindings(
      { verb: "rebuild", store: name, json: values.json === true },
      async (onFinding, onProgress) => {
        const report = await rebuildIndex(place, {
          database: file,
          log: values.log,
          newLog: values["new-log"],
          signal,
          onProgress,
          onNotIndexed: ({ path, kind, problem }) =>
            onFinding({ path, kind, problem: `not indexed: ${problem}` }),
        });
        return { file, ...report };
      },
      (report) => sayReport(name, report),
    );
    return notIndexed > 0 ? 1 : 0;
  },
});

function sayReport(store: string, report: RebuildReport & { readonly file: string }): string[] {
  const { file, database, movedTo, packages, bytes, notIndexed, notes } = report;
  const said = database === "made" ? "a new database lists" : "the database lists";
  const rest = notIndexed > 0 ? `; ${notIndexed} not indexed, see above` : "";
  return [
    ...(movedTo === null ? [] : [`${file}: was damaged, and is now ${movedTo}`]),
    ...notes.map(({ path, text }) => `${path}: note: ${text}`),
    `${file}: ${said} ${sayCount(packages, "package")} (${sayBytes(bytes)}) of ${store}${rest}`,
  ];
}
