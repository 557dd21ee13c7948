import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Results } from "../results.ts";
import { callsSection } from "./calls.ts";
import { downloadsSection } from "./downloads.ts";
import { devicesSection, jobsSection, loadSection, scanSection } from "./others.ts";
import { table } from "./table.ts";
import { targets } from "./targets.ts";

const introduction = `# Benchmarks

Written by \`npm run bench\` from \`bench/results.json\`. The contenders take turns in the same Node-RED, the server
is a process of its own, and every figure is the median of interleaved rounds. Ratios hold from machine to machine;
absolute figures are those of this one, whose cores the server shares. 1 MB is 1,000,000 bytes.

![Calls a second and seconds a download, against the core nodes and curl.](benchmarks.svg)`;

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
    parts.scan && section("From scan to archive", parts.scan.on, scanText, scanSection(parts.scan.rows)),
    parts.scale && section("Many devices", parts.scale.on, devicesText, devicesSection(parts.scale.devices)),
    parts.scale && section("Many archive jobs", parts.scale.on, jobsText, jobsSection(parts.scale.jobs)),
    parts.load && section("Load and size", parts.load.on, loadText, loadSection(parts.load.rows)),
    readFileSync(join(import.meta.dirname, "notes.md"), "utf8").trim(),
  ];
  return `${sections.filter((one) => one !== undefined).join("\n\n")}\n`;
}

const callsText = `**media-list** asks the cloud for a list of four, **measure** a device for one result; a device has one command at a
time, so sixteen in flight are sixteen devices. _Core_ is the core http request node with kept connections, parsing the
JSON. _undici_ is its \`request()\` and \`JSON.parse\` in a loop in the same process, with no node around it: the limit.`;

const downloadsText = `From the server to a file on this disk. This package checks, hashes (SHA-256) and syncs each file before it
gets its name; the core nodes and \`curl -o\` do none of that. Memory is the highest resident memory above the idle Node-RED.`;

const scanText = `The example “scan to archive” as it ships, on a simulator that measures and uploads in no time, without the two
seconds of filming: start the video, measure, two pictures, two JSON files, the cloud's webhook, the list, the video.
One parcel after the other; the time is from the scan until the last file is synced, and all of it is overhead.`;

const devicesText = `One measure node that takes the device's name from the message. Heap is what a device adds to an idle Node-RED,
before it was ever used and after it was. Calls go to all devices in turn, sixteen at a time; _undici alone_ makes the same
calls in the same process, with no node around it. _of 16_: as a part of the calls to sixteen devices.`;

const jobsText = `All jobs are handed to one archive node at once, each with four media of 40 kB; a job ends with its package
whole, hashed, synced and written to the journal.`;

const loadText = `What a package adds to the time in which Node-RED loads its node types, and what \`npm install\` brings.`;

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
  return `## The machine\n\n${facts.map((fact) => `- ${fact}`).join("\n")}`;
}

function targetsSection(results: Results): string {
  const rows = targets(results).map(({ runtime, what, wanted, got, isReached }) => [
    `${what} (${runtime.replace(/ on .*/, "")})`,
    wanted,
    got,
    isReached ? "yes" : "**no**",
  ]);
  return `## What it is to reach\n\n${table(["target", "wanted", "measured", "reached"], rows)}`;
}
