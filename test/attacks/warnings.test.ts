import assert from "node:assert/strict";
import { startSimulator } from "../../src/simulator/index.ts";
import { withFolder } from "../media/support.ts";
import { TestFlow, type End, type FlowNode, type Message } from "../support/flow.ts";
import { storeNode } from "../support/store-node.ts";

const count = 30;
const jpeg = Buffer.from("ffd8ffe000104a464946ffd9", "hex");

describe("many messages at once cause no warning of Node.js", () => {
  const warnings: string[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning.stack ?? String(warning));
  let flow: TestFlow;

  before(() => process.on("warning", onWarning));
  after(() => process.off("warning", onWarning));

  /** As many messages as once, and what became of them. */
  const all = (id: string, messageOf: (index: number) => Message): Promise<End[]> =>
    Promise.all(Array.from({ length: count }, (_, index) => flow.start(id, messageOf(index))));

  it(`${count} in each node, also where they wait, are reset and are ended by a deploy`, () =>
    withFolder(async (folder) => {
      const sim = await startSimulator();
      const on = (id: string, type: string, more: object): FlowNode => ({
        id,
        z: "tab",
        type: `dimensioner-${type}`,
        ...more,
      });
      const nodes = [
        { id: "device", type: "dimensioner-device", address: sim.newer.origin, queueLimit: count },
        { id: "cloud", type: "dimensioner-cloud", baseUrl: sim.cloud.origin, queueLimit: count },
        on("measure", "measure", { device: "device" }),
        on("image", "fetch-image", { device: "device", output: "file", folder }),
        on("control", "video-control", { device: "device", action: "start" }),
        on("list", "media-list", { cloud: "cloud" }),
        on("wait", "media-list", { cloud: "cloud", wait: 600 }),
        on("fleet", "device-list", { cloud: "cloud" }),
        storeNode(folder, "store"),
        on("messages", "archive", { store: "store" }),
        on("transactions", "archive", { cloud: "cloud", store: "store", wait: 600 }),
      ];
      flow = await TestFlow.start(nodes, { cloud: { token: "simulator" } });
      try {
        const references = (index: number): Message => ({
          transactionReference: `R${index}`,
          transactionId: `${index}`,
        });
        const measured = await flow.run("measure", references(0));
        const { imageIdentifier } = measured.sent[0]?.msg ?? {};
        // What fails before it has done anything would cause no warning either.
        const succeed = async (id: string, messageOf: (index: number) => Message): Promise<void> => {
          const codes = (await all(id, messageOf)).map(({ error }) => error?.code);
          assert.deepEqual([...new Set(codes)], [undefined], id);
        };
        await succeed("measure", references);
        await succeed("control", references);
        await succeed("image", (index) => ({ imageIdentifier, filename: `image-${index}.jpg` }));
        await succeed("fleet", references);
        for (let index = 0; index < count; index += 1) {
          sim.cloud.addMedia(`${index}`, { contentType: "image/jpeg", generateBytes: 9 });
        }
        await succeed("list", references);
        await succeed("messages", (index) => ({
          ...references(index),
          payload: [jpeg, Buffer.concat([jpeg, jpeg])],
        }));
        const saved = flow.sent.filter(({ nodeId }) => nodeId === "image").map(({ msg }) => msg["payload"]);
        await succeed("messages", (index) => ({
          ...references(1000 + index),
          payload: saved[index] ?? assert.fail(),
        }));

        const withoutMedia = (index: number): Message => ({ transactionId: `later-${index}` });
        const waiting = ["wait", "transactions"].map((id) => all(id, withoutMedia));
        await flow.untilStatus("wait", ({ fill }) => fill === "yellow");
        await flow.untilStatus("transactions", ({ text }) => text.startsWith(`${count} open`));
        const cancel = async (messages: Promise<End[]>): Promise<void> => {
          const codes = (await messages).map(({ error }) => error?.code);
          assert.deepEqual([...new Set(codes)], ["ERR_CANCELLED"]);
        };
        for (const id of ["wait", "transactions"]) {
          await flow.run(id, { reset: true });
        }
        await Promise.all(waiting.map(cancel));
        const ended = all("wait", withoutMedia);
        await flow.deploy([]);
        await cancel(ended);
        assert.deepEqual(warnings, []);
      } finally {
        await flow.stop();
        await sim.close();
      }
    }));
});
