import assert from "node:assert/strict";
import { nodeRedMajor, startNodeRed, type NodeRed } from "../support/node-red.ts";
import { deployUnderLoad } from "./deploy-rounds.ts";
import {
  counter,
  countsPage,
  readCounts,
  untilAllCounted,
  webhookNode,
  WebhookLoad,
} from "./webhook-load.ts";

describe(`A11: records that are posted while flows are deployed (Node-RED ${nodeRedMajor})`, () => {
  it("come out of the flow, each once, on each wire, where they were answered 204, whatever is deployed how", async function () {
    const { taken, perSecond, statuses } = await deployUnderLoad(nodeRedMajor, 40, 10);
    assert.ok(taken > 100, JSON.stringify(statuses));
    (this.test ?? assert.fail()).title += ` (${taken} records, ${perSecond} a second)`;
  });

  describe("a webhook's node that goes", () => {
    let nodeRed: NodeRed;
    let load: WebhookLoad;
    const deploy = async (...nodes: object[]): Promise<void> =>
      nodeRed.deploy([{ id: "tab", type: "tab" }, ...nodes, counter("first"), ...countsPage(["first"])]);

    beforeEach(async () => {
      nodeRed = await startNodeRed({ major: nodeRedMajor });
      load = new WebhookLoad(nodeRed, 1);
      await deploy(webhookNode(["first"]));
      assert.equal(await load.post("known"), 204);
      await untilAllCounted(nodeRed, ["first"], load.taken);
    });
    afterEach(async () => {
      load.close();
      await nodeRed.stop();
    });

    for (const [what, nodes] of Object.entries({
      removed: [],
      disabled: [webhookNode(["first"], { d: true })],
    })) {
      it(`${what}: its address is gone, and so is its memory of duplicates`, async () => {
        await deploy(...nodes);
        assert.equal(await load.post("late"), 404);
        await deploy(webhookNode(["first"]));
        assert.equal(await load.post("known"), 204);
        for (let counts = {}; Reflect.get(counts, "known") !== 2;) {
          counts = (await readCounts(nodeRed))["first"] ?? {};
        }
      });
    }

    it("changed: knows its duplicates", async () => {
      await deploy(webhookNode(["first"], { name: "changed" }));
      assert.equal(await load.post("known"), 204);
      assert.equal(await load.post("new"), 204);
      await untilAllCounted(nodeRed, ["first"], ["known", "new"]);
    });
  });
});
