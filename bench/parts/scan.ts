import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { connected, readExample, nodeNamed, type FlowNode } from "../../test/support/examples.ts";
import { freePort } from "../../test/support/servers.ts";
import { startNodeRed } from "../node-red.ts";
import type { Progress } from "../progress.ts";
import type { Runtime } from "../runtimes.ts";
import { startSimulatorProcess } from "../simulator-process.ts";

/** The time for one parcel from the scan to the archive, without the devices' own time, which is 0 here. */
export interface ScanRow {
  readonly runtime: string;
  readonly parcels: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly parcelsPerSecond: number;
  readonly cpuMsPerParcel: number;
}

export interface ScanSizes {
  readonly parcels: number;
  /** An existing folder on the disk to write to. */
  readonly folder: string;
}

const driver = "bench-driver";
const first = "Start the video";
const second = "Measure the parcel";
/** Sends the message on when the package is sealed. */
const last = "Archive the evidence";

/** Runs the example “scan to archive” on a simulator that answers at once, one parcel after the other. */
export async function measureScan(
  runtime: Runtime,
  { parcels, folder }: ScanSizes,
  progress: Progress,
): Promise<ScanRow> {
  progress(`${runtime.title}: ${parcels} parcels from scan to archive`);
  const port = await freePort();
  const simulator = await startSimulatorProcess(`http://127.0.0.1:${port}/dimensioner/transaction`);
  const archive = await mkdtemp(join(folder, "bench-scan-"));
  try {
    const example = connected(await readExample("02"), simulator.origins);
    const nodeRed = await startNodeRed({
      runtime,
      port,
      flows: example.flatMap((node) => adapt(node, example, archive)),
      credentials: Object.fromEntries(
        example.flatMap(({ id, type }) =>
          type === "dimensioner-cloud" ? [[id, { token: simulator.token }]] : [],
        ),
      ),
    });
    try {
      const run = (prefix: string, count: number) =>
        nodeRed.loop({
          node: driver,
          inFlight: 1,
          count,
          messages: [{}],
          unique: { property: "transactionReference", prefix },
          key: "transactionReference",
        });
      await run("WARM-", Math.ceil(parcels / 10));
      const { calls, ms, cpuMs, p50Ms, p99Ms } = await run("PARCEL-", parcels);
      return {
        runtime: runtime.title,
        parcels: calls,
        p50Ms,
        p99Ms,
        parcelsPerSecond: (calls / ms) * 1000,
        cpuMsPerParcel: cpuMs / calls,
      };
    } finally {
      await nodeRed.stop();
    }
  } finally {
    await simulator.stop();
    await rm(archive, { recursive: true, force: true });
  }
}

/** The shipped flow, with the driver in place of the two buttons, on the disk to be measured, and without the wait for late media. */
function adapt(node: FlowNode, flow: readonly FlowNode[], folder: string): FlowNode[] {
  if (node.type === "dimensioner-store") {
    return [{ ...node, folder }];
  }
  if (node.type === "tab") {
    const place = { z: node.id, x: 100, y: 100 };
    const to = nodeNamed(flow, first).id;
    return [
      node,
      { id: driver, type: "bench-driver", ...place, wires: [[to]] },
      { id: "bench-catch", type: "catch", scope: null, uncaught: false, ...place, wires: [[driver]] },
    ];
  }
  if (node.name === first) {
    return [{ ...node, wires: [[nodeNamed(flow, second).id]] }];
  }
  return node.name === last ? [{ ...node, settle: "0", wires: [[driver]] }] : [node];
}
