import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { startSimulator, type Fault } from "../../src/simulator/index.ts";
import { until, workFolders } from "../archive/support.ts";
import { listAll, withFolder } from "../media/support.ts";
import { TestFlow, type FlowNode, type Message } from "../support/flow.ts";
import { storeId, storeNode } from "../support/store-node.ts";
import { closesAfterEach } from "../support/opened.ts";
import { replyBytes, replyJson, startServer, type Answer } from "../support/servers.ts";

const on = (id: string, type: string, more: object): FlowNode => ({
  id,
  z: "tab",
  type: `dimensioner-${type}`,
  ...more,
});
const readers: readonly FlowNode[] = [
  on("newer", "measure", { device: "device" }),
  on("remote", "remote-trigger", { cloud: "cloud", action: "measure", deviceReference: "ABCD2345" }),
  on("list", "media-list", { cloud: "cloud" }),
  on("fleet", "device-list", { cloud: "cloud" }),
];
const given = (): Message => ({ transactionId: "905865", transactionReference: "ORDER-1" });
/** A tenth of what is sent, and far above what one answer may hold: a busy computer collects late what has been let go. */
const mayGrowBytes = 1_000_000_000;
const mega = 1_000_000;

describe("data of any size: memory is limited and the error is clear", () => {
  const opened = closesAfterEach();
  let flow: TestFlow | undefined;
  let peakBytes = 0;
  let startBytes = 0;
  let sampler: NodeJS.Timeout;

  beforeEach(() => {
    startBytes = process.memoryUsage().rss;
    peakBytes = startBytes;
    sampler = setInterval(() => (peakBytes = Math.max(peakBytes, process.memoryUsage().rss)), 5);
  });
  afterEach(async () => {
    clearInterval(sampler);
    await flow?.stop();
    flow = undefined;
    const grown = peakBytes - startBytes;
    assert.ok(grown < mayGrowBytes, `${Math.round(grown / mega)} MB`);
  });

  const start = async (
    origin: { device: string; cloud: string },
    nodes: readonly FlowNode[],
  ): Promise<TestFlow> => {
    flow = await TestFlow.start(
      [
        { id: "device", type: "dimensioner-device", name: "Dock", address: origin.device, timeout: 60 },
        { id: "cloud", type: "dimensioner-cloud", name: "Site", baseUrl: origin.cloud, timeout: 60 },
        ...nodes,
      ],
      { cloud: { token: "simulator" } },
    );
    return flow;
  };
  const startRaw = async (answer: Answer, nodes: readonly FlowNode[]) => {
    const server = opened(await startServer(answer));
    return { server, flow: await start({ device: server.origin, cloud: server.origin }, nodes) };
  };
  const isClear = ({ error }: { error: { message: string } | undefined }, about: string): void => {
    assert.ok(error !== undefined, about);
    assert.ok(error.message.length < 400 && /^\S.*\.$/.test(error.message), `${about}: ${error.message}`);
  };

  const gigabytes: Readonly<Record<string, Fault>> = {
    "10 GB of JSON that are announced": { kind: "body", jsonBytes: 10_000 * mega },
    "10 GB of JSON in chunks": { kind: "body", jsonBytes: 10_000 * mega, framing: "chunked" },
    "a million items": { kind: "body", jsonItems: mega },
    "twenty thousand small items": { kind: "body", jsonItems: 20_000, item: { id: "1", contentId: "1" } },
  };
  for (const [what, fault] of Object.entries(gigabytes)) {
    it(what, async () => {
      const sim = opened(await startSimulator());
      sim.cloud.addMedia("905865", { contentType: "image/jpeg", generateBytes: 9 });
      const test = await start({ device: sim.newer.origin, cloud: sim.cloud.origin }, readers);
      for (const { id } of readers) {
        sim.faults.add({ times: 0, fault });
        const ended = await test.run(id, given());
        isClear(ended, id);
        assert.match(ended.error?.code ?? "", /^ERR_(?:TOO_LARGE|BAD_RESPONSE)$/, id);
        sim.faults.clear();
      }
    });
  }

  const heads: Readonly<Record<string, string>> = {
    "a header of 10 MB": `HTTP/1.1 200 OK\r\nx-long: ${"x".repeat(10 * mega)}\r\n\r\n`,
    "a hundred thousand headers": `HTTP/1.1 200 OK\r\n${"x: y\r\n".repeat(100_000)}\r\n`,
    "a status line of 10 MB": `HTTP/1.1 200 ${"x".repeat(10 * mega)}\r\n\r\n`,
    "a thousand provisional answers": "HTTP/1.1 102 Processing\r\n\r\n".repeat(1_000),
  };
  for (const [what, head] of Object.entries(heads)) {
    it(what, async () => {
      const { flow: test } = await startRaw((_request, socket) => socket.end(head), readers);
      for (const { id } of readers) {
        const ended = await test.run(id, given());
        isClear(ended, id);
        assert.match(ended.error?.code ?? "", /^ERR_(?:CONNECTION_LOST|BAD_RESPONSE)$/, id);
      }
    });
  }

  const bodies: Readonly<Record<string, string>> = {
    "four million opening brackets": "[".repeat(4 * mega),
    "four million opening brackets with a long number": `{"a":12345678901234567890,"b":${"[".repeat(4 * mega)}`,
    "a number of four million digits": `{"errorCode":${"9".repeat(4 * mega)}}`,
    "a name of four million characters": `{"${"n".repeat(4 * mega)}":1}`,
    "a hundred thousand names": `{${Array.from({ length: 100_000 }, (_one, index) => `"n${index}":1`).join()}}`,
    "a text of four million dots and spaces, then one letter": JSON.stringify({
      errorCode: 7,
      errorMessage: `${". ".repeat(2 * mega)}x`,
    }),
    "an id of four million characters": JSON.stringify([
      { id: "i".repeat(4 * mega), contentId: 5, errorCode: [] },
    ]),
  };
  for (const [what, body] of Object.entries(bodies)) {
    it(what, async () => {
      const { flow: test } = await startRaw((_request, socket) => replyJson(socket, body), readers);
      for (const { id } of readers) {
        const ended = await test.run(id, given());
        if (ended.error === undefined) {
          assert.match(what, /an id/, id);
        } else {
          isClear(ended, `${id}: ${what}`);
        }
      }
    });
  }

  it("a download that restarts with another ETag each time ends", () =>
    withFolder(async (folder) => {
      const nodes = ["file", "buffer"].map((output) =>
        on(output, "fetch-media", { cloud: "cloud", output, folder }),
      );
      const { server, flow: test } = await startRaw(({ index }, socket) => {
        const headers = { etag: `"${index}"`, "content-type": "video/mp4" };
        const whole = replyBytes({ headers, body: Buffer.alloc(100_000, 1) });
        socket.end(whole.subarray(0, -50_000));
      }, nodes);
      for (const { id } of nodes) {
        const before = server.requests.length;
        const ended = await test.run(id, { transactionId: "1", payload: { contentId: "1" } });
        isClear(ended, id);
        assert.equal(ended.error?.code, "ERR_CONNECTION_LOST");
        assert.ok(server.requests.length - before <= 6, `${server.requests.length - before} requests`);
      }
      assert.deepEqual(await listAll(folder), []);
    }));

  it("values of 10 MB in a message end in a clear error, wherever a node accepts one", async () => {
    const sim = opened(await startSimulator());
    const text = "i".repeat(10 * mega);
    const nodes = [
      on("image", "fetch-image", { device: "device" }),
      on("kind", "fetch-image", { device: "device", image: "msg" }),
      on("list", "media-list", { cloud: "cloud" }),
      on("code", "remote-trigger", {
        cloud: "cloud",
        action: "stop",
        deviceReference: "code",
        deviceReferenceType: "msg",
      }),
      on("action", "video-control", { device: "device", action: "msg" }),
      on("dock", "measure", { deviceFrom: "code" }),
      on("expression", "media-list", {
        cloud: "cloud",
        transactionId: "$error(code & '. ' & code & 'x')",
        transactionIdType: "jsonata",
      }),
    ];
    const test = await start({ device: sim.newer.origin, cloud: sim.cloud.origin }, nodes);
    for (const { id } of nodes) {
      const msg = { imageIdentifier: text, transactionId: text, code: text, action: text, image: text };
      const ended = await test.run(id, msg);
      isClear(ended, id);
      assert.equal(ended.error?.code, "ERR_INPUT", id);
    }
    assert.equal(sim.requests.length, 0);
  });

  it("names of 300 characters and of 10 MB are shortened for files and packages, or refused", () =>
    withFolder(async (place) => {
      const root = join(place, "root");
      await mkdir(root);
      const archive = { store: storeId(root) };
      const test = await start({ device: "127.0.0.1:9", cloud: "https://127.0.0.1:9" }, [
        storeNode(root),
        on("archive", "archive", { ...archive, layout: "{device}/{reference}/{transactionId}" }),
      ]);
      for (const name of ["n".repeat(300), "漢".repeat(300), "📦".repeat(300), "n".repeat(mega)]) {
        const { error, sent } = await test.run("archive", {
          transactionId: name,
          transactionReference: name,
          device: name,
          description: name,
          contentType: name,
          filename: `${name}.jpg`,
          payload: Buffer.from("ffd8ffe000104a464946ffd9", "hex"),
        });
        if (error === undefined) {
          assert.equal(sent.length, 1);
        } else {
          isClear({ error }, name.slice(0, 3));
        }
      }
      await until(async () => (await workFolders(root)).length === 0, "what was refused is tidied up");
      const parts = (await listAll(root)).flatMap((path) => path.split("/"));
      assert.ok(parts.every((part) => Buffer.byteLength(part) <= 255));
    }));

  it("a device's answer with names and references of 300 characters is taken as it is", async () => {
    const long = "n".repeat(300);
    const measured = { errorCode: 0, objectCount: 1, measuredObjects: [{ errorCode: 0, [long]: long }] };
    const { flow: test } = await startRaw(
      (_request, socket) => replyJson(socket, { ...measured, [long]: long, dimsUnitOfMeasure: long }),
      readers,
    );
    const { error, sent } = await test.run("newer", given());
    assert.equal(error, undefined);
    assert.equal(Reflect.get(Object(sent[0]?.msg["payload"]), long), long);
    assert.ok((test.lastStatus("newer")?.text.length ?? 99) < 32);
  });
});
