import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { connected, readExample, type FlowNode, type Origins } from "../../tools/demo/examples.ts";
import { runFlow, type Seen } from "../../tools/demo/run-flow.ts";
import { nodeRedMajor, startNodeRed, type NodeRed } from "../support/node-red.ts";
import "./installed.ts";
import { startRecordingProxy, type RecordingProxy } from "./recording-proxy.ts";

/** A real Node-RED that runs one example against a simulator. */
export interface ExampleRun {
  readonly simulator: Simulator;
  readonly nodeRed: NodeRed;
  readonly newerProxy: RecordingProxy;
  readonly cloudProxy: RecordingProxy;
  /** The root folder of the archive. */
  readonly archive: string;
  /** Presses “Scan a parcel” and resolves with what the awaited debug nodes said; any other debug node fails it. */
  scan(options: Scan): Promise<Map<string, string>>;
  close(): Promise<void>;
}

export interface Scan {
  /** Default: the barcode that the example is shipped with. */
  readonly barcode?: string;
  readonly until: readonly string[];
  readonly onSeen?: (seen: Seen) => void;
}

export interface ExampleOptions {
  /** "01" */
  readonly example: string;
  /** With the package installed; without it the package is linked into one. */
  readonly userDir?: string;
  /** False: nobody has said where to save. */
  readonly withArchive?: boolean;
}

const longestScanMs = 20_000;

export async function startExample({
  example,
  userDir,
  withArchive = true,
}: ExampleOptions): Promise<ExampleRun> {
  const closers: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const closer of closers.splice(0).toReversed()) {
      await closer();
    }
  };
  try {
    const folder = await mkdtemp(join(tmpdir(), "example-"));
    closers.push(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
    const archive = join(folder, "archive");
    await mkdir(archive);
    const nodeRed = await startNodeRed({
      major: nodeRedMajor,
      env: { DIMENSIONER_ARCHIVE: withArchive ? archive : "" },
      ...(userDir === undefined ? {} : { userDir }),
    });
    closers.push(() => nodeRed.stop());
    const simulator = await startSimulator({
      encodingMs: 300,
      mediaDelayMs: 200,
      webhooks: [{ url: `${nodeRed.url}/dimensioner/transaction` }],
    });
    closers.push(() => simulator.close());
    const newerProxy = await startRecordingProxy(simulator.newer.origin);
    closers.push(() => newerProxy.close());
    const cloudProxy = await startRecordingProxy(simulator.cloud.origin);
    closers.push(() => cloudProxy.close());

    const origins = {
      newer: newerProxy.origin,
      earlier: simulator.earlier.origin,
      cloud: cloudProxy.origin,
    };
    const nodes = await loadExample(example, origins);
    await nodeRed.deploy(nodes);
    const scan = async ({ barcode, ...rest }: Scan) => {
      const deployed = barcode === undefined ? nodes : nodes.map((node) => withBarcode(node, barcode));
      if (barcode !== undefined) {
        await nodeRed.deploy(deployed);
      }
      const run = { url: nodeRed.url, nodes: deployed, press: "Scan a parcel", timeoutMs: longestScanMs };
      return runFlow({ ...run, ...rest });
    };
    return { simulator, nodeRed, newerProxy, cloudProxy, archive, scan, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** An example with the simulator's addresses; the time that a parcel is filmed is cut, since no test looks at it. */
async function loadExample(start: string, origins: Origins): Promise<FlowNode[]> {
  const nodes = connected(await readExample(start), origins);
  return nodes.map((node) => (node.type === "delay" ? { ...node, timeout: "0.1" } : node));
}

function withBarcode(node: FlowNode, barcode: string): FlowNode {
  return node.type === "inject" ? { ...node, payload: barcode } : node;
}
