/** The layers of the sources, top to bottom. imports.ts checks the sources against them. */

export interface Layer {
  /** A folder of the repository, or files by their pattern. */
  readonly name: string;
  /** Which files belong to it, where the name is no folder. */
  readonly files?: RegExp;
  /** The layers below from which its files may import, besides their own layer. */
  readonly may: readonly string[];
  /** The external modules that may be imported; all of them if nothing is given. */
  readonly modules?: RegExp;
  /** What the layer is, where its name does not say it. */
  readonly note?: string;
}

/** All modules except Node-RED, because everything below src/runtime runs without it. */
const withoutNodeRed = /^(?!@?node-red)/;
const nothing = /^(?!)/;
/** Only types, because neither exists in a browser. */
const editorTypes = /^(?:node-red|@node-red\/editor-client)$/;
export const shared = "nodes/*/*.shared.ts";
const basics = ["src/model", "src/rules", "src/errors", "src/time"];
const packageFiles = "src/package";

/** Top to bottom. */
export const layers: readonly Layer[] = [
  {
    name: "nodes/*/*.editor.ts",
    files: /^nodes\/([^/]+)\/\1\.editor\.ts$/,
    may: [shared, "src/editor", "src/billing/tariffs", "src/rules"],
    modules: editorTypes,
    note: "runs in the browser; imports only its own shared file",
  },
  {
    name: "nodes/*/*.ts",
    files: /^nodes\/([^/]+)\/\1\.ts$/,
    may: [
      shared,
      "src/runtime",
      "src/device",
      "src/cloud",
      "src/evidence",
      "src/jobs",
      "src/vault",
      "src/database",
      "src/webhook",
      "src/scan",
      "src/billing",
      "src/billing/tariffs",
      "src/media",
      "src/properties",
      ...basics,
    ],
    note: "imports only its own shared file",
  },
  {
    name: shared,
    files: /^nodes\/([^/]+)\/\1\.shared\.ts$/,
    may: ["src/properties", "src/rules"],
    modules: nothing,
    note: "the saved properties as a table; also runs in the browser",
  },
  {
    name: "src/editor",
    may: ["src/properties", "src/billing/tariffs", "src/rules"],
    modules: editorTypes,
    note: "runs in the browser",
  },
  {
    name: "src/runtime",
    may: [
      "src/device",
      "src/cloud",
      "src/evidence",
      "src/access",
      "src/jobs",
      "src/vault",
      "src/database",
      "src/webhook",
      "src/scan",
      "src/billing",
      "src/billing/tariffs",
      "src/http",
      "src/media",
      "src/properties",
      packageFiles,
      ...basics,
    ],
    note: "the lowest layer that uses Node-RED",
  },
  {
    name: "src/cli",
    may: [
      "src/library",
      "src/simulator",
      "src/evidence",
      "src/jobs",
      "src/vault",
      "src/database",
      packageFiles,
      ...basics,
    ],
    modules: withoutNodeRed,
    note: "the command `dimensioner` with its verbs",
  },
  {
    name: "src/supervisor",
    may: ["src/dashboard", "src/station", "src/model"],
    modules: nothing,
    note: "the supervisor's page, example 31",
  },
  {
    name: "src/station",
    may: ["src/dashboard", "src/library", "src/model", "src/rules"],
    modules: nothing,
    note: "the packing station, example 30: its flow, the code of its Function nodes, and in `page` what runs in the browser",
  },
  {
    name: "src/dashboard",
    may: [],
    modules: withoutNodeRed,
    note: "what flows with Dashboard 2 are made with",
  },
  {
    name: "src/library",
    files: /^src\/(?:index\.ts$|library\/)/,
    may: [
      "src/device",
      "src/cloud",
      "src/evidence",
      "src/jobs",
      "src/vault",
      "src/scan",
      "src/billing",
      "src/billing/tariffs",
      "src/http",
      "src/media",
      ...basics,
    ],
    modules: withoutNodeRed,
    note: "with `src/index.ts`, the public library",
  },
  {
    name: "src/evidence",
    may: [
      "src/access",
      "src/jobs",
      "src/vault",
      "src/database",
      // A label is read as the scan node reads it, to find what was archived with the same scan.
      "src/scan",
      "src/media",
      "src/ui",
      packageFiles,
      ...basics,
    ],
    modules: withoutNodeRed,
    note: "find, hold, export and report packages; in `page` the page that shows them",
  },
  { name: "src/access", may: basics, modules: withoutNodeRed, note: "logins and sessions of pages" },
  {
    name: "src/device",
    may: ["src/http", ...basics],
    modules: withoutNodeRed,
    note: "the client of a device",
  },
  {
    name: "src/cloud",
    may: ["src/http", ...basics],
    modules: withoutNodeRed,
    note: "the client of the cloud",
  },
  {
    name: "src/jobs",
    may: ["src/vault", "src/database", "src/media", ...basics],
    modules: withoutNodeRed,
    note: "from a message to a sealed package; uses devices and the cloud only through its own interfaces",
  },
  {
    name: "src/vault",
    may: ["src/database", "src/http", "src/media", packageFiles, ...basics],
    modules: withoutNodeRed,
    note: "packages in a folder or a bucket: manifest, log, time stamps, and what keeps them",
  },
  {
    name: "src/webhook",
    may: ["src/database", ...basics],
    modules: withoutNodeRed,
    note: "takes in the cloud's records and hands them to the flow; without a store it uses no database",
  },
  {
    name: "src/database",
    may: [packageFiles, ...basics],
    modules: withoutNodeRed,
    note: "SQLite, in its own thread, and PostgreSQL",
  },
  { name: "src/scan", may: basics, modules: withoutNodeRed, note: "reads barcodes; pure functions" },
  {
    name: "src/billing",
    files: /^src\/billing\/[^/]+$/,
    may: ["src/billing/tariffs", ...basics],
    modules: nothing,
    note: "the billable weight of a measurement; pure functions",
  },
  {
    name: "src/http",
    may: ["src/media", ...basics],
    modules: withoutNodeRed,
    note: "one request on one connection; uses `src/media` to check whether a file is complete",
  },
  { name: "src/media", may: basics, modules: withoutNodeRed, note: "a stream to a file, complete or absent" },
  {
    name: "src/model",
    may: ["src/errors"],
    modules: withoutNodeRed,
    note: "the shapes of the wire and of messages",
  },
  { name: "src/errors", may: ["src/rules"], modules: nothing, note: "one error class, sentences as data" },
  {
    name: "src/properties",
    may: ["src/rules"],
    modules: nothing,
    note: "what nodes save, and its older versions; also runs in the browser",
  },
  {
    name: "src/billing/tariffs",
    may: ["src/rules"],
    modules: nothing,
    note: "carriers' rules, calculated exactly; also runs in the browser",
  },
  {
    name: "src/time",
    may: ["src/rules"],
    modules: withoutNodeRed,
    note: "waiting with a limit, the clock that nobody sets, and the clocks of others",
  },
  {
    name: "src/rules",
    may: [],
    modules: nothing,
    note: "which values are valid, how sizes are written; also runs in the browser",
  },
  {
    name: "src/simulator",
    may: ["src/ui", packageFiles],
    modules: withoutNodeRed,
    note: "independent of the clients: shared code would hide an error in both; its page alone uses `src/ui`",
  },
  {
    name: "src/ui",
    may: [],
    modules: /^preact(?:\/|$)/,
    note: "components and styles of pages; runs in the browser",
  },
  {
    name: packageFiles,
    may: [],
    modules: withoutNodeRed,
    note: "where the package's own files are, its version, and the headers of its pages",
  },
];
