import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { connected, readExample, simulatorSecret, together, type FlowNode } from "../support/examples.ts";
import { runFlow, type FlowRun } from "../support/run-flow.ts";
import { nodeRedMajor, startNodeRed, type NodeRed } from "../support/node-red.ts";
import { watchCanvas } from "./canvas.ts";
import { installedPackage } from "../package/installed.ts";
import { freePort } from "../support/servers.ts";

/** One Node-RED that runs several examples at once against one simulator. */
export interface ExamplesRun {
  readonly simulator: Simulator;
  readonly nodeRed: NodeRed;
  /** Where examples save files of their own. */
  readonly files: string;
  /** Presses a button of one example; resolves with what the awaited debug nodes said, fails when another one prints something. */
  press(
    example: string,
    button: string,
    until: readonly string[],
    onSeen?: FlowRun["onSeen"],
  ): Promise<Map<string, string>>;
  /** Deploys the same flows anew; `adapt` changes what one test needs otherwise than the others. */
  redeploy(adapt?: (node: FlowNode) => FlowNode): Promise<void>;
  /** Ends everything; fails if a status was unreadable or the log has an error. */
  close(): Promise<void>;
}

export interface ExamplesOptions {
  /** Changes what a test cannot use as it is shipped, a fixed port for instance. */
  readonly adapt?: (node: FlowNode) => FlowNode;
  /** A user folder with what the examples need beside this package. */
  readonly userDir?: string;
  /** False: the environment names no folder for files. */
  readonly hasFolder?: boolean;
}

/** Starts the examples; those that save files of their own have a folder for them. */
export async function startExamples(
  examples: readonly string[],
  { adapt = (node) => node, userDir, hasFolder = true }: ExamplesOptions = {},
): Promise<ExamplesRun> {
  const closers: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const closer of closers.splice(0).toReversed()) {
      await closer();
    }
  };
  try {
    const folder = await mkdtemp(join(tmpdir(), "run-"));
    closers.push(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
    const files = join(folder, "files");
    await mkdir(files);
    const nodeRed = await startNodeRed({
      major: nodeRedMajor,
      packageDir: (await installedPackage()).installed,
      env: { DIMENSIONER_ARCHIVE: hasFolder ? files : "" },
      ...(userDir === undefined ? {} : { userDir }),
    });
    closers.push(() => nodeRed.stop());
    const canvas = await watchCanvas(nodeRed);
    closers.push(async () => canvas.close());
    const simulator = await startSimulator({
      // While it is switched off, no other process gets a port that the system does not give away.
      ports: { newer: await freePort() },
      encodingMs: 300,
      mediaDelayMs: 100,
      webhooks: examples.includes("01") ? [webhookOf(nodeRed)] : [],
    });
    closers.push(() => simulator.close());
    const { newer, earlier, cloud } = simulator;
    const origins = { newer: newer.origin, earlier: earlier.origin, cloud: cloud.origin };
    const flows = new Map<string, FlowNode[]>();
    for (const example of examples) {
      const nodes = connected(await readExample(example), origins).map(quick);
      flows.set(example, nodes.map(adapt));
    }
    await nodeRed.deploy(together([...flows.values()]));
    const press: ExamplesRun["press"] = (example, button, until, onSeen = () => undefined) =>
      runFlow({
        url: nodeRed.url,
        nodes: flows.get(example) ?? [],
        press: button,
        until,
        onSeen,
        timeoutMs: 120_000,
      });
    const redeploy: ExamplesRun["redeploy"] = (adaptOnce = (node) => node) =>
      nodeRed.deploy(together([...flows.values()]).map(adaptOnce));
    const end = async (): Promise<void> => {
      try {
        canvas.check();
      } finally {
        await close();
      }
    };
    return { simulator, nodeRed, files, press, redeploy, close: end };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The same node with what a user enters in the properties of the tab. */
export function withEnv(node: FlowNode, values: Readonly<Record<string, string>>): FlowNode {
  const env = (node["env"] ?? []) as readonly { name: string; value: string; type: string }[];
  const entered = env.map((one) => {
    const value = values[one.name];
    return value === undefined ? one : { ...one, value, type: "str" };
  });
  return node.type === "tab" ? { ...node, env: entered } : node;
}

/** Where the simulator posts each measurement for example 01. */
function webhookOf({ url }: { readonly url: string }) {
  return {
    url: `${url}/dimensioner/transaction`,
    header: { name: "x-webhook-secret", value: simulatorSecret },
  };
}

/**
 * The same node without what takes time: the background check of a config node, whose requests the tests would see among
 * those of the flow, and the seconds in which nothing new may come before a package is complete.
 */
export function quick(node: FlowNode): FlowNode {
  return {
    ...node,
    ...("checkInterval" in node ? { checkInterval: "0" } : {}),
    ...("settle" in node ? { settle: "0.5" } : {}),
  };
}
