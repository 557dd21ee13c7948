import assert from "node:assert/strict";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { TestFlow, type Message } from "../support/flow.ts";

/** As a Function node may send them. */
const shapes: Readonly<Record<string, (msg: Message) => Message>> = {
  sealed: (msg) => Object.seal(msg),
  "with a payload that cannot be set": (msg) =>
    Object.defineProperty(msg, "payload", { get: () => "", enumerable: true }),
  "with a property that cannot be read": (msg) =>
    Object.defineProperty(msg, "own", {
      get: () => {
        throw JSON.parse('{ "toString": 1 }');
      },
      enumerable: true,
    }),
};

describe("a message that cannot be written to", () => {
  let sim: Simulator;
  let flow: TestFlow;

  before(async () => {
    sim = await startSimulator();
    const device = { id: "device", type: "dimensioner-device", address: sim.newer.origin };
    const measure = { id: "measure", z: "tab", type: "dimensioner-measure", device: "device" };
    flow = await TestFlow.start([device, measure]);
  });

  after(async () => {
    await flow.stop();
    await sim.close();
  });

  for (const [shape, shaped] of Object.entries(shapes)) {
    it(`gets its measurement: ${shape}`, async () => {
      const { error, sent } = await flow.run("measure", shaped({ _msgid: shape, topic: "kept" }));
      assert.equal(error, undefined);
      const { msg } = sent[0] ?? assert.fail();
      assert.deepEqual(
        [msg["_msgid"], msg["topic"], Object.keys(msg).includes("own")],
        [shape, "kept", false],
      );
      assert.match(JSON.stringify(msg["payload"]), /"measuredObjects":\[\{/);
    });

    it(`gets the error of its device: ${shape}`, async () => {
      sim.faults.add({ surface: "newer", times: 1, fault: { kind: "body", text: "{" } });
      const { error, msg } = await flow.run("measure", shaped({ _msgid: `${shape}, with an error` }));
      assert.deepEqual([error?.code, error?.cause.outcome], ["ERR_BAD_RESPONSE", "unknown"]);
      assert.equal(msg["rawResponse"], shape === "sealed" ? undefined : "{");
    });
  }
});
