/**
 * The package at work, without hardware:  npm run demo  (--help says more)
 *
 * Starts the simulator and a Node-RED with the example flows, feeds one barcode scan to the first of them and shows
 * what happens. Everything listens on loopback only and ends with this process.
 */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { catalogueParcels } from "../src/simulator/catalogue/parcels.ts";
import "./demo/end-with-parent.mjs";
import { startDemo, type DemoEnvironment } from "./demo/environment.ts";
import { openEditorEvents, runFlow, type Seen } from "../test/support/run-flow.ts";

const parcels = catalogueParcels.map(({ name }) => name);
const usage = `Usage: npm run demo [-- options]

Starts a simulated dimensioner, its cloud and Node-RED on this computer, runs the example “scan to archive” with one
parcel, shows each step and the archived package, and keeps running so that you can look around.

Options:
  --once              end after the run; the exit code is 0 if every step succeeded
  --archive <folder>  save to this folder, which must exist; by default, the files are deleted when the demo ends
  --parcel <name>     the parcel on the table: ${parcels.join(", ")},
                      or none, to see a failed measurement (default shoe-box)
  --help              print this text`;

const packingBegins = "Scan: packing begins";
const parcelIsPacked = "Scan: parcel is packed";
/** How long the parcel is being packed and filmed. */
const packingMs = 1_500;
/** Far more than a slow computer needs, but not without end. */
const longestRunMs = 180_000;

process.exitCode = await main();

async function main(): Promise<number> {
  const options = readOptions();
  if (typeof options === "string") {
    console.error(`${options}\n\n${usage}`);
    return 2;
  }
  if (options.help) {
    console.log(usage);
    return 0;
  }
  const leaving = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => leaving.abort());
  }
  const left = once(leaving.signal, "abort");
  try {
    await run(options, left);
    return 0;
  } catch (error) {
    if (leaving.signal.aborted) {
      return 0;
    }
    console.error(`\nThe demo failed. ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  }
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        once: { type: "boolean", default: false },
        archive: { type: "string" },
        parcel: { type: "string", default: "shoe-box" },
        help: { type: "boolean", default: false },
      },
    });
    const { parcel } = values;
    if (parcel !== "none" && !parcels.includes(parcel)) {
      return `There is no parcel “${parcel}”.`;
    }
    return { ...values, archive: values.archive, parcel: parcel === "none" ? null : parcel };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function run(
  options: { once: boolean; archive: string | undefined; parcel: string | null },
  left: Promise<unknown>,
): Promise<void> {
  const gone = left.then(() => {
    throw new Error("It was ended.");
  });
  gone.catch(() => undefined);

  console.log("Starting the simulator and Node-RED …");
  const demo = await startDemo(options);
  try {
    await Promise.race([scanOneParcel(demo), gone]);
    if (!options.once) {
      await Promise.race([stayUp(demo), gone]);
    }
  } finally {
    await demo.close();
  }
}

/** Two scans of one parcel; resolves when its package is sealed. */
async function scanOneParcel({ flow, nodeRed }: DemoEnvironment): Promise<void> {
  const { show } = stepPrinter();
  const press = (button: string, until: string) =>
    runFlow({
      url: nodeRed.url,
      nodes: flow,
      press: button,
      until: [until],
      onSeen: show,
      timeoutMs: longestRunMs,
    });
  console.log("");
  await press(packingBegins, "Recording");
  await sleep(packingMs);
  const folder = (await press(parcelIsPacked, "Archived")).get("Archived") ?? "";
  console.log(`\nThe package of this parcel, ${folder}:`);
  let hasVideo = false;
  for (const name of (await readdir(folder)).toSorted()) {
    const content = await readFile(join(folder, name));
    const sha256 = createHash("sha256").update(content).digest("hex");
    console.log(`  ${name.padEnd(28)} ${String(content.length).padStart(8)} bytes  sha256 ${sha256}`);
    hasVideo ||= name.endsWith(".mp4") && content.length > 0;
  }
  if (!hasVideo) {
    throw new Error("The package has no video.");
  }
}

/** Continues to print what happens in the flows; ends only by rejecting, when Node-RED has ended. */
async function stayUp({ nodeRed, simulator, flows, page }: DemoEnvironment): Promise<void> {
  console.log(`
Node-RED's editor:         ${nodeRed.url}
The simulator's controls:  ${simulator.control.origin}
The evidence page:         ${page.url}  (user name ${page.name}, password ${page.password})

Press “${packingBegins}”, then “${parcelIsPacked}” in one of the tabs for another run. Ctrl-C ends everything.
`);
  const byId = new Map(flows.map((node) => [node.id, node]));
  const { show } = stepPrinter();
  await new Promise<void>((_, reject) => {
    const ended = () => reject(new Error("Node-RED has ended."));
    openEditorEvents(
      nodeRed.url,
      (event) => {
        const node = byId.get(event.nodeId);
        if (node !== undefined) {
          show({ node, event });
        }
      },
      ended,
    ).catch(reject);
  });
}

/** Prints in plain words what a flow's nodes show, one line for each step, with the seconds since the scan. */
function stepPrinter(say: (line: string) => void = console.log) {
  const startedAt = performance.now();
  const shown = new Map<string, { readonly fill: string; readonly text: string }>();

  function line(what: string, detail = ""): void {
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1).padStart(5);
    say(`${seconds} s  ${what.padEnd(46)} ${detail}`.trimEnd());
  }

  return {
    /** Prints steps that succeeded, waits and failures; progress is left out. */
    show({ node, event }: Seen): void {
      const name = node.name ?? node.type;
      if (event.kind === "debug") {
        line(name, oneLine(event.text));
        return;
      }
      if (!node.type.startsWith("dimensioner-")) {
        return;
      }
      const last = shown.get(node.id);
      if (event.fill === "blue") {
        // A continuing wait is printed once; a finished step may be repeated.
        if (last?.fill !== "yellow") {
          shown.delete(node.id);
        }
        return;
      }
      if (last?.text === event.text) {
        return;
      }
      shown.set(node.id, event);
      line(name, event.fill === "red" ? `failed: ${event.text}` : event.text);
    },
  };
}

/** The output of a debug node: a text, or the JSON of a file that was saved. */
function oneLine(text: string): string {
  const path = /^\{"path":"((?:[^"\\]|\\.)*)"/.exec(text)?.[1];
  return path === undefined ? text : (JSON.parse(`"${path}"`) as string);
}
