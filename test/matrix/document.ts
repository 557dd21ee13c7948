import { type ErrorCode, errorCodes } from "../../src/errors/dimensioner-error.ts";
import { failedTexts } from "../../src/runtime/status/node-status.ts";
import { type ChosenRow, chosen } from "./chosen-rows.ts";
import { groupsOf } from "./document-rows.ts";
import { type Expected, expectedOf } from "./expected.ts";
import { endingOf } from "./row.ts";
import { operations } from "./sources.ts";
import { attacks } from "./tables/attacks.ts";
import { type DiskRow, disk } from "./tables/disk.ts";
import { type Family, families } from "./tables/index.ts";
import { type OtherTest, otherTests } from "./tables/other-tests.ts";
import { type Scenario, concurrency, redeploys } from "./tables/scenarios.ts";

/** docs/faults.md, from the tables that the tests run. */
export function renderFaults(): string {
  const total = chosen.map(expectedOfBoth).reduce(sum);
  const parts = [
    head(total),
    ...families.map(renderFamily),
    renderScenarios("Many messages at once", concurrency),
    renderScenarios("Deploying in the middle", redeploys),
    renderDisk(),
    renderTests("Attacks", attacks),
    `${renderTests("More", otherTests)}

To see a fault in your own flow, let the [simulator](simulator.md#faults) cause it.`,
  ];
  return `${parts.join("\n\n")}\n`;
}

function head(total: Expected): string {
  const rows = chosen.length + Object.keys({ ...concurrency, ...redeploys, ...disk }).length;
  const codes = usedCodes().map(
    (code) => `| ${failedTexts[code]} | [${code}](errors.md#${code.toLowerCase()}) |`,
  );
  return `<!-- Written by tools/write-faults.ts from the tables in test/matrix: change those, not this page. -->

# Faults

This page lists faults of the network, the devices, the cloud and the disk, what the node reports for each, and what to do. Every row
is tested with every operation that it can affect: with the clients, into a buffer and into a file, and again with the nodes
in a real Node-RED. The [simulator](simulator.md) counts requests at its socket, and the actions of its devices.

**${rows} rows, ${count(total.tried)} calls and messages, ${requestsOf(total)} requests, ${count(total.acts)} actions of a device.**
Each call and each message ended exactly once, no command was sent twice, all ${count(total.whole)} saved files are complete, and
no partial file was left. The worst faults also run in a Node-RED process that any unhandled error would end. It never
ended. ${Object.keys(attacks).length} [attacks](#attacks) have separate tests.

How to read the tables:

- _command_ is a measure or a video start, stop or cancel, local or through the cloud; _reading_ is a list or a ping;
  _download_ is an image or a video.
- _executed_ says whether the device executed the command. After _perhaps_ nothing is repeated automatically:
  check the device before you send the command again. \`msg.error.cause.outcome\` has the same information
  ([its four values](errors.md)).
- _send again_: sending the same message again is safe and may help (\`cause.retryable\`). _correct it_: correct the cause first.
- The last column counts calls and messages, then the requests that they made, then the actions of the devices.

| status of the node | code at the Catch node |
| --- | --- |
${codes.join("\n")}`.replace(table, unpadded);
}

/** Tables stay as they are: padded they would be twice as long. */
const table = /(?:^\|.*\n?)+/gm;
const unpadded = (rows: string): string =>
  `<!-- prettier-ignore-start -->\n${rows.trimEnd()}\n<!-- prettier-ignore-end -->`;

function usedCodes(): ErrorCode[] {
  const used = new Set<string>(["ERR_QUEUE_FULL", "ERR_EXPIRED", "ERR_CANCELLED", "ERR_FILE", "ERR_INPUT"]);
  for (const { row } of chosen) {
    operations.forEach((operation) => used.add(endingOf(row, operation)?.code ?? ""));
  }
  return errorCodes.filter((code) => used.has(code));
}

function renderFamily(family: Family): string {
  const byText = new Map<string, ChosenRow[]>();
  for (const one of chosen.filter((any) => any.family === family)) {
    const groups = groupsOf(one.row, operations);
    const column = (pick: (group: (typeof groups)[number]) => string): string =>
      groups.map(pick).join("<br>");
    const text = [
      column(({ who, says }) => `${who}: ${says}`),
      column(({ executed }) => executed),
      column(({ advice }) => advice),
    ].join(" | ");
    byText.set(text, [...(byText.get(text) ?? []), one]);
  }
  const lines = [...byText].map(([text, some]) => {
    const counts = some.map(expectedOfBoth).reduce(sum);
    return `| ${joinStatuses(some.map(({ name }) => name)).join("<br>")} | ${text} | ${count(counts.tried)} / ${requestsOf(counts)} / ${count(counts.acts)} |`;
  });
  const header =
    "| what happens | the node reports | executed | what to do | calls / requests / actions |\n| --- | --- | --- | --- | --- |";
  const archive = archiveOf(family);
  return `## ${family.title}\n\n${unpadded(`${header}\n${lines.join("\n")}`)}${archive}`;
}

/** Names that differ only in the status become one: "status 405, 409". */
function joinStatuses(all: readonly string[]): string[] {
  const names = new Map<string, string[]>();
  for (const name of all) {
    const [, status, rest] = /^status (\d+)(.*)$/.exec(name) ?? [];
    const key = status === undefined ? name : `status …${rest}`;
    names.set(key, [...(names.get(key) ?? []), ...(status === undefined ? [] : [status])]);
  }
  return [...names].map(([key, statuses]) => key.replace("…", statuses.join(", ")));
}

/** How an archive job behaves under these faults. */
function archiveOf({ rows }: Family): string {
  const media = operations.find(({ operation }) => operation === "media");
  const met = Object.entries(rows).flatMap(([name, row]) => {
    const ending = media === undefined ? undefined : endingOf(row, media);
    return ending?.code === undefined ? [] : [{ name, archive: ending.archive }];
  });
  const missing = met.filter(({ archive }) => archive !== "goes on").map(({ name }) => name);
  if (met.length === 0) {
    return "";
  }
  const except =
    missing.length === 0 ? "" : ` The medium counts as missing at: ${joinStatuses(missing).join(", ")}.`;
  return `\n\nAn archive job stays open during these faults of a download and continues by itself afterwards.${except}`;
}

function renderScenarios(title: string, scenarios: Readonly<Record<string, Scenario>>): string {
  const lines = Object.entries(scenarios).map(([name, scenario]) => {
    const { well = 0, failed = {}, requests, acts, says } = scenario;
    const asked = typeof requests === "number" ? requests : requests.length;
    const ends = [
      ...(well > 0 ? [`${well} well`] : []),
      ...Object.entries(failed).flatMap(([code, some]) =>
        [some].flat().map((one) => {
          const text = failedTexts[code as ErrorCode];
          return `${one.count} ${text}${one.outcome === undefined ? "" : ` (\`${one.outcome}\`)`}`;
        }),
      ),
    ].join("<br>");
    return `| ${name} | ${ends} | ${says} | ${asked} / ${acts} |`;
  });
  const header = "| what happens | messages end | result | requests / actions |\n| --- | --- | --- | --- |";
  return `## ${title}\n\n${unpadded(`${header}\n${lines.join("\n")}`)}`;
}

function renderDisk(): string {
  const lines = Object.entries(disk)
    .filter(([, { code }]) => code !== undefined)
    .map(([name, { code, retryable = false, requests = 1 }]) => {
      const says = code === undefined ? "" : failedTexts[code];
      const advice = retryable ? "remove the cause, send again" : "correct it, send again";
      return `| ${shown(name)} | ${says} | ${requests === 0 ? "no" : "yes"} | ${advice} |`;
    });
  const header = "| what happens | the node reports | requested | what to do |\n| --- | --- | --- | --- |";
  const saved = Object.entries(disk)
    .filter((entry): entry is [string, DiskRow & { saved: string }] => entry[1].saved !== undefined)
    .map(([name, row]) => `| ${shown(name)} | \`${shortened(row.saved)}\` |`);
  const places = "| requested name | saved as |\n| --- | --- |";
  return `## Disks and names

In every case a file under its final name is complete and checked, and no partial file is left.

${unpadded(`${header}\n${lines.join("\n")}`)}

Names are made safe where possible. Existing files are changed only with _replace_, and identical content is never
written twice.

${unpadded(`${places}\n${saved.join("\n")}`)}`;
}

const shown = (name: string): string => name.replace(/(\S*[\\/]\S*)( in the middle)?$/, "`$1`$2");
const shortened = (name: string): string =>
  name.length > 60 ? `${name.slice(0, 6)}…${name.slice(-6)}` : name;

/** What is tried in tests of its own. */
function renderTests(heading: string, tests: Readonly<Record<string, OtherTest>>): string {
  const lines = Object.entries(tests).map(([name, { holds, file }]) => `| ${name} | ${holds} | ${file} |`);
  const header = "| what happens | result | tested in test/ |\n| --- | --- | --- |";
  return `## ${heading}

${unpadded(`${header}\n${lines.join("\n")}`)}`;
}

const count = (amount: number): string => amount.toLocaleString("en-US");

function expectedOfBoth({ row, nodes }: ChosenRow): Expected {
  return sum(expectedOf(row, operations), expectedOf(row, nodes));
}

function sum(one: Expected, other: Expected): Expected {
  return {
    tried: one.tried + other.tried,
    fewestRequests: one.fewestRequests + other.fewestRequests,
    mostRequests: one.mostRequests + other.mostRequests,
    acts: one.acts + other.acts,
    ended: one.ended + other.ended,
    whole: one.whole + other.whole,
  };
}

/** Where a wait decides how often is asked, from the fewest to the most. */
function requestsOf({ fewestRequests, mostRequests }: Expected): string {
  const [fewest, most] = [count(fewestRequests), count(mostRequests)];
  return fewest === most ? fewest : `${fewest} to ${most}`;
}
