import { timestampArchive } from "../library/archive.ts";
import {
  databaseOption,
  defineVerb,
  namedStore,
  required,
  rootsOption,
  sayCount,
  storeText,
  withFindings,
} from "./command-line.ts";

export const timestamp = defineVerb({
  name: "timestamp",
  usage: ["STORE --server <url> [--database <file>] [--timestamp-roots <file>] [--json]"],
  description: `Has a time stamp server (RFC 3161) sign a checkpoint of a store's log: one hash over all of its lines, and so over all packages.
The time stamp shows that they existed then, as they are, and is kept in .dimensioner-archive/timestamps. Only a SHA-256 is sent. You can
run it while Node-RED is writing.

If the server asks for a user name and a password, set the environment variables DIMENSIONER_TIMESTAMP_USER and
DIMENSIONER_TIMESTAMP_PASSWORD.

${storeText}`,
  options: {
    database: { ...databaseOption, help: `${databaseOption.help}; required without a store file` },
    server: { type: "string", value: "<url>", help: "the time stamp server; required" },
    "timestamp-roots": {
      ...rootsOption,
      help: "a PEM file with the root certificates that you trust: a time stamp of anybody else is refused",
    },
    proxy: { type: "string", value: "<url>", help: "the proxy on the way to the server" },
  },
  examples: ["timestamp store.json --server https://freetsa.org/tsr --timestamp-roots freetsa.pem"],
  exitCodes: "0 the log is time-stamped, 2 it is not, 130 stopped with Ctrl+C.",
  async run(values, positionals, signal) {
    const { address, name, database } = await namedStore(positionals);
    await withFindings(
      { verb: "timestamp", store: name, json: values.json === true },
      () =>
        timestampArchive(address, {
          database: required("database", values.database ?? database),
          server: required("server", values.server),
          roots: values["timestamp-roots"],
          proxyUrl: values.proxy,
          user: process.env["DIMENSIONER_TIMESTAMP_USER"],
          password: process.env["DIMENSIONER_TIMESTAMP_PASSWORD"],
          signal,
        }),
      ({ logSize, packages, signer, root, atUtc, location, alreadyStamped }) => {
        const checked =
          root === null
            ? "not checked against a root certificate: give --timestamp-roots"
            : `root certificate: “${root}”`;
        const state = alreadyStamped ? "was time-stamped before" : "is time-stamped";
        const first = `${sayCount(packages, "package")} for the first time`;
        return [
          `the log with ${sayCount(logSize, "line")} ${state}, ${first}: ${atUtc}, signed by “${signer}” (${checked})`,
          `kept in ${location}`,
        ];
      },
    );
    return 0;
  },
});
