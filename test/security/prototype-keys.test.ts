import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { decodeMeasureResult } from "../../src/model/measure-result.ts";
import { startSimulator } from "../../src/simulator/index.ts";
import { withFolder } from "../media/support.ts";
import { type FlowNode, type Message, TestFlow } from "../support/flow.ts";
import { prototypeNames } from "../support/hostile.ts";
import { closesAfterEach } from "../support/opened.ts";
import { replyJson, startServer } from "../support/servers.ts";
import { storeId, storeNode } from "../support/store-node.ts";

const on = (id: string, type: string, more: object): FlowNode => ({
  id,
  z: "tab",
  type: `dimensioner-${type}`,
  ...more,
});
const polluting = `"__proto__":{"polluted":1,"ok":true},"constructor":{"prototype":{"polluted":1}},"prototype":{"polluted":1},"toString":"polluted","valueOf":1,"hasOwnProperty":1,"then":1,"toJSON":1`;
const measured = `{"errorCode":0,"objectCount":1,"measuredObjects":[{"errorCode":0,"length":1,"width":2,"height":3,${polluting}}],${polluting}}`;

const prototypes = { Object, Array, Function, String, Number, Map, Promise, Buffer, Error };
const ownKeys = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(prototypes).map(([name, { prototype }]) => [
      name,
      Reflect.ownKeys(prototype).map(String).join(),
    ]),
  );

describe("names of built-in object properties", () => {
  const opened = closesAfterEach();
  const before = ownKeys();
  let flow: TestFlow | undefined;

  afterEach(async () => {
    await flow?.stop();
    flow = undefined;
    assert.deepEqual(ownKeys(), before, "something has been polluted");
    assert.equal(Reflect.get({}, "polluted"), undefined);
  });

  it("in responses pollute no prototype, lose no field, and crash nothing", async () => {
    const server = opened(
      await startServer(({ target }, socket) => {
        const item = `{"contentId":"1","id":"1","registrationCode":"ABCD2345",${polluting}}`;
        const isList = /deviceclients|terminals|transactionmedia/.test(target);
        replyJson(socket, isList ? `[${item}]` : measured);
      }),
    );
    const nodes = [
      on("newer", "measure", { device: "device-1" }),
      on("earlier", "measure", { device: "device-2" }),
      on("remote", "remote-trigger", { cloud: "cloud", action: "measure", deviceReference: "ABCD2345" }),
      on("list", "media-list", { cloud: "cloud" }),
      on("split", "media-list", { cloud: "cloud", emit: "split" }),
      on("fleet", "device-list", { cloud: "cloud", changesOnly: true }),
    ];
    const given = (): Message => ({ transactionId: "1", transactionReference: "ORDER-1" });
    const started = await TestFlow.start(
      [
        { id: "device-1", type: "dimensioner-device", address: server.origin },
        { id: "device-2", type: "dimensioner-device", address: server.origin, generation: "earlier" },
        { id: "cloud", type: "dimensioner-cloud", baseUrl: server.origin },
        ...nodes.map((node) => ({ ...node, id: `by-${node.id}` })),
      ],
      { cloud: { token: "t" } },
    );
    flow = started;
    for (const { id } of nodes) {
      const { error, sent } = await started.run(`by-${id}`, given());
      assert.equal(error, undefined, `${id}: ${error?.message}`);
      const { payload } = sent[0]?.msg ?? {};
      const [result] = Array.isArray(payload) ? payload : [payload];
      assert.equal(Object.getPrototypeOf(result), Object.prototype, id);
      assert.equal(Reflect.get(Object(result), "polluted"), undefined, id);
      assert.ok(
        Object.keys(Object(result)).every((name) => !name.includes("native code")),
        id,
      );
    }
  });

  it("in the earlier device's response stay as they are", () => {
    const answer = { errorCode: 0, objectCount: 0, measuredObjects: [], toString: 1, valueOf: 2 };
    const result = decodeMeasureResult(answer, "earlier-device");
    assert.deepEqual([Object.hasOwn(result, "toString"), Object.hasOwn(result, "valueOf")], [true, true]);
    assert.ok(Object.keys(result).every((name) => /^\w+$/.test(name)));
  });

  it("as names of devices, clouds, properties, kinds and actions select nothing", async () => {
    const sim = opened(await startSimulator());
    const nodes = prototypeNames.flatMap((name, index) => [
      on(`dock-${index}`, "measure", { deviceFrom: name }),
      on(`site-${index}`, "media-list", { cloudFrom: name }),
      on(`id-${index}`, "media-list", { cloud: "cloud", transactionId: name }),
      on(`keep-${index}`, "archive", { store: "store", keep: name }),
      on(`layout-${index}`, "archive", { store: "store", layout: `{${name}}` }),
    ]);
    flow = await TestFlow.start(
      [
        { id: "device", type: "dimensioner-device", name: "Dock", address: sim.newer.origin },
        { id: "cloud", type: "dimensioner-cloud", name: "Site", baseUrl: sim.cloud.origin },
        storeNode("/nowhere", "store"),
        ...nodes,
        on("kind", "fetch-image", { device: "device", image: "msg" }),
        on("action", "video-control", { device: "device", action: "msg" }),
        on("by-name", "measure", { deviceFrom: "dock" }),
      ],
      { cloud: { token: sim.cloud.token } },
    );
    for (const { id } of nodes) {
      const msg = JSON.parse(`{"payload":"x",${polluting}}`) as Message;
      const { error, sent } = await flow.run(id, msg);
      assert.ok(error !== undefined, id);
      assert.match(error.code, /^ERR_(?:INPUT|CONFIG|FILE|NOT_FOUND)$/, `${id}: ${error.message}`);
      assert.equal(sent.length, 0);
    }
    for (const name of prototypeNames) {
      const msg = { image: name, action: name, dock: name, imageIdentifier: "1" };
      for (const id of ["kind", "action", "by-name"]) {
        assert.equal((await flow.run(id, { ...msg })).error?.code, "ERR_INPUT", `${id} ${name}`);
      }
    }
    assert.equal(sim.newer.actions.measures, 0);
  });

  it("in messages and sequences are archived as they are", () =>
    withFolder(async (place) => {
      const root = join(place, "root");
      await mkdir(root);
      flow = await TestFlow.start([
        storeNode(root),
        on("archive", "archive", {
          store: storeId(root),
          keep: prototypeNames.join(),
          layout: "{device}/{reference}-{transactionId}",
        }),
      ]);
      for (const [index, name] of prototypeNames.entries()) {
        const msg = JSON.parse(`{${polluting}}`) as Message;
        const { error, sent } = await flow.run("archive", {
          ...msg,
          transactionId: `${index}`,
          transactionReference: name,
          device: name,
          contentType: name,
          contentId: name,
          description: name,
          payload: Buffer.from("ffd8ffe000104a464946ffd9", "hex"),
          parts: { id: name, index: 0, count: 1 },
        });
        assert.equal(error, undefined, `${name}: ${error?.message}`);
        assert.equal(sent.length, 1);
        assert.equal(Reflect.get(sent[0]?.msg ?? {}, "polluted"), undefined);
      }
    }));

  it("in a posted record make it a record like any other", async () => {
    flow = await TestFlow.start([on("hook", "transaction-in", { path: "in", secretIn: "none" })]);
    const { sent, webApp } = flow;
    const server = createServer(webApp).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    try {
      for (const [index, body] of [
        `{"id":0,"errorCode":0,${polluting}}`,
        `{"id":"__proto__","errorCode":0,"deviceClientId":"constructor","barcodeReference":"toString"}`,
        `{"id":2,"errorCode":0,"\\u005f_proto__":{"polluted":1},"x":9007199254740993}`,
        `{"id":3,"errorCode":0,"x":{"y":[{${polluting}}]}}`,
      ].entries()) {
        const headers = { "content-type": "application/json", connection: "close" };
        const { status } = await fetch(`http://127.0.0.1:${port}/in`, { method: "POST", headers, body });
        assert.equal(status, 204);
        while (sent.length <= index) {
          await new Promise((resolve) => setImmediate(resolve));
        }
        const record: unknown = sent[index]?.msg["payload"];
        assert.equal(Object.getPrototypeOf(record), Object.prototype);
        assert.equal(Reflect.get(Object(record), "polluted"), undefined);
      }
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it("in a fault of the simulator change only its response", async () => {
    const sim = opened(await startSimulator());
    const set = {
      "__proto__.polluted": 1,
      "constructor.prototype.polluted": 1,
      "weight.__proto__.polluted": 1,
    };
    const answer = await fetch(`${sim.control.origin}/faults`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ fault: { kind: "json-patch", set, remove: ["__proto__.polluted"] } }),
    });
    assert.ok(answer.ok);
    await (await fetch(`${sim.newer.origin}/api/v1/measure`)).json();
    const polluted: unknown = Reflect.get({}, "polluted");
    // Whoever reports the failure is an object too.
    Reflect.deleteProperty(Object.prototype, "polluted");
    assert.equal(polluted, undefined);
  });

  it("on a message at which Node-RED itself throws do not stop the node, nor its close", async () => {
    const sim = opened(await startSimulator());
    flow = await TestFlow.start([
      { id: "device", type: "dimensioner-device", address: sim.newer.origin },
      on("node", "measure", { device: "device", deviceFrom: "dock" }),
    ]);
    const rejections: unknown[] = [];
    const note = (reason: unknown): void => void rejections.push(reason);
    process.on("unhandledRejection", note);
    try {
      const failing = await flow.run("node", { dock: "", hasOwnProperty: 1 });
      assert.equal(failing.error?.code, "ERR_INPUT");
      await flow.run("node", { reset: true, hasOwnProperty: 1 });
      assert.equal((await flow.run("node", { hasOwnProperty: 1 })).error, undefined);
      await flow.deploy([]);
      assert.deepEqual(rejections, []);
    } finally {
      process.off("unhandledRejection", note);
    }
  });
});
