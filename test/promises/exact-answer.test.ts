import assert from "node:assert/strict";
import { startSimulator, type Simulator, type SurfaceName } from "../../src/simulator/index.ts";
import { TestFlow, type FlowNode } from "../support/flow.ts";

/** As no serializer would write it: spaces, line ends, zeros that mean something, escapes, a big id and a field too many. */
const answers: Readonly<Record<SurfaceName, string>> = {
  newer:
    '\r\n{ "errorCode":0 , "objectCount":1,"elapsedMs": 412.50,"transactionId" : 9007199254740993,\n\t"measuredObjects":' +
    '[{"errorCode":0,"length":10.30,"width":1.210e1,"height":14.5000000,"note":"\\u00e9 \\/ é","new":[ ]}], "again":-0.0 } \n',
  earlier:
    '{"errorCode" :0,"objectCount": 1,"elapsedMilliseconds":7.00,"measuredObjects":[ {"errorCode":0,"length":3.10,' +
    '"width":2.0,"height":1.00} ]}\n\n',
  cloud:
    '{ "transactionId":905865.0,"errorCode":0,"objectCount":1,"measuredObjects":[{"errorCode":0,"length":1.0,"width":2.00,' +
    '"height":3.000}],  "extra":{"b":1,"a":2} }',
};

/** What was measured is only there: the device is not asked again. */
const unusable = {
  "no result": '{ "errorCode":"?", "measuredObjects": [ {"length":10.30} ] }\n',
  "with a figure that is no number":
    '{"errorCode":0,"objectCount":1,"measuredObjects":[{"errorCode":0, "length":"10,30"}]}',
  "not JSON":
    '{"errorCode":0,"objectCount":1,"weight":NaN, "measuredObjects":[{"errorCode":0,"length":10.30}]}',
};

describe("the device's answer is on the message byte for byte", () => {
  let sim: Simulator;
  let flow: TestFlow;

  beforeEach(async () => {
    sim = await startSimulator();
    const device = { type: "dimensioner-device", name: "" };
    const nodes: FlowNode[] = [
      { ...device, id: "newer-device", address: sim.newer.origin },
      { ...device, id: "earlier-device", address: sim.earlier.origin, generation: "earlier" },
      { id: "account", type: "dimensioner-cloud", baseUrl: sim.cloud.origin },
      { id: "newer", z: "tab", type: "dimensioner-measure", device: "newer-device" },
      { id: "earlier", z: "tab", type: "dimensioner-measure", device: "earlier-device" },
      {
        id: "cloud",
        z: "tab",
        type: "dimensioner-remote-trigger",
        cloud: "account",
        action: "measure",
        deviceReference: "ABCD2345",
        deviceReferenceType: "str",
      },
    ];
    flow = await TestFlow.start(nodes, { account: { token: sim.cloud.token } });
  });

  afterEach(async () => {
    await flow.stop();
    await sim.close();
  });

  for (const surface of ["newer", "earlier", "cloud"] as const) {
    it(`${surface}: also where it is written as nobody else would`, async () => {
      const text = answers[surface];
      sim.faults.add({ surface, path: "measure$", fault: { kind: "body", text } });
      const { error, sent } = await flow.run(surface, { transactionReference: "ORDER-1" });
      assert.equal(error, undefined);
      assert.equal(sent[0]?.msg["rawResponse"], text);
    });

    for (const [what, text] of Object.entries(unusable)) {
      it(`${surface}: also of an error, where it is ${what}`, async () => {
        sim.faults.add({ surface, path: "measure$", fault: { kind: "body", text } });
        const { error } = await flow.run(surface, { transactionReference: "ORDER-1" });
        assert.equal(error?.code, "ERR_BAD_RESPONSE");
        const { msg } = flow.ends.at(-1) ?? {};
        assert.equal(msg?.["rawResponse"], text);
      });
    }
  }
});
