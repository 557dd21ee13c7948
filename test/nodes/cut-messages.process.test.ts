import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { nodeRedMajor, startNodeRed, type NodeRed } from "../support/node-red.ts";
import { rowsIn, storeDatabase } from "../support/rows.ts";

const place = { z: "tab", x: 100, y: 100 };
const sentence = "this command was running";

/** POST /measure?NUMBER measures; what a Catch node gets is a line of the log. */
function flowFor(sim: Simulator): Record<string, unknown>[] {
  return [
    { id: "tab", type: "tab", label: "test" },
    { id: "device", type: "dimensioner-device", name: "Dock 1", address: sim.newer.origin, timeout: 60 },
    { ...place, id: "ask", type: "http in", url: "/measure", method: "post", wires: [["named", "answer"]] },
    { ...place, id: "answer", type: "http response", wires: [] },
    {
      ...place,
      id: "named",
      type: "function",
      func: "return { transactionReference: msg.payload.reference };",
      outputs: 1,
      wires: [["measure"]],
    },
    {
      ...place,
      id: "measure",
      type: "dimensioner-measure",
      name: "Scale",
      device: "device",
      wires: [[], []],
    },
    { ...place, id: "catch", type: "catch", scope: null, wires: [["say"]] },
    {
      ...place,
      id: "say",
      type: "function",
      func: "node.warn(`caught ${msg.transactionReference} ${msg.error.code} ${msg.error.cause.outcome} by ${msg.error.source.name}`);",
      outputs: 0,
      wires: [],
    },
  ];
}

describe(`a measure that is at work when Node-RED ${nodeRedMajor} stops its flows`, () => {
  let sim: Simulator;
  let nodeRed: NodeRed;
  let flow: Record<string, unknown>[];

  /** Begins a measure that the device does not answer. */
  const measure = async (reference: string): Promise<void> => {
    sim.faults.add({
      surface: "newer",
      path: "/api/v1/measure",
      times: 0,
      fault: { kind: "delay", ms: 600_000 },
    });
    const arrived = sim.nextRequest(({ path }) => path.startsWith("/api/v1/measure"));
    await nodeRed.adminFetch("/measure", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ reference }),
    });
    await arrived;
  };
  const linesWith = (text: string): string[] => nodeRed.logs.filter((line) => line.includes(text));
  const assertToldOnce = (reference: string): void => {
    assert.deepEqual(
      linesWith(`caught ${reference}`).map((line) => line.replace(/^.*caught/, "caught")),
      [`caught ${reference} ERR_CANCELLED unknown by Scale`],
    );
    assert.equal(linesWith(`(${reference})`).length, 1, "the log has it once");
  };

  beforeEach(async () => {
    sim = await startSimulator();
    flow = flowFor(sim);
    nodeRed = await startNodeRed({
      major: nodeRedMajor,
      flows: flow,
      settings: { runtimeState: { enabled: true, ui: true } },
    });
  });
  afterEach(async () => {
    await nodeRed.stop();
    await sim.close();
  });

  it("is told to the Catch node of the next flow and to the log, after a full deploy", async () => {
    await measure("ORDER-1");
    const caught = nodeRed.nextLine(/caught/);
    await nodeRed.deploy(flow);
    await caught;
    await nodeRed.deploy(flow);
    assertToldOnce("ORDER-1");
  });

  it("is told after a reload of the flows", async () => {
    await measure("ORDER-2");
    const caught = nodeRed.nextLine(/caught/);
    await nodeRed.deploy([], "reload");
    await caught;
    assertToldOnce("ORDER-2");
  });

  it("is in the log once the flows are stopped, and told to the Catch node once they are started", async () => {
    await measure("ORDER-3");
    const setState = (state: string): Promise<Response> =>
      nodeRed.adminFetch("/flows/state", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ state }),
      });
    const logged = nodeRed.nextLine(/ORDER-3/);
    assert.ok((await setState("stop")).ok);
    assert.match(await logged, new RegExp(`\\[error\\] \\[dimensioner-measure:Scale\\] .*${sentence}`));
    const caught = nodeRed.nextLine(/caught/);
    assert.ok((await setState("start")).ok);
    await caught;
    assertToldOnce("ORDER-3");
  });

  it("is in the log when the process is ended by a signal", async () => {
    await measure("ORDER-4");
    await nodeRed.stop();
    assert.equal(linesWith(`(ORDER-4)`).length, 1);
    assert.match(linesWith("(ORDER-4)")[0] ?? "", /\[error\] \[dimensioner-measure:Scale\]/);
  });

  it("is in the log when an error of another node ends the process", async () => {
    const wrong = {
      ...place,
      id: "wrong",
      type: "function",
      func: "void Promise.reject(new Error('nobody catches this'));",
      outputs: 0,
      wires: [],
    };
    const list = {
      ...place,
      id: "list",
      type: "dimensioner-fetch-video",
      name: "Film",
      device: "device",
      wait: 600,
      wires: [[]],
    };
    const crash = {
      ...place,
      id: "crash",
      type: "http in",
      url: "/crash",
      method: "post",
      wires: [["wrong"]],
    };
    const both = { wires: [["measure", "list"]] };
    await nodeRed.deploy([
      ...flow.map((one) => (one["id"] === "named" ? { ...one, ...both } : one)),
      list,
      crash,
      wrong,
    ]);
    await measure("ORDER-7");
    const logged = [nodeRed.nextLine(/Scale\].*ORDER-7/), nodeRed.nextLine(/Film\].*ORDER-7/)];
    nodeRed.adminFetch("/crash", { method: "POST" }).catch(() => undefined);
    const [command, read] = await Promise.all(logged);
    assert.match(command ?? "", /\[error\] .*Node-RED ended while this command was running/);
    assert.match(read ?? "", /\[error\] .*before this finished/);
    assert.equal(linesWith("(ORDER-7)").length, 2);
  });

  it("is in the log when a signal ends the process in the middle of a deploy", async () => {
    const slow = {
      ...place,
      id: "slow",
      type: "function",
      // It takes longer to close than the process lives.
      func: "node.on('close', (done) => node.warn('closing'));",
      outputs: 0,
      wires: [],
    };
    const both = { wires: [["measure", "slow"]] };
    await nodeRed.deploy([...flow.map((one) => (one["id"] === "named" ? { ...one, ...both } : one)), slow]);
    await measure("ORDER-6");
    const closing = nodeRed.nextLine(/closing/);
    const deploying = nodeRed.deploy(flow).catch(() => undefined);
    await closing;
    await nodeRed.stop();
    await deploying;
    assert.equal(linesWith(`(ORDER-6)`).length, 1);
  });

  for (const [what, change] of Object.entries({
    "has other nodes in its scope": { scope: ["other"] },
    "belongs to a group without it": { scope: "group", g: "group" },
    "is disabled": { d: true },
  })) {
    it(`is in the log once where the Catch node ${what}`, async () => {
      const group = { ...place, id: "group", type: "group", nodes: ["catch"] };
      const nodes = [...flow.map((one) => (one["id"] === "catch" ? { ...one, ...change } : one)), group];
      await nodeRed.deploy(nodes);
      await measure("ORDER-8");
      await nodeRed.deploy(nodes);
      assert.equal(linesWith(sentence).length, 1);
      assert.deepEqual(linesWith("caught"), []);
    });
  }

  for (const [what, change] of Object.entries({
    deleted: (one: object) => ({ ...one, type: "debug", active: false, id: "other" }),
    disabled: (one: object) => ({ ...one, d: true }),
  })) {
    it(`is in the log with the name of its node where that was ${what}`, async () => {
      await measure("ORDER-5");
      await nodeRed.deploy(flow.map((one) => (one["id"] === "measure" ? change(one) : one)));
      assert.equal(linesWith("(ORDER-5)").length, 1);
      assert.match(linesWith("no longer deployed")[0] ?? "", /\[dimensioner-measure:Scale\]/);
      assert.deepEqual(linesWith("caught"), []);
    });
  }
});

describe(`a measure that is at work when Node-RED ${nodeRedMajor} is killed, with a store`, () => {
  let sim: Simulator;
  let nodeRed: NodeRed;
  let userDir: string;
  let flow: Record<string, unknown>[];

  const start = async (): Promise<void> => {
    nodeRed = await startNodeRed({ major: nodeRedMajor, userDir });
  };
  const post = async (path: string, body: object): Promise<number> => {
    const response = await nodeRed.adminFetch(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return response.status;
  };
  /** Begins a measure that the device does not answer. */
  const measure = async (reference: string): Promise<void> => {
    const fault = { kind: "delay", ms: 600_000 } as const;
    sim.faults.add({ surface: "newer", path: "/api/v1/measure", times: 0, fault });
    const arrived = sim.nextRequest(({ path }) => path.startsWith("/api/v1/measure"));
    await post("/measure", { reference });
    await arrived;
  };
  /** A line of the log, which may have been written already. */
  const line = async (pattern: RegExp): Promise<string> =>
    nodeRed.logs.find((one) => pattern.test(one)) ?? nodeRed.nextLine(pattern);
  const told = (): string[] =>
    nodeRed.logs.filter((line) => line.includes("caught")).map((line) => line.replace(/^.*caught/, "caught"));
  const commands = (): unknown[] =>
    rowsIn(storeDatabase(userDir, "store"), "SELECT operation, device, node_name FROM commands");
  const save = (): Promise<void> => writeFile(join(userDir, "flows.json"), JSON.stringify(flow));

  beforeEach(async () => {
    userDir = await mkdtemp(join(tmpdir(), "cut-messages-"));
    sim = await startSimulator();
    flow = [
      ...flowFor(sim),
      { id: "store", type: "dimensioner-store", name: "Evidence" },
      {
        ...place,
        id: "in",
        type: "dimensioner-transaction-in",
        path: "records",
        secretIn: "none",
        store: "store",
      },
    ];
    await save();
    await start();
  });
  afterEach(async () => {
    await nodeRed.stop();
    await sim.close();
    await rm(userDir, { recursive: true, force: true, maxRetries: 3 });
  });

  it("is reported by the next start as unknown, with its message, once; and nothing is sent again", async () => {
    await measure("ORDER-1");
    assert.deepEqual(commands(), [{ operation: "measure", device: "Dock 1", node_name: "Scale" }]);
    await nodeRed.kill();
    await start();
    await line(/caught/);
    assert.deepEqual(told(), ["caught ORDER-1 ERR_CANCELLED unknown by Scale"]);
    const [logged = "", second] = nodeRed.logs.filter((line) => line.includes("(ORDER-1)"));
    assert.match(
      logged,
      /\[warn\] \[dimensioner-measure:Scale\] Node-RED ended while this command was running/,
    );
    assert.equal(second, undefined);
    await untilNone(commands);
    await nodeRed.kill();
    await start();
    // What was left is looked for before this one is put into the database.
    await measure("ORDER-2");
    assert.deepEqual(told(), []);
    assert.equal(sim.requestsTo("newer", "/api/v1/measure").length, 2);
  });

  it("is reported as not sent if it was waiting for its turn", async () => {
    await measure("ORDER-1");
    await post("/measure", { reference: "ORDER-2" });
    while (commands().length < 2) {
      await nextTurn();
    }
    await nodeRed.kill();
    await start();
    await line(/caught ORDER-1/);
    await line(/caught ORDER-2/);
    assert.deepEqual(told().toSorted(), [
      "caught ORDER-1 ERR_CANCELLED unknown by Scale",
      "caught ORDER-2 ERR_CANCELLED not-sent by Scale",
    ]);
  });

  it("is reported by the next start after a regular stop too, which has written it to the log", async () => {
    await measure("ORDER-1");
    await nodeRed.stop();
    assert.equal(nodeRed.logs.filter((one) => one.includes("(ORDER-1)")).length, 1);
    await start();
    await line(/caught/);
    assert.deepEqual(told(), ["caught ORDER-1 ERR_CANCELLED unknown by Scale"]);
  });

  it("names the transaction where the record of the webhook is in the store", async () => {
    await measure("ORDER-2");
    const record = {
      id: "12345",
      errorCode: 0,
      transactionReference: "ORDER-2",
      length: 10,
      width: 20,
      height: 30,
    };
    assert.equal(await post("/records", record), 204);
    await nodeRed.kill();
    await start();
    assert.match(
      await line(/\(ORDER-2\)/),
      /the device has measured: the record from the cloud is transaction 12345/,
    );
  });

  it("is in the log where its node is gone", async () => {
    await measure("ORDER-3");
    await nodeRed.kill();
    flow = flow.map((one) => (one["id"] === "measure" ? { ...one, id: "other" } : one));
    await save();
    await start();
    assert.match(await line(/no longer deployed/), /\[dimensioner-measure:Scale\]/);
    assert.equal(nodeRed.logs.filter((one) => one.includes("(ORDER-3)")).length, 1);
  });

  it("is in the log where no node of its type is left", async () => {
    await measure("ORDER-5");
    await nodeRed.kill();
    flow = flow.filter((one) => one["id"] !== "measure");
    await save();
    await start();
    assert.match(await line(/no longer deployed/), /\[dimensioner-measure:Scale\]/);
    assert.equal(nodeRed.logs.filter((one) => one.includes("(ORDER-5)")).length, 1);
    await untilNone(commands);
  });

  it("leaves nothing in the store once it was answered", async () => {
    const arrived = sim.nextRequest(({ path }) => path.startsWith("/api/v1/measure"));
    await post("/measure", { reference: "ORDER-4" });
    await arrived;
    await untilNone(commands);
  });
});

async function untilNone(read: () => unknown[]): Promise<void> {
  while (read().length > 0) {
    await nextTurn();
  }
}
