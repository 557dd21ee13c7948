import { mediansOf } from "../median.ts";
import type { LoopResult } from "../driver/protocol.ts";
import { cloudNode, credentials, deviceNodes, driverOf, httpRequest, ring, tab } from "../flows.ts";
import { startNodeRed, type NodeRed } from "../node-red.ts";
import type { Runtime } from "../runtimes.ts";
import { startServer } from "../server-process.ts";
import type { Progress } from "../progress.ts";

/** `stored`: ours, where the flows have a store, which keeps each command while it is running. */
export type CallContender = "ours" | "stored" | "core" | "undici";
const contenders = {
  "media-list": ["ours", "core", "undici"],
  measure: ["ours", "stored", "core", "undici"],
} as const satisfies Record<string, readonly CallContender[]>;

/** One row of the table: a call, the number of simultaneous calls, and a contender. */
export interface CallRow {
  readonly runtime: string;
  readonly call: "media-list" | "measure";
  /** For measure also the number of devices, since each executes one call at a time. */
  readonly inFlight: number;
  readonly contender: CallContender;
  readonly callsPerSecond: number;
  readonly cpuUsPerCall: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface CallSizes {
  readonly inFlight: readonly number[];
  readonly rounds: number;
  readonly windowMs: number;
}

/** Measures the same calls by this package, by the core http request node and by undici alone, which take turns. */
export async function measureCalls(
  runtime: Runtime,
  sizes: CallSizes,
  progress: Progress,
): Promise<CallRow[]> {
  const most = Math.max(...sizes.inFlight);
  const server = await startServer(most);
  try {
    const flows = [
      cloudNode(server.cloud),
      ...deviceNodes(server.devices),
      ...ring("list", [{ type: "dimensioner-media-list", name: "", cloud: "cloud" }]),
      ...ring("measure", [{ type: "dimensioner-measure", name: "", device: "", deviceFrom: "dock" }]),
      ...ring("core", [httpRequest("obj")]),
    ];
    const store = { id: "store", type: "dimensioner-store", name: "" };
    const nodeRed = await startNodeRed({ runtime, credentials, flows: tab(flows) });
    const withStore = await startNodeRed({ runtime, credentials, flows: [store, ...tab(flows)] });
    try {
      const rows: CallRow[] = [];
      for (const call of ["media-list", "measure"] as const) {
        for (const inFlight of sizes.inFlight) {
          progress(`${runtime.title}: ${call}, ${inFlight} in flight`);
          const urls = urlsOf(call, server, inFlight);
          const run = (contender: CallContender, forMs: number): Promise<LoopResult> =>
            runOne(contender === "stored" ? withStore : nodeRed, { call, contender, inFlight, urls, forMs });
          rows.push(...(await rounds({ runtime, call, inFlight }, sizes, run)));
        }
      }
      return rows;
    } finally {
      await nodeRed.stop();
      await withStore.stop();
    }
  } finally {
    await server.stop();
  }
}

async function rounds(
  about: { runtime: Runtime; call: CallRow["call"]; inFlight: number },
  { rounds: count, windowMs }: CallSizes,
  run: (contender: CallContender, forMs: number) => Promise<LoopResult>,
): Promise<CallRow[]> {
  const results = new Map<CallContender, LoopResult[]>();
  for (const contender of contenders[about.call]) {
    await run(contender, windowMs / 2);
    results.set(contender, []);
  }
  for (let round = 0; round < count; round++) {
    for (const contender of contenders[about.call]) {
      results.get(contender)?.push(await run(contender, windowMs));
    }
  }
  return [...results].map(([contender, all]) => ({
    ...about,
    runtime: about.runtime.title,
    contender,
    ...mediansOf(
      all.map(({ calls, ms, cpuMs, p50Ms, p99Ms }) => ({
        callsPerSecond: (calls / ms) * 1000,
        cpuUsPerCall: (cpuMs / calls) * 1000,
        p50Ms,
        p99Ms,
      })),
    ),
  }));
}

interface OneRun {
  readonly call: CallRow["call"];
  readonly contender: CallContender;
  readonly inFlight: number;
  readonly urls: readonly string[];
  readonly forMs: number;
}

function runOne(nodeRed: NodeRed, run: OneRun): Promise<LoopResult> {
  const { call, contender, inFlight, urls, forMs } = run;
  if (contender === "undici") {
    return nodeRed.raw({ urls, inFlight, forMs, headers: { authorization: "Bearer bench" } });
  }
  const ours = call === "media-list" ? "list" : "measure";
  return nodeRed.loop({
    node: driverOf(contender === "core" ? "core" : ours),
    inFlight,
    forMs,
    messages: urls.map((url, index) => ({
      url,
      dock: `dock-${index}`,
      transactionId: "905865",
      transactionReference: "ORDER-1",
    })),
  });
}

function urlsOf(
  call: CallRow["call"],
  server: { cloud: string; devices: readonly string[] },
  inFlight: number,
): string[] {
  return call === "media-list"
    ? [`${server.cloud}/api/transactionmedia/905865`]
    : server.devices
        .slice(0, inFlight)
        .map((address) => `http://${address}/api/v1/measure?TransactionReference=ORDER-1`);
}
