import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { TestFlow, type FlowNode } from "../support/flow.ts";

/** As the cloud answers a remote measure. */
const answer = {
  transactionId: "905865",
  transactionReference: null,
  errorCode: 0,
  errorMessage: "-",
  elapsedMs: 700,
  objectCount: 1,
  dimsUnitOfMeasure: "cm",
  weightUnitOfMeasure: "lb",
  measurementFidelity: "0.5",
  measuredObjects: [{ trackId: 1, errorCode: 0, errorMessage: "-", length: 33.5, width: 21, height: 12.5 }],
};

describe("a desktop gateway", () => {
  let server: Server;
  let requests: string[];
  let measured: object;
  let flow: TestFlow;
  const start = async (node: object, device: object = {}): Promise<void> => {
    const { port } = server.address() as { port: number };
    const nodes: FlowNode[] = [
      {
        id: "device",
        type: "dimensioner-device",
        address: `127.0.0.1:${port}`,
        generation: "gateway",
        timeout: 60,
        ...device,
      },
      { id: "node", z: "tab", type: "dimensioner-measure", device: "device", ...node },
      { id: "status", z: "tab", type: "status", scope: null, wires: [["out-0"]] },
    ];
    flow = await TestFlow.start(nodes);
  };

  beforeEach(async () => {
    requests = [];
    measured = answer;
    server = createServer((request, response) => {
      requests.push(`${request.method} ${request.url}`);
      const isMeasure = request.url === "/measure";
      response.writeHead(isMeasure ? 200 : 404, { "content-type": "application/json; charset=utf-8" });
      response.end(isMeasure ? JSON.stringify(measured) : undefined);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  afterEach(async () => {
    await flow.stop();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it("measures once, without references, and answers as the cloud does", async () => {
    await start({});
    const { error, sent } = await flow.run("node", { transactionReference: "ORDER-1" });
    assert.equal(error, undefined);
    assert.deepEqual(requests, ["GET /measure"]);
    const { payload, rawResponse, transactionReference } = sent[0]?.msg as Record<string, unknown>;
    assert.equal(rawResponse, JSON.stringify(answer));
    assert.equal(transactionReference, "ORDER-1");
    const { ok, source, transactionId, measurementFidelity } = payload as Record<string, unknown>;
    assert.deepEqual([ok, source, transactionId, measurementFidelity], [true, "cloud", "905865", 0.5]);
    assert.equal(flow.lastStatus("node")?.text, "33.5×21×12.5 cm · ORDER-1");
  });

  it("puts its transaction on the message, in place of another's", async () => {
    await start({});
    const { sent } = await flow.run("node", { transactionId: "1" });
    assert.equal(sent[0]?.msg["transactionId"], "905865");
  });

  it("keeps the given reference where it answers with an empty one", async () => {
    measured = { ...answer, transactionReference: "" };
    await start({});
    const { sent } = await flow.run("node", { transactionReference: "ORDER-1" });
    assert.equal(sent[0]?.msg["transactionReference"], "ORDER-1");
    assert.equal((await flow.run("node", {})).sent[0]?.msg["transactionReference"], null);
  });

  it("shows how many objects there are, where no figures are those of the parcel", async () => {
    measured = {
      ...answer,
      objectCount: 2,
      measuredObjects: [...answer.measuredObjects, ...answer.measuredObjects],
    };
    await start({});
    const { sent } = await flow.run("node", {});
    const { ok, summary, length } = sent[0]?.msg["payload"] as Record<string, unknown>;
    assert.deepEqual([ok, summary, length], [true, null, null]);
    assert.equal(flow.lastStatus("node")?.text, "objects: 2");
  });

  for (const node of [
    { type: "dimensioner-video-control", action: "start" },
    { type: "dimensioner-video-control", action: "stop" },
    { type: "dimensioner-video-control", action: "cancel" },
    { type: "dimensioner-fetch-image", imageIdentifier: "x", imageIdentifierType: "str" },
    { type: "dimensioner-fetch-video" },
  ]) {
    it(`has nothing for ${node.type} ${node.action ?? ""}, says so and asks for nothing`, async () => {
      await start(node);
      const { error } = await flow.run("node", {});
      assert.equal(error?.code, "ERR_CONFIG");
      assert.match(error?.message ?? "", /^The gateway device has no (video|images) in its API\. /);
      assert.equal(error?.cause.retryable, false);
      assert.deepEqual(requests, []);
    });
  }

  it("says that it cannot be checked, and measures all the same", async () => {
    await start({}, { checkInterval: 1 });
    await flow.untilStatus("device", ({ fill, text }) => fill === "yellow" && text === "no check possible");
    assert.equal((await flow.run("node", {})).error, undefined);
    assert.deepEqual(requests, ["GET /measure"]);
  });
});
