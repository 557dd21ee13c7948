import assert from "node:assert/strict";
import { runInNewContext } from "node:vm";
import { once } from "node:events";
import { createServer } from "node:http";
import { startSimulator, type Simulator, type StartOptions } from "../../src/simulator/index.ts";
import { TestFlow, type FlowNode, type Message } from "../support/flow.ts";

const deviceReference = "ABCD2345";

/** The three nodes that act for one parcel, each with the action that takes the parcel's reference. */
const acting = [
  { type: "dimensioner-measure", device: "device" },
  { type: "dimensioner-video-control", device: "device", action: "start" },
  { type: "dimensioner-remote-trigger", cloud: "cloud", deviceReference, action: "start" },
  { type: "dimensioner-remote-trigger", cloud: "cloud", deviceReference, action: "measure" },
] as const;

const titled = acting.map((node) => {
  const action = "action" in node ? ` (${node.action})` : "";
  return { node, title: `${node.type}${action}` };
});

let sim: Simulator;
let flow: TestFlow;

async function start(nodes: readonly object[], options: StartOptions = {}): Promise<void> {
  sim = await startSimulator({ mode: "video-with-measurement", ...options });
  const config = [
    { id: "device", type: "dimensioner-device", name: "Dock 4", address: sim.newer.origin, timeout: 60 },
    { id: "cloud", type: "dimensioner-cloud", name: "Hub", baseUrl: sim.cloud.origin, timeout: 60 },
  ];
  const flows = nodes.map((node, index) => ({
    id: index === 0 ? "node" : `node-${index}`,
    z: "tab",
    ...node,
  }));
  flow = await TestFlow.start([...config, ...flows] as FlowNode[], { cloud: { token: "simulator" } });
}

async function stop(): Promise<void> {
  await flow.stop();
  await sim.close();
}

/** References of all commands that arrived, the measures' and the starts'. */
function arrived(): (string | null)[] {
  const commands = sim.requests.filter(({ path }) => !path.endsWith("/deviceclients"));
  return commands.map(({ query }) => {
    const names = Object.fromEntries(
      [...new URLSearchParams(query)].map(([name, value]) => [name.toLowerCase(), value]),
    );
    return names["transactionreference"] ?? null;
  });
}

describe("the reference of a parcel", () => {
  afterEach(stop);

  for (const { node, title } of titled) {
    it(`of ${title}: the message's own, else the scan in the payload, written back`, async () => {
      await start([node]);
      const cases: readonly (readonly [Message, string])[] = [
        [{ transactionReference: "OWN", payload: "SCAN" }, "OWN"],
        [{ payload: "SCAN" }, "SCAN"],
        [{ payload: " SCAN-2\r\n" }, "SCAN-2"],
        [{ payload: 4711 }, "4711"],
        [{ transactionReference: "", payload: "SCAN-3" }, "SCAN-3"],
        [{ transactionReference: null, payload: 0 }, "0"],
        [{ payload: Buffer.from("SCAN-4\r\n") }, "SCAN-4"],
        [{ payload: Buffer.from("\u0002K\xD6LN\u0003", "latin1") }, "K\xD6LN"],
        [{ payload: runInNewContext("Uint8Array.of(0x46, 0x4e)") }, "FN"],
        [{ payload: Uint8Array.of(0x46, 0x4e, 0x32).buffer }, "FN2"],
        [{ transactionReference: "\uFEFFORDER-78\r\n" }, "ORDER-78"],
        [{ transactionReference: Buffer.from("\0ORDER-79\n") }, "ORDER-79"],
        [{ transactionReference: "\r\n", payload: "SCAN-5" }, "SCAN-5"],
      ];
      for (const [message, expected] of cases) {
        const { error, sent } = await flow.run("node", { ...message });
        assert.equal(error, undefined);
        assert.equal(sent[0]?.msg["transactionReference"], expected);
      }
      assert.deepEqual(
        arrived(),
        cases.map(([, expected]) => expected),
      );
      await flow.untilStatus("node", ({ text }) => text.endsWith(" · SCAN-5"));
    });
  }

  const noScans: readonly unknown[] = [
    "",
    "  \r\n",
    {},
    { code: "X" },
    ["X"],
    Buffer.from("\xFF\xD8\xFF\xE0\0\x10JFIF\0\x01", "latin1"),
    true,
    null,
    NaN,
  ];

  it("is not taken from a payload that is no scan: measured without one, as before", async () => {
    await start([acting[0]]);
    for (const payload of noScans) {
      assert.equal((await flow.run("node", { payload })).error, undefined);
    }
    assert.deepEqual(
      arrived(),
      noScans.map(() => null),
    );
  });

  it("is that of a Buffer which was JSON on its way", async () => {
    await start([acting[0]]);
    assert.equal(
      (await flow.run("node", { payload: { ...Buffer.from("SCAN\r\n").toJSON() } })).error,
      undefined,
    );
    assert.deepEqual(arrived(), ["SCAN"]);
  });

  for (const { node, title } of titled) {
    it(`of ${title} is no number that is rounded, wherever it stands`, async () => {
      await start([node]);
      for (const name of ["payload", "transactionReference"]) {
        const { error } = await flow.run("node", { [name]: Number("340123450000000018") });
        assert.equal(error?.code, "ERR_INPUT", name);
        assert.match(error.message, /a number of more than 15 digits is rounded\. Send it as a text\./);
        assert.equal(error.cause.outcome, "not-sent");
      }
      assert.equal(sim.requests.length, 0);
      assert.equal((await flow.run("node", { payload: Number.MAX_SAFE_INTEGER })).error, undefined);
    });
  }

  for (const { node, title } of titled.slice(0, 2)) {
    it(`of ${title} can be demanded: an empty scan is an error then, and nothing is sent`, async () => {
      await start([{ ...node, ifBlank: "error" }]);
      for (const payload of noScans) {
        const message: Message = { payload };
        const { error } = await flow.run("node", message);
        assert.equal(error?.code, "ERR_INPUT");
        assert.match(error?.message ?? "", /^The scan is empty/);
        assert.equal(error?.cause.device, "Dock 4");
        assert.deepEqual(message["payload"], payload);
      }
      assert.equal(sim.requests.length, 0);
      assert.equal((await flow.run("node", { payload: "SCAN" })).error, undefined);
    });
  }

  for (const { node, title } of titled) {
    it(`of ${title} is refused before it is sent if it is longer than any label`, async () => {
      await start([node]);
      const { error } = await flow.run("node", { payload: "X".repeat(201) });
      assert.equal(error?.code, "ERR_INPUT");
      assert.match(error.message, /is not valid for transactionReference: it is longer than 200 characters/);
      assert.equal(error.cause.outcome, "not-sent");
      assert.equal(sim.requests.length, 0);
      assert.equal((await flow.run("node", { payload: "\u7269".repeat(200) })).error, undefined);
    });
  }

  it("is shown with its end where it is too long for the status", async () => {
    await start([acting[0]]);
    sim.newer.setParcel({ lengthCm: 10.5, widthCm: 20, heightCm: 30.5, weightKg: 2, barcode: "X" });
    await flow.run("node", { payload: "395212340000008058" });
    assert.equal(flow.lastStatus("node")?.text, "10.5×20×30.5 cm · …340000008058");
  });

  it("is not taken from the payload of a control code, which is no parcel", async () => {
    await start(acting.slice(0, 3));
    const message = { control: "VIDEO_START", payload: "]C0VIDEO_START" };
    for (const id of ["node", "node-1"]) {
      const { error, sent } = await flow.run(id, { ...message });
      assert.equal(error, undefined);
      assert.notEqual(sent[0]?.msg["transactionReference"], message.payload);
    }
    assert.equal((await flow.run("node-2", { ...message })).error?.code, "ERR_INPUT");
    await flow.run("node", { ...message, transactionReference: "OWN" });
    await flow.run("node", { control: "", payload: "SCAN" });
    assert.deepEqual(arrived(), [null, null, "OWN", "SCAN"]);
  });

  it("is not read from the payload by a node that is set to take it from elsewhere", async () => {
    await start([{ ...acting[0], transactionReference: "order.id" }]);
    await flow.run("node", { payload: "SCAN" });
    await flow.run("node", { payload: "SCAN", order: { id: "ORDER" } });
    assert.deepEqual(arrived(), [null, "ORDER"]);
  });

  it("is not taken from the payload by stop and cancel, which have none", async () => {
    await start([{ type: "dimensioner-video-control", device: "device", action: "cancel" }]);
    const { sent } = await flow.run("node", { payload: "button" });
    assert.equal("transactionReference" in (sent[0]?.msg ?? {}), false);
    const video = sent[0]?.msg["video"] as Message;
    assert.equal(video["transactionReference"], null);
  });
});

describe("a repeated reference", () => {
  afterEach(stop);
  const actionsOf = (): number => sim.newer.actions.measures + sim.newer.actions.starts;

  for (const { node, title } of titled) {
    it(`does not act twice in ${title}, at once or later`, async () => {
      await start([{ ...node, ignoreRepeats: 60 }], { measureMs: 100 });
      const ends = await Promise.all(["A", "A", "B", "A"].map((payload) => flow.start("node", { payload })));
      assert.ok(ends.every(({ error }) => error === undefined));
      const later = await flow.run("node", { payload: "A" });
      assert.deepEqual([later.error, later.sent], [undefined, []]);
      assert.equal(actionsOf(), 2);
      assert.equal(flow.sent.length, 2);
      await flow.untilStatus("node", ({ text }) => text === "repeats ignored: 3");
    });
  }

  it("acts again where repeats are not ignored, the time is over, or there is no reference", async () => {
    await start([acting[0], { ...acting[0], ignoreRepeats: 0.1 }, { ...acting[0], ignoreRepeats: 60 }]);
    await flow.run("node", { payload: "A" });
    await flow.run("node", { payload: "A" });
    assert.equal(actionsOf(), 2);
    await flow.run("node-1", { payload: "A" });
    await new Promise((resolve) => setTimeout(resolve, 120));
    await flow.run("node-1", { payload: "A" });
    assert.equal(actionsOf(), 4);
    await flow.run("node-2", {});
    await flow.run("node-2", {});
    assert.equal(actionsOf(), 6);
  });

  it("acts again after a failure, wherever the failed measurement goes", async () => {
    await start([
      { ...acting[0], ignoreRepeats: 60 },
      { ...acting[0], ignoreRepeats: 60, failures: "output" },
    ]);
    for (const id of ["node", "node-1"]) {
      sim.newer.setParcel(null);
      await flow.run(id, { payload: "A" });
      sim.newer.setParcel("cube");
      const { sent } = await flow.run(id, { payload: "A" });
      assert.deepEqual(
        sent.map(({ port }) => port),
        [0],
      );
    }
  });

  it("starts again after a cancel", async () => {
    await start([{ type: "dimensioner-video-control", device: "device", action: "msg", ignoreRepeats: 60 }]);
    for (const action of ["start", "cancel", "start", "start"]) {
      await flow.run("node", { transactionReference: "A", action });
    }
    assert.equal(sim.newer.actions.starts, 2);
  });

  it("stays a repeat when another dock stops or cancels", async () => {
    await start([], { mode: "video-only", cloudDevices: 1 });
    const other = await startSimulator({ mode: "video-only" });
    try {
      const node = { z: "tab", action: "msg", ignoreRepeats: 60 };
      const remote = { deviceReference: "dock", deviceReferenceType: "msg" };
      await flow.deploy(
        [
          { id: "device", type: "dimensioner-device", name: "1", address: sim.newer.origin },
          { id: "device-2", type: "dimensioner-device", name: "2", address: other.newer.origin },
          { id: "cloud", type: "dimensioner-cloud", name: "Hub", baseUrl: sim.cloud.origin },
          { ...node, id: "node", type: "dimensioner-video-control", device: "device", deviceFrom: "dock" },
          { ...node, id: "node-1", type: "dimensioner-remote-trigger", cloud: "cloud", ...remote },
        ],
        { cloud: { token: "simulator" } },
      );
      const otherCode = sim.cloud.devices.find(({ code }) => code !== deviceReference)?.code;
      for (const [id, dock, otherDock] of [
        ["node", "1", "2"],
        ["node-1", deviceReference, otherCode],
      ] as const) {
        const run = (message: Message) => flow.run(id, { transactionReference: "A", ...message });
        assert.equal((await run({ action: "start", dock })).sent.length, 1);
        for (const action of ["stop", "cancel"]) {
          assert.equal((await run({ action, dock: otherDock })).error, undefined);
          const { error, sent } = await run({ action: "start", dock });
          assert.deepEqual([error, sent], [undefined, []]);
        }
        assert.equal((await run({ action: "cancel", dock })).error, undefined);
        assert.equal((await run({ action: "start", dock })).sent.length, 1);
      }
    } finally {
      await other.close();
    }
  });

  it("is no repeat on another dock", async () => {
    await start([{ ...acting[0], ignoreRepeats: 60, deviceFrom: "dock" }]);
    const other = createServer((_, response) => response.end('{"errorCode":0,"objectCount":0}'));
    other.listen(0, "127.0.0.1");
    await once(other, "listening");
    try {
      const { port } = other.address() as { port: number };
      const dock = { type: "dimensioner-device", address: sim.newer.origin };
      await flow.deploy([
        { ...dock, id: "device", name: "1" },
        { ...dock, id: "device-2", name: "2", address: `127.0.0.1:${port}` },
        { id: "node", z: "tab", ...acting[0], ignoreRepeats: 60, deviceFrom: "dock", failures: "output" },
      ] as FlowNode[]);
      await flow.run("node", { payload: "A", dock: "1" });
      const { sent } = await flow.run("node", { payload: "A", dock: "2" });
      assert.equal(sent.length, 1);
    } finally {
      other.close();
    }
  });

  it("says at once that the time is no number", async () => {
    await start([{ ...acting[0], ignoreRepeats: "often" }]);
    assert.equal((await flow.run("node", { payload: "A" })).error?.code, "ERR_CONFIG");
    assert.equal(sim.requests.length, 0);
  });
});

describe("which device measured", () => {
  afterEach(stop);

  it("is on the message of a device and of the cloud, with its name in the result", async () => {
    await start([acting[0], acting[3]]);
    const local = (await flow.run("node", { payload: "A" })).sent[0]?.msg ?? {};
    const remote = (await flow.run("node-1", { payload: "A" })).sent[0]?.msg ?? {};
    const [by, byRemote] = [local["measuredBy"] as Message, remote["measuredBy"] as Message];
    const references = {
      transactionReference: "A",
      customReference1: null,
      customReference2: null,
      customReference3: null,
    };
    assert.deepEqual(by, {
      id: "device",
      name: "Dock 4",
      surface: "newer-device",
      deviceReference: null,
      serialNumber: null,
      certificate: null,
      sentAt: by["sentAt"],
      sentSteady: by["sentSteady"],
      references,
      tag: null,
    });
    assert.deepEqual(byRemote, {
      id: "cloud",
      name: "Hub",
      surface: "cloud",
      deviceReference,
      serialNumber: null,
      certificate: null,
      sentAt: byRemote["sentAt"],
      sentSteady: byRemote["sentSteady"],
      references,
      tag: null,
    });
    assert.equal((local["payload"] as Message)["device"], "Dock 4");
    assert.equal((remote["payload"] as Message)["device"], sim.cloud.devices[0]?.name);
  });

  it("decides about the transaction: a local measurement after a failed remote one has none", async () => {
    await start([
      { ...acting[3], failures: "output" },
      { ...acting[0], failures: "output" },
    ]);
    sim.newer.setParcel(null);
    const failed = (await flow.run("node", { payload: "A" })).sent[0]?.msg ?? {};
    assert.equal((failed["payload"] as Message)["ok"], false);
    assert.equal(typeof failed["transactionId"], "string");
    const again = (await flow.run("node-1", { ...failed })).sent[0]?.msg ?? {};
    assert.equal(again["transactionId"], null);
    sim.newer.setParcel("cube");
    const measured = (await flow.run("node-1", { ...failed })).sent[0]?.msg ?? {};
    assert.deepEqual([measured["transactionReference"], measured["transactionId"]], ["A", null]);
  });

  it("says when the measure was sent, the wait for its turn left out", async () => {
    const measureMs = 300;
    await start([acting[0]], { measureMs });
    const messages: Message[] = [{ payload: "A" }, { payload: "B" }];
    await Promise.all(messages.map((msg) => flow.start("node", msg)));
    const sentAt = flow.sent.map(({ msg }) => (msg["measuredBy"] as Message)["sentAt"]);
    const [first = 0, second = 0] = sentAt.map((at) => Date.parse(String(at)));
    assert.ok(second - first >= measureMs - 10, `${first} ${second}`);
  });

  it("is on the message of a failed measurement too, on either way out", async () => {
    await start([acting[0], { ...acting[0], failures: "output" }]);
    sim.newer.setParcel(null);
    const caught: Message = {};
    const { error } = await flow.run("node", caught);
    assert.equal(error?.cause.device, "Dock 4");
    const { sent } = await flow.run("node-1", {});
    for (const msg of [caught, sent[0]?.msg ?? {}]) {
      assert.equal((msg["measuredBy"] as Message)["id"], "device");
      assert.equal((msg["payload"] as Message)["device"], "Dock 4");
    }
  });

  it("goes by its address where its config node has no name", async () => {
    await start([acting[0]]);
    const { host } = new URL(sim.newer.origin);
    await flow.deploy([
      { id: "device", type: "dimensioner-device", address: sim.newer.origin },
      { id: "node", z: "tab", ...acting[0] },
    ] as FlowNode[]);
    const { sent } = await flow.run("node", {});
    assert.equal((sent[0]?.msg["measuredBy"] as Message)["name"], host);
  });
});

describe("the tag of a measure", () => {
  afterEach(stop);

  it("is a unique id in the chosen reference, and on the message", async () => {
    await start([{ ...acting[0], tag: "customReference2", customReference1: "shift 1" }]);
    const tags = new Set<unknown>();
    for (const payload of ["A", "A", "B"]) {
      const msg = (await flow.run("node", { payload })).sent[0]?.msg ?? {};
      const { tag } = msg["measuredBy"] as Message;
      const result = msg["payload"] as Message;
      assert.match(String(tag), /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/);
      assert.deepEqual([result["customReference1"], result["customReference2"]], ["shift 1", tag]);
      const { references } = msg["measuredBy"] as { references: Message };
      assert.deepEqual([references["customReference1"], references["customReference2"]], ["shift 1", tag]);
      tags.add(tag);
    }
    assert.equal(tags.size, 3);
  });

  it("is the message's own if it has one that can be unique, and does not stay on the message", async () => {
    const own = "6B2E0A2C-0000-4000-8000-00C04FC964FF";
    await start([{ ...acting[0], tag: "customReference3" }]);
    for (const tag of [own, "9a4c31f00d1b2e57", 1234567890123456]) {
      const msg = (await flow.run("node", { payload: "A", tag })).sent[0]?.msg ?? {};
      assert.equal((msg["measuredBy"] as Message)["tag"], String(tag));
      assert.equal((msg["payload"] as Message)["customReference3"], String(tag));
      assert.equal("tag" in msg, false);
    }
    const count = sim.requests.length;
    for (const tag of [
      "DB1.DBX0.0",
      "Line_1",
      "9a4c31f00d1b2e5",
      "------------------",
      `${own}${own}${own}`,
      7,
    ]) {
      const { error, msg } = await flow.run("node", { payload: "A", tag });
      assert.equal(error?.code, "ERR_INPUT", String(tag));
      assert.match(error?.message ?? "", /msg\.tag.*unique ID/s);
      assert.equal(msg["tag"], tag);
    }
    assert.equal(sim.requests.length, count);
    for (const tag of [null, "", {}]) {
      const msg = (await flow.run("node", { payload: "A", tag })).sent[0]?.msg ?? {};
      assert.match(String((msg["measuredBy"] as Message)["tag"]), /^[\da-f]{8}-/);
    }
  });

  it("is none of a node that has none, whatever a message calls a tag", async () => {
    await start([acting[0]]);
    const { error, sent } = await flow.run("node", { payload: "A", tag: "DB1.DBX0.0" });
    assert.equal(error, undefined);
    const { tag, measuredBy } = sent[0]?.msg ?? {};
    assert.deepEqual([tag, (measuredBy as Message)["tag"]], ["DB1.DBX0.0", null]);
  });

  it("is said at deploy not to go together with a value of the flow's own, and nothing is measured", async () => {
    await start([{ ...acting[0], tag: "customReference2", customReference2: "order.line" }]);
    assert.equal(flow.lastStatus("node")?.text, "check the settings");
    const { error } = await flow.run("node", { payload: "A" });
    assert.equal(error?.code, "ERR_CONFIG");
    assert.match(error?.message ?? "", /“tag”.*already has a value/i);
    assert.equal(sim.requests.length, 0);
  });

  it("is null on a generation that takes no references", async () => {
    await start([{ ...acting[0], tag: "customReference2" }]);
    await flow.deploy([
      { id: "device", type: "dimensioner-device", address: sim.earlier.origin, generation: "earlier" },
      { id: "node", z: "tab", ...acting[0], tag: "customReference2" },
    ] as FlowNode[]);
    const { error, sent } = await flow.run("node", { payload: "A" });
    assert.equal(error, undefined);
    const { tag, references } = sent[0]?.msg["measuredBy"] as Message;
    assert.equal(tag, null);
    assert.deepEqual(new Set(Object.values(references as Message)), new Set([null]));
  });
});
