#!/usr/bin/env node
import { parseArgs } from "node:util";
import { print, printable, printableJson, runCommand } from "../archive/cli/cli-output.ts";
import { namedPlace, storeHelp } from "../archive/cli/named-place.ts";
import { timestampArchive } from "./timestamp.ts";

const help = `Usage: dimensioner-timestamp <folder> --database <file> --server <url> [--roots <file>] [--proxy <url>] [--json]
       dimensioner-timestamp --store <file> --server <url> [--roots <file>] [--proxy <url>] [--json]

Has a time stamp server (RFC 3161) sign the SHA-256 of the newest manifest of a store, and keeps the time stamp in
.dimensioner-archive/timestamps. As each manifest names the one before it, the time stamp shows that all packages up to
the newest one existed then, as they are. Only the SHA-256 is sent. You can run it while Node-RED is writing. Instead
of a folder, it takes a bucket: s3://bucket/prefix, as dimensioner-copy --help describes.

${storeHelp}
  --database <file>   the store's database, or the folder that contains it; required without --store
  --server <url>      the time stamp server; required
  --roots <file>      a PEM file with the root certificates that you trust: a time stamp of anybody else
                      is refused
  --proxy <url>       the proxy on the way to the server
  --json              print the result as one JSON object
  -h, --help          print this text

If the server asks for a user name and a password, set the environment variables DIMENSIONER_TIMESTAMP_USER and
DIMENSIONER_TIMESTAMP_PASSWORD.

Exit code: 0 the newest manifest is time-stamped, 2 it is not, 130 stopped with Ctrl+C.`;

async function main(signal: AbortSignal): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      store: { type: "string" },
      database: { type: "string" },
      server: { type: "string" },
      roots: { type: "string" },
      proxy: { type: "string" },
      json: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help === true) {
    await print(help);
    return;
  }
  const { address, database } = await namedPlace(positionals, values.store);
  const result = await timestampArchive(address, {
    database: required(values.database ?? database, "--database"),
    server: required(values.server, "--server"),
    roots: values.roots,
    proxyUrl: values.proxy,
    user: process.env["DIMENSIONER_TIMESTAMP_USER"],
    password: process.env["DIMENSIONER_TIMESTAMP_PASSWORD"],
    signal,
  });
  if (values.json === true) {
    await print(printableJson(result));
    return;
  }
  const { package: path, signer, root, atUtc, location, alreadyStamped } = result;
  const checked =
    root === null ? "not checked against a root certificate: give --roots" : `root certificate: “${root}”`;
  const state = alreadyStamped ? "was time-stamped before" : "is time-stamped";
  await print(printable(`${path} ${state}: ${atUtc}, signed by “${signer}” (${checked})`));
  await print(printable(`kept in ${location}`));
}

function required(value: string | undefined, name: string): string {
  if (value === undefined) {
    throw new Error(`${name} is missing. See --help.`);
  }
  return value;
}

await runCommand("dimensioner-timestamp", main);
