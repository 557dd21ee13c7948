import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Results } from "../results.ts";
import { callsSection } from "./calls.ts";
import { downloadsSection } from "./downloads.ts";
import {
  codesSection,
  devicesSection,
  jobSection,
  jobsSection,
  loadSection,
  logSection,
  scanSection,
  searchSection,
  togetherSection,
  verifySection,
  yearsSection,
} from "./others.ts";
import { table } from "./table.ts";
import { targets } from "./targets.ts";

const introduction = `# Benchmarks

\`npm run bench\` generates this page from \`bench/results.json\`. The contenders take turns in the same Node-RED. The server
is a separate process on the same cores. Every figure is the median of interleaved rounds. Compare the ratios: absolute
figures depend on the computer. 1 MB is 1,000,000 bytes. The versions below are those that were measured.

![Calls per second and seconds per download, compared with the core nodes and curl.](benchmarks.svg)`;

/** The page docs/benchmarks.md. */
export function writeReport(results: Results): string {
  const { parts } = results;
  const sections = [
    introduction,
    machineSection(results),
    targetsSection(results),
    parts.calls && section("Calls", parts.calls.on, callsText, callsSection(parts.calls.rows)),
    parts.downloads &&
      section(
        "Downloads to a file",
        parts.downloads.on,
        downloadsText,
        downloadsSection(parts.downloads.rows),
      ),
    parts.together &&
      section(
        "Videos while records arrive",
        parts.together.on,
        togetherText,
        togetherSection(parts.together.rows),
      ),
    parts.scan && section("From scan to archive", parts.scan.on, scanText, scanSection(parts.scan.rows)),
    parts.codes && section("Reading codes", parts.codes.on, codesText, codesSection(parts.codes.rows)),
    parts.devices &&
      section("Many devices", parts.devices.on, devicesText, devicesSection(parts.devices.rows)),
    parts.jobs && section("Many archive jobs", parts.jobs.on, jobsText, jobsSection(parts.jobs.rows)),
    parts.job && section("A job and a bare script", parts.job.on, jobText(), jobSection(parts.job.rows)),
    parts.verify && section("Verification", parts.verify.on, verifyText, verifySection(parts.verify.rows)),
    parts.log && section("The log of a store", parts.log.on, logText, logSection(parts.log.rows)),
    parts.search && section("Search", parts.search.on, searchText, searchSection(parts.search.rows)),
    parts.years && section("After years", parts.years.on, yearsText, yearsSection(parts.years.rows)),
    parts.load && section("Load and size", parts.load.on, loadText, loadSection(parts.load.rows)),
    readFileSync(join(import.meta.dirname, "notes.md"), "utf8").trim(),
  ];
  return `${sections.filter((one) => one !== undefined).join("\n\n")}\n`;
}

const callsText = `**media-list** requests a list of four media from the cloud, **measure** one result from a device. A device executes one command
at a time, so sixteen measures in flight need sixteen devices. _Core_ is the core http request node with keep-alive connections and
JSON parsing. _undici_ is its \`request()\` and \`JSON.parse\` in a loop in the same process, without a node: the upper limit.`;

const downloadsText = `From the server to a file on the local disk. This package checks, hashes (SHA-256) and syncs each file before it
gets its name; the core nodes and \`curl -o\` do not. Memory is the peak resident memory above that of an idle Node-RED.`;

const togetherText = `Videos are archived, as fast as the server sends them, while the cloud's webhook posts records at a fixed rate. Each record is stored
in the database, answered and passed to the flow. How late the event loop is shows how long everything else in Node-RED has to wait.`;

const scanText = `The example “02 cloud - scan to archive”, with a simulator that measures and uploads without delay: start the video, measure, and archive
all media of the transaction as one package. The parcels are processed one after the other. The time is from the scan until the package
is sealed; all of it is overhead.`;

const codesText = `\`readScan()\` of the library, called with what a scanner sends for one code. Processor time of one core, the best of ten rounds;
the target is 200,000 scans a second for each kind.`;

const devicesText = `One measure node takes the device's name from the message. Heap is the memory that each device adds to an idle Node-RED,
before and after its first use. All devices are called in turn, sixteen at a time. _undici alone_ makes the same
calls in the same process, without a node. _of 16_ is the ratio to the calls with sixteen devices.`;

const jobsText = `All jobs are sent to one archive node at once, each with four media of 40 kB. A job is finished when its package is
complete, hashed, synced and recorded in the store's database. _All waiting_ is the memory above idle when the cloud has no media for
any of the jobs yet.`;

/** With the source of the script. */
function jobText(): string {
  const source = readFileSync(join(import.meta.dirname, "..", "bare-job.ts"), "utf8").trim();
  return `Transactions with two media of 105 kB and a measurement, in turn with this script, which hashes and syncs the same files and promises
nothing: it has no database, and what a kill leaves of it is left. Compare the ratios.

\`\`\`ts
${source}
\`\`\``;
}

const yearsText = `An archive that was filled by jobs with two media of 2 kB and a measurement each. _One more_ is archived after all others, one after the
other. _Newest_ and _search_ look up 25 packages in the index. Verify, prune and rebuild are processor time of a command of its own. A
million is calculated: each further package costs what those between the last two sizes have cost.`;

const verifyText = `\`dimensioner verify\` reads packages with a video and four pictures each, in turn with \`sha256sum\`, which uses one core. The files are
in the system's cache. Verify also compares manifests, the chain and what lies in the folders.`;

const logText = `The log in an SQLite database. _One more_ is a line in a transaction of its own, with its sync. A root is what a checkpoint and a time stamp
are made of: the first one reads all lines, and keeps the roots of blocks of them. A proof leads from any line to the root, for an export or
the verification of one package.`;
const searchText = `The newest 25 packages of a search are looked up in the index of a store, as for the evidence page, which then reads their manifests.`;

const loadText = `The time that a package adds when Node-RED loads its node types, and the size of what \`npm install\` installs.`;

function section(title: string, on: string, text: string, tables: string): string {
  return `## ${title}\n\n${text}\n\nMeasured on ${on}.\n\n${tables}`;
}

function machineSection({ machine }: Results): string {
  const { cpu, cores, memoryGb, os, versions } = machine;
  const facts = [
    `Processor: ${cpu}, ${cores} cores`,
    `Memory: ${memoryGb} GB`,
    `System: ${os}`,
    ...Object.entries(versions).map(([name, version]) => `${name}: ${version}`),
  ];
  return `## Test environment\n\n${facts.map((fact) => `- ${fact}`).join("\n")}`;
}

function targetsSection(results: Results): string {
  const rows = targets(results).map(({ runtime, what, wanted, got, isReached }) => [
    `${what} (${runtime.replace(/ on .*/, "")})`,
    wanted,
    got,
    isReached ? "yes" : "**no**",
  ]);
  return `## Targets\n\n${table(["target", "required", "measured", "reached"], rows)}`;
}
