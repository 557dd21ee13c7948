import assert from "node:assert/strict";
import { TestFlow } from "../support/flow.ts";
import { replyJson, startServer } from "../support/servers.ts";

describe("A7: messages that come faster than they end", () => {
  it("end in ERR_QUEUE_FULL while a node is processing 1,000 others, which end as usual", async () => {
    const cloud = await startServer((_request, socket) => replyJson(socket, []));
    const flow = await TestFlow.start(
      [
        { id: "cloud", type: "dimensioner-cloud", baseUrl: cloud.origin },
        { id: "list", z: "tab", type: "dimensioner-media-list", cloud: "cloud", wait: 600 },
      ],
      { cloud: { token: "known" } },
    );
    try {
      const first = Array.from({ length: 1_000 }, (_, index) =>
        flow.start("list", { transactionId: `${index}` }),
      );
      const { error } = await flow.run("list", { transactionId: "one more" });
      assert.equal(error?.code, "ERR_QUEUE_FULL");
      assert.match(error.message, /1000 messages/);
      await flow.run("list", { reset: true });
      const codes = new Set((await Promise.all(first)).map((end) => end.error?.code));
      assert.deepEqual([...codes], ["ERR_CANCELLED"]);
      const next = flow.start("list", { transactionId: "next" });
      await flow.run("list", { reset: true });
      assert.equal((await next).error?.code, "ERR_CANCELLED");
    } finally {
      await flow.stop();
      await cloud.close();
    }
  });

  it("are refused before anything acts if two wires need a copy that Node-RED cannot make", async () => {
    const device = await startServer((_request, socket) => replyJson(socket, { errorCode: 0 }));
    const flow = await TestFlow.start([
      { id: "device", type: "dimensioner-device", address: device.origin },
      { id: "measure", z: "tab", type: "dimensioner-measure", device: "device", wires: [["out-0", "out-1"]] },
    ]);
    try {
      let foo: unknown = "deep";
      for (let level = 0; level < 5_000; level++) {
        foo = level % 2 === 0 ? [foo] : new Map([["foo", foo]]);
      }
      const { error, sent } = await flow.run("measure", { transactionReference: "R1", foo });
      assert.deepEqual([error?.code, sent.length, device.requests.length], ["ERR_INPUT", 0, 0]);
    } finally {
      await flow.stop();
      await device.close();
    }
  });
});
