import assert from "node:assert/strict";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { until } from "../archive/support.ts";
import { TestFlow, type End, type FlowNode, type Message } from "../support/flow.ts";
import { storeId, storeNode } from "../support/store-node.ts";

export const credentials = { cloud: { token: "simulator" }, "cloud-2": { token: "simulator" } };

/** What an archive node sends on msg.payload, as far as the tests look at it. */
export interface Payload {
  location: string;
  folder: string;
  manifest: string;
  transactionId: string | null;
  transactionReference: string | null;
  measurement: Readonly<Record<string, unknown>> | null;
  files: {
    path: string;
    source: string;
    contentId: string;
    contentType: string;
    bytes: number;
    sha256: string;
  }[];
  bytes: number;
  complete: boolean;
  alreadyArchived: boolean;
}

export function payloadOf(msg: Message | undefined): Payload {
  return msg?.["payload"] as Payload;
}

/** How the next message to end in a node ends. */
export async function nextEnd(flow: TestFlow, nodeId: string): Promise<End> {
  const count = (): number => flow.ends.filter((end) => end.nodeId === nodeId).length;
  const before = count();
  await until(() => count() > before, `a message ends in ${nodeId}`);
  return flow.ends.filter((end) => end.nodeId === nodeId)[before] ?? assert.fail();
}

/** An archive node with a store in this folder. */
export function archive(folder: string, more: Record<string, unknown> = {}, id = "node"): FlowNode {
  return {
    id,
    z: "tab",
    type: "dimensioner-archive",
    cloud: "cloud",
    store: storeId(folder),
    settle: 0,
    ...more,
  };
}

/** In a suite: starts a simulator before each test, and checks after it what holds for every message and every status. */
export class ArchiveSuite {
  #sim: Simulator | undefined;
  flow: TestFlow | undefined;

  constructor() {
    beforeEach(async () => {
      this.#sim = await startSimulator();
    });

    afterEach(async () => {
      const { shown = [], ends = [] } = this.flow ?? {};
      await this.flow?.stop();
      this.flow = undefined;
      await this.sim.close();
      for (const { text } of shown) {
        assert.ok(text.length < 32, `status too long: ${text}`);
      }
      const ids = ends.map(({ nodeId, msgId }) => `${nodeId} ${msgId}`);
      assert.deepEqual([...new Set(ids)], ids, "a message ended twice");
    });
  }

  get sim(): Simulator {
    return this.#sim ?? assert.fail();
  }

  clouds(): FlowNode[] {
    const cloud = { type: "dimensioner-cloud", baseUrl: this.sim.cloud.origin, timeout: 60 };
    return [
      { id: "cloud", name: "A", ...cloud },
      { id: "cloud-2", name: "B", ...cloud },
    ];
  }

  /** The config nodes, with a store in each of these folders. */
  configs(...folders: string[]): FlowNode[] {
    return [...this.clouds(), ...folders.map((folder) => storeNode(folder))];
  }

  async start(folder: string, ...nodes: FlowNode[]): Promise<TestFlow> {
    this.flow = await TestFlow.start([...this.configs(folder), ...nodes], credentials);
    return this.flow;
  }

  addVideo(id: string): void {
    this.sim.cloud.addMedia(id, { contentType: "video/mp4", generateBytes: 50_000 });
  }
}
