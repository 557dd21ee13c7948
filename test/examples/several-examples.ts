import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { connected, readExample, type FlowNode } from "../../tools/demo/examples.ts";
import { runFlow } from "../../tools/demo/run-flow.ts";
import { nodeRedMajor, startNodeRed, type NodeRed } from "../support/node-red.ts";

/** One Node-RED that runs several examples at once against one simulator. */
export interface ExamplesRun {
  readonly simulator: Simulator;
  readonly nodeRed: NodeRed;
  readonly archive: string;
  /** Presses a button of one example; resolves with what the awaited debug nodes said, fails when another one speaks. */
  press(example: string, button: string, until: readonly string[]): Promise<Map<string, string>>;
  close(): Promise<void>;
}

/** Starts them; `adapt` may change what a test cannot use as it is shipped, a fixed port for instance. */
export async function startExamples(
  examples: readonly string[],
  adapt: (node: FlowNode) => FlowNode = (node) => node,
  major: 4 | 5 = nodeRedMajor,
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
    const archive = join(folder, "archive");
    await mkdir(archive);
    const simulator = await startSimulator({ encodingMs: 300, mediaDelayMs: 100 });
    closers.push(() => simulator.close());
    const { newer, earlier, cloud } = simulator;
    const origins = { newer: newer.origin, earlier: earlier.origin, cloud: cloud.origin };
    const flows = new Map<string, FlowNode[]>();
    for (const example of examples) {
      const nodes = connected(await readExample(example), origins);
      flows.set(example, nodes.map(adapt));
    }
    const nodeRed = await startNodeRed({
      major,
      env: { DIMENSIONER_ARCHIVE: archive },
      flows: [...flows.values()].flat(),
    });
    closers.push(() => nodeRed.stop());
    const press = (example: string, button: string, until: readonly string[]) =>
      runFlow({
        url: nodeRed.url,
        nodes: flows.get(example) ?? [],
        press: button,
        until,
        timeoutMs: 20_000,
      });
    return { simulator, nodeRed, archive, press, close };
  } catch (error) {
    await close();
    throw error;
  }
}
