import type { LoopResult } from "../driver/protocol.ts";
import { deviceNodes, driverOf, ring, tab } from "../flows.ts";
import { median } from "../median.ts";
import { startNodeRed, type NodeRed } from "../node-red.ts";
import type { Progress } from "../progress.ts";
import type { Runtime } from "../runtimes.ts";
import { startServer, type BenchServer } from "../server-process.ts";

/** Many device config nodes behind one measure node that takes the device's name from the message. */
export interface DeviceRow {
  readonly runtime: string;
  readonly devices: number;
  /** The time from the start of Node-RED until its flows run; the table shows the difference to none. */
  readonly startMs: number;
  /** The heap of an idle Node-RED, before a device was used and after all of them were. */
  readonly heapBytes: number;
  readonly usedHeapBytes: number;
  /** Calls per second to all devices together, sixteen at a time; null for none. */
  readonly callsPerSecond: number | null;
  /** The same by undici alone: the cost of the connections themselves. */
  readonly undiciPerSecond: number | null;
}

export interface DeviceSizes {
  readonly devices: readonly number[];
  readonly rounds: number;
  readonly windowMs: number;
}

const atWork = 16;

export async function measureDevices(
  runtime: Runtime,
  { devices, rounds, windowMs }: DeviceSizes,
  progress: Progress,
): Promise<DeviceRow[]> {
  const server = await startServer(Math.max(...devices));
  try {
    const runs = new Map(devices.map((count) => [count, [] as DeviceRow[]]));
    for (let round = 1; round <= rounds; round++) {
      for (const [count, rows] of runs) {
        progress(`${runtime.title}: ${count} devices, round ${round}`);
        rows.push(await runDevices(runtime, server, count, windowMs));
      }
    }
    return [...runs].map(([count, rows]) => ({
      runtime: runtime.title,
      devices: count,
      startMs: median(rows.map(({ startMs }) => startMs)),
      heapBytes: median(rows.map(({ heapBytes }) => heapBytes)),
      usedHeapBytes: median(rows.map(({ usedHeapBytes }) => usedHeapBytes)),
      callsPerSecond: count === 0 ? null : median(rows.map(({ callsPerSecond }) => callsPerSecond ?? 0)),
      undiciPerSecond: count === 0 ? null : median(rows.map(({ undiciPerSecond }) => undiciPerSecond ?? 0)),
    }));
  } finally {
    await server.stop();
  }
}

async function runDevices(
  runtime: Runtime,
  server: BenchServer,
  count: number,
  windowMs: number,
): Promise<DeviceRow> {
  const nodeRed = await startNodeRed({
    runtime,
    flows: tab([
      ...deviceNodes(server.devices.slice(0, count)),
      ...ring("measure", [{ type: "dimensioner-measure", name: "", device: "", deviceFrom: "dock" }]),
    ]),
  });
  try {
    const { heapBytes } = await nodeRed.memory();
    const calls = count === 0 ? null : callsTo(nodeRed, server.devices.slice(0, count));
    const callsPerSecond = calls === null ? null : await calls.ours(windowMs);
    // Idle connections end after a second.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const { heapBytes: usedHeapBytes } = await nodeRed.memory();
    const undiciPerSecond = calls === null ? null : await calls.undici(windowMs);
    const { startMs } = nodeRed;
    return {
      runtime: runtime.title,
      devices: count,
      startMs,
      heapBytes,
      usedHeapBytes,
      callsPerSecond,
      undiciPerSecond,
    };
  } finally {
    await nodeRed.stop();
  }
}

/** Calls per second to all devices in turn; the first window of each contender only warms it up. */
function callsTo(nodeRed: NodeRed, addresses: readonly string[]) {
  const inFlight = Math.min(addresses.length, atWork);
  const messages = addresses.map((_, index) => ({ dock: `dock-${index}` }));
  const urls = addresses.map((address) => `http://${address}/api/v1/measure`);
  const second = async (run: () => Promise<LoopResult>): Promise<number> => {
    await run();
    const { calls, ms } = await run();
    return (calls / ms) * 1000;
  };
  return {
    ours: (forMs: number) =>
      second(() => nodeRed.loop({ node: driverOf("measure"), inFlight, messages, forMs })),
    undici: (forMs: number) => second(() => nodeRed.raw({ urls, inFlight, headers: {}, forMs })),
  };
}
