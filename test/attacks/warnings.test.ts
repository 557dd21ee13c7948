import assert from "node:assert/strict";
import { startSimulator } from "../../src/simulator/index.ts";
import { withFolder } from "../media/support.ts";
import { TestFlow, type FlowNode, type Message } from "../support/flow.ts";

const count = 30;
const jpeg = Buffer.from("ffd8ffe000104a464946ffd9", "hex");

describe("many messages at once cause no warning of Node.js", () => {
  const warnings: string[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning.stack ?? String(warning));
  let flow: TestFlow;

  before(() => process.on("warning", onWarning));
  after(() => process.off("warning", onWarning));

  /** As many messages as once, and what became of them. */
  const all = (id: string, messageOf: (index: number) => Message): Promise<unknown[]> =>
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
        on("messages", "archive", { folder }),
        on("transactions", "archive", { cloud: "cloud", folder }),
      ];
      flow = await TestFlow.start(nodes, { cloud: { token: "simulator" } });
      try {
        const references = (index: number): Message => ({
          transactionReference: `R${index}`,
          transactionId: `${index}`,
        });
        const measured = await flow.run("measure", references(0));
        const { imageIdentifier } = measured.sent[0]?.msg ?? {};
        await all("measure", references);
        await all("control", references);
        await all("image", (index) => ({ imageIdentifier, filename: `image-${index}.jpg` }));
        await all("fleet", references);
        await all("list", references);
        await all("messages", (index) => ({
          ...references(index),
          payload: [jpeg, Buffer.concat([jpeg, jpeg])],
        }));
        const saved = flow.sent.filter(({ nodeId }) => nodeId === "image").map(({ msg }) => msg["payload"]);
        await all("messages", (index) => ({ ...references(1000 + index), payload: saved[index] ?? jpeg }));

        const waiting = [all("wait", references), all("transactions", references)];
        await flow.untilStatus("wait", ({ fill }) => fill === "yellow");
        for (const id of ["wait", "transactions"]) {
          await flow.run(id, { reset: true });
        }
        await Promise.all(waiting);
        const ended = all("wait", references);
        await flow.deploy([]);
        await ended;
        assert.deepEqual(warnings, []);
      } finally {
        await flow.stop();
        await sim.close();
      }
    }));
});
