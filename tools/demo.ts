/**
 * The package at work, without hardware:  npm run demo  (--help says more)
 *
 * Starts the simulator and a Node-RED with the example flows, feeds one barcode scan to the first of them and shows
 * what happens. Everything listens on loopback only and ends with this process.
 */
import { once } from "node:events";
import { parseArgs } from "node:util";
import { catalogueParcels } from "../src/simulator/catalogue/parcels.ts";
import { listArchive } from "./demo/archive.ts";
import { openEditorEvents } from "./demo/editor-events.ts";
import "./demo/end-with-parent.mjs";
import { nodeNamed } from "./demo/examples.ts";
import { stepPrinter } from "./demo/print-steps.ts";
import { runFlow } from "./demo/run-flow.ts";
import { startDemo, type DemoEnvironment } from "./demo/environment.ts";

const parcels = catalogueParcels.map(({ name }) => name);
const usage = `Usage: npm run demo [-- options]

Starts a simulated dimensioner, its cloud and a Node-RED on this computer, feeds one barcode scan to the example
“scan to archive”, shows each step and the archived files, and stays up for you to look around.

Options:
  --once              end after the run; the exit code is 0 when every step went well
  --archive <folder>  save to this folder, which has to exist; without it the files go when the demo ends
  --parcel <name>     what lies on the table: ${parcels.join(", ")},
                      or none, to see a measurement fail (default shoe-box)
  --help              this text`;

const scanNode = "Scan a parcel";
const archivedNodes = { rest: "Archived: measurement and pictures", video: "Archived: video" };
/** Far more than a slow machine needs; an end all the same. */
const longestRunMs = 60_000;

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

/** One barcode into the flow; resolves when everything of the parcel is archived. */
async function scanOneParcel({ flow, nodeRed, archive }: DemoEnvironment): Promise<void> {
  const { scanned, show } = stepPrinter();
  console.log("");
  scanned(String(nodeNamed(flow, scanNode)["payload"]));
  const said = await runFlow({
    url: nodeRed.url,
    nodes: flow,
    press: scanNode,
    until: Object.values(archivedNodes),
    onSeen: show,
    timeoutMs: longestRunMs,
  });
  const folder = said.get(archivedNodes.rest) ?? archive;
  const files = await listArchive(folder);
  const missing = ["annotated.jpg", "answer.json", "depth.bmp", "result.json", "video.mp4"].filter(
    (name) => !files.some((file) => file.name === name && file.bytes > 0),
  );
  console.log(`\nThe archive of this parcel, ${folder}:`);
  for (const { name, bytes, sha256 } of files) {
    console.log(`  ${name.padEnd(14)} ${String(bytes).padStart(8)} bytes  sha256 ${sha256}`);
  }
  if (missing.length > 0) {
    throw new Error(`The archive lacks ${missing.join(", ")}.`);
  }
}

/** Goes on telling what happens in the flows; ends only by rejecting, when Node-RED has ended. */
async function stayUp({ nodeRed, simulator, flows }: DemoEnvironment): Promise<void> {
  console.log(`
Node-RED's editor:         ${nodeRed.url}
The simulator's controls:  ${simulator.control.origin}

Press “${scanNode}” in one of the three tabs for another run. Ctrl-C ends everything.
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
