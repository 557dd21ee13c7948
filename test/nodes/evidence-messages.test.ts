import assert from "node:assert/strict";
import { createRequire } from "node:module";
import type { NodeAPI } from "node-red";
import { pictureOf } from "../archive/support.ts";
import { withFolder } from "../media/support.ts";
import { TestFlow } from "../support/flow.ts";
import { nodeRedMajor } from "../support/node-red.ts";
import { storeId, storeNode } from "../support/store-node.ts";

const require = createRequire(import.meta.url);
const core = createRequire(require.resolve(`node-red-${nodeRedMajor}`));
const { util } = core("@node-red/util") as Pick<NodeAPI, "util">;

describe("dimensioner-evidence: one message for each item", () => {
  let flow: TestFlow;
  const { cloneMessage } = util;
  /** The payloads of all messages that were copied. */
  const copied: unknown[] = [];

  beforeEach(() => {
    copied.length = 0;
    util.cloneMessage = (msg) => {
      copied.push(msg.payload);
      return cloneMessage(msg);
    };
  });
  afterEach(async () => {
    util.cloneMessage = cloneMessage;
    await flow.stop();
  });

  it("copies for none of them the list of all, which would hold up Node-RED if it is long", () =>
    withFolder(async (folder) => {
      const store = storeId(folder);
      const archive = { z: "tab", type: "dimensioner-archive", store, layout: "{transactionId}" };
      const evidence = { z: "tab", type: "dimensioner-evidence", store, emit: "split" };
      flow = await TestFlow.start([
        storeNode(folder),
        { id: "archive", ...archive, media: "none" },
        { id: "find", ...evidence, action: "find", by: "all" },
        { id: "missing", ...evidence, action: "missing" },
      ]);
      const ids = ["1", "2", "3"];
      for (const transactionId of ids) {
        const { error } = await flow.run("archive", { transactionId, payload: pictureOf(transactionId) });
        assert.equal(error, undefined);
      }
      const open = ids.map((id) => {
        const parts = { id, index: 0, count: 2 };
        return flow.start("archive", { transactionId: `open ${id}`, payload: pictureOf(id), parts });
      });
      await flow.untilStatus("archive", ({ text }) => text.includes("3 open"));
      copied.length = 0;
      const found = await flow.run("find", { payload: [pictureOf("large")], topic: "parcels" });
      assert.deepEqual(
        found.sent.map(({ msg }) => [
          msg["topic"],
          (msg["payload"] as { transactionId: string }).transactionId,
        ]),
        ["3", "2", "1"].map((id) => ["parcels", id]),
      );
      const missing = await flow.run("missing", { payload: "24h" });
      assert.deepEqual(
        missing.sent.map(({ port, msg }) => [port, msg["payload"]]),
        ids.map(() => [1, null]),
      );
      assert.ok(copied.length >= 6);
      assert.deepEqual(
        copied.filter((payload) => Array.isArray(payload)),
        [],
      );
      await flow.run("archive", { reset: true });
      await Promise.all(open);
    }));
});
