import assert from "node:assert/strict";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { Correction, TransactionRecord } from "../../src/model/shapes.ts";
import { startSimulator } from "../../src/simulator/index.ts";
import { readManifest } from "../../src/vault/packages/manifest.ts";
import { withFolder } from "../media/support.ts";
import { TestFlow, type FlowNode } from "../support/flow.ts";
import { storeNode } from "../support/store-node.ts";

const secret = "s3cret-of-the-dock";
const header = "x-webhook-secret";

interface Layer {
  readonly route?: { readonly path: unknown };
}

describe("dimensioner-transaction-in", () => {
  let flow: TestFlow;
  let server: Server | undefined;
  let origin: string;

  const node = (more: object = {}): FlowNode => ({
    id: "node",
    z: "tab",
    type: "dimensioner-transaction-in",
    path: "/dimensioner/transaction",
    ...more,
  });
  const start = async (nodes: readonly FlowNode[], secrets: object = { node: { secret } }): Promise<void> => {
    flow = await TestFlow.start(nodes, secrets);
    server = createServer(flow.webApp);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    assert.ok(typeof address === "object" && address !== null);
    origin = `http://127.0.0.1:${address.port}`;
  };
  const post = (
    record: object,
    {
      path = "/dimensioner/transaction",
      headers = { [header]: secret } as Record<string, string>,
      ...more
    }: { path?: string; headers?: Record<string, string>; signal?: AbortSignal } = {},
  ): Promise<Response> =>
    fetch(origin + path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ errorCode: 0, ...record }),
      ...more,
    });
  const routes = (): number => {
    const { stack } = Reflect.get(flow.webApp, "_router") as { stack: Layer[] };
    return stack.filter(({ route }) => route !== undefined).length;
  };
  const sentBy = (id: string): Record<string, unknown>[] =>
    flow.sent.filter(({ nodeId }) => nodeId === id).map(({ msg }) => msg);
  const untilSent = async (count: number): Promise<void> => {
    while (sentBy("node").length < count) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  };

  afterEach(async () => {
    for (const { text } of flow.shown) {
      assert.ok(text.length < 32 && !text.includes(secret), text);
    }
    await flow.stop();
    server?.closeAllConnections();
    await new Promise((resolve) => (server === undefined ? resolve(undefined) : server.close(resolve)));
  });

  it("makes a message of each record that the simulated cloud posts, of both versions", async () => {
    await start([node()]);
    const hook = { url: `${origin}/dimensioner/transaction`, header: { name: header, value: secret } };
    const sim = await startSimulator({
      webhooks: [
        { ...hook, version: "v1", copies: 2 },
        { ...hook, version: "v2", outOfOrder: true },
      ],
    });
    try {
      await sim.newer.scanAtDevice("395212340000004173");
      await fetch(`${sim.newer.origin}/api/v1/measure?TransactionReference=ORDER-1`);
      while (sim.cloud.webhookPosts.length < 6) {
        await sim.nextEvent(({ type }) => type === "webhook");
      }
      assert.deepEqual(new Set(sim.cloud.webhookPosts.map(({ statusCode }) => statusCode)), new Set([204]));
      await untilSent(2);
      const [scan, measure] = sentBy("node").sort((a, b) =>
        (a["payload"] as { dateTimeUtc: string }).dateTimeUtc.localeCompare(
          (b["payload"] as { dateTimeUtc: string }).dateTimeUtc,
        ),
      );
      assert.equal(sentBy("node").length, 2, "either version and each copy is the same record");
      assert.deepEqual(
        [scan?.["barcodeReference"], scan?.["transactionReference"]],
        ["395212340000004173", null],
      );
      assert.equal(measure?.["transactionReference"], "ORDER-1");
      const payload = measure?.["payload"] as Record<string, unknown>;
      assert.equal(payload["transactionId"], measure?.["transactionId"]);
      assert.deepEqual([payload["ok"], payload["source"], payload["length"]], [true, "webhook", 33.5]);
      assert.equal(typeof measure?.["_msgid"], "string");
    } finally {
      await sim.close();
    }
  });

  for (const store of ["", "store"]) {
    it(`sends a correction of a record, marked, and both are archived, ${store === "" ? "without" : "with"} a store`, async () => {
      await withFolder(async (folder) => {
        const sim = await startSimulator();
        try {
          await start(
            [
              node({ store }),
              storeNode(folder, "store"),
              { id: "cloud", type: "dimensioner-cloud", baseUrl: sim.cloud.origin },
              {
                id: "archive",
                z: "tab",
                type: "dimensioner-archive",
                store: "store",
                cloud: "cloud",
                settle: 0,
              },
            ],
            { node: { secret }, cloud: { token: sim.cloud.token } },
          );
          await fetch(`${sim.newer.origin}/api/v1/measure?TransactionReference=ORDER-1`);
          const [transaction] = sim.cloud.transactions;
          const record = { id: transaction?.guid, legacyId: transaction?.legacyId, length: 3, weight: 1 };
          for (const more of [{}, { weight: 2.5 }, { weight: 2.5 }, {}]) {
            assert.equal((await post({ ...record, ...more })).status, 204);
          }
          await untilSent(2);
          const [first, second] = sentBy("node");
          assert.equal(first !== undefined && "corrects" in first, false);
          const { receivedAt, ...corrected } = second?.["corrects"] as Correction;
          assert.deepEqual(corrected, { transactionId: transaction?.guid, fields: ["weight"] });
          assert.ok(Math.abs(Date.parse(receivedAt) - Date.now()) < 60_000, receivedAt);
          assert.equal((second?.["payload"] as Record<string, unknown>)["weight"], 2.5);
          const archived: unknown[] = [];
          for (const msg of [first, second]) {
            const { error, sent } = await flow.run("archive", { ...msg });
            assert.equal(error, undefined, error?.message);
            archived.push(sent[0]?.msg["filename"]);
          }
          assert.equal(new Set(archived).size, 2);
          assert.equal(sentBy("node").length, 2);
        } finally {
          await sim.close();
        }
      });
    });
  }

  it("puts references on the message without the spaces and line ends around them, and archives them so", async () => {
    await withFolder(async (folder) => {
      const archive = { id: "archive", z: "tab", type: "dimensioner-archive", store: "store" };
      await start([node(), storeNode(folder, "store"), archive]);
      const record = {
        id: 1,
        transactionReference: " ",
        barcodeReference: "4711\r\n",
        customReference1: " A ",
      };
      await post(record);
      await untilSent(1);
      const [msg = {}] = sentBy("node");
      const { payload, transactionReference, barcodeReference } = msg;
      assert.deepEqual([transactionReference, barcodeReference], [null, "4711"]);
      assert.deepEqual((payload as TransactionRecord).barcodeReference, "4711\r\n", "as in the record");
      const { sent } = await flow.run("archive", msg);
      const manifest = readManifest(await readFile(String(sent[0]?.msg["filename"]), "utf8"));
      const {
        customReference2: _2,
        customReference3: _3,
        ...references
      } = manifest?.references ?? assert.fail();
      assert.deepEqual(references, {
        transactionReference: null,
        customReference1: "A",
        barcodeReference: "4711",
      });
    });
  });

  it("says that it is ready, how many came, and what it refused", async () => {
    await start([node()]);
    assert.deepEqual(flow.shown, [{ nodeId: "node", fill: "green", shape: "dot", text: "listening" }]);
    assert.equal((await post({ id: 1 })).status, 204);
    await flow.untilStatus("node", ({ text }) => text === "received: 1");
    assert.equal((await post({ id: 1 }, { headers: { [header]: "no" } })).status, 401);
    await flow.untilStatus("node", ({ fill, text }) => fill === "red" && text === "rejected: wrong secret");
    assert.equal((await post({ id: {} })).status, 400);
    await flow.untilStatus("node", ({ fill, text }) => fill === "red" && text === "rejected: not a record");
  });

  it("takes the secret as the last part of the path", async () => {
    await start([node({ secretIn: "path" })]);
    const at = (part: string) => post({ id: 1 }, { path: `/dimensioner/transaction${part}`, headers: {} });
    for (const part of ["", "/", "/x", `/${secret}x`, "/%E0%A4%A"]) {
      const answer = await at(part);
      assert.deepEqual([answer.status, await answer.text()], [401, "Not authorized.\n"], part);
    }
    assert.equal((await at(`/${secret}/more`)).status, 404);
    assert.equal((await at(`/${secret}?a=b`)).status, 204);
  });

  it("serves without a secret when told to, and answers 405 to a GET", async () => {
    await start([node({ secretIn: "none", path: "In/a.b" })]);
    assert.equal((await post({ id: 1 }, { path: "/in/a.b/", headers: {} })).status, 204);
    assert.equal((await post({ id: 1 }, { path: "/in/aXb", headers: {} })).status, 404);
    const answer = await fetch(`${origin}/in/a.b`);
    assert.deepEqual([answer.status, answer.headers.get("allow")], [405, "POST"]);
    assert.equal(await answer.text(), "Post transaction records here.\n");
    // Whoever opens the address in a browser makes no red ring.
    assert.ok(flow.shown.every(({ fill }) => fill === "green"));
  });

  it("shows a post whose body it did not read", async () => {
    await start([node()]);
    const headers = { [header]: secret, "content-type": "text/json" };
    assert.equal((await post({ id: 1 }, { headers })).status, 415);
    await flow.untilStatus("node", ({ fill, text }) => fill === "red" && text === "rejected: not a record");
  });

  it("does not serve what is not set right, and says so at deploy", async () => {
    const wrong = [
      node({ id: "a", path: "" }),
      node({ id: "b", path: "x/:y" }),
      node({ id: "c", path: "x/../y" }),
      node({ id: "d", header: "not a header" }),
      node({ id: "e", secretIn: "cookie" }),
      node({ id: "f", queueLimit: 0 }),
      node({ id: "g", dedupe: "long" }),
      node({ id: "h" }),
    ];
    await start(
      wrong,
      Object.fromEntries(wrong.map(({ id }) => [id, { secret: id === "h" ? " " : secret }])),
    );
    for (const { id } of wrong) {
      assert.deepEqual(flow.lastStatus(id), {
        nodeId: id,
        fill: "red",
        shape: "ring",
        text: "check the settings",
      });
    }
    assert.equal(Reflect.get(flow.webApp, "_router"), undefined);
    assert.equal((await post({ id: 1 })).status, 404);
  });

  it("serves a path once; the second node says so, and takes over when the first is gone", async () => {
    const second = node({ id: "second" });
    const inside = node({ id: "inside", path: "dimensioner", secretIn: "path" });
    const secrets = { node: { secret }, second: { secret }, inside: { secret } };
    await start([node(), second, inside], secrets);
    for (const id of ["second", "inside"]) {
      assert.equal(flow.lastStatus(id)?.text, "path used by another node");
    }
    assert.equal(routes(), 1);
    await flow.deploy([second], secrets);
    assert.equal((await post({ id: 1 })).status, 204);
    await flow.untilStatus("second", ({ text }) => text === "received: 1");
    assert.equal(routes(), 1);
  });

  for (const [how, path] of [
    ["", "dimensioner/transaction"],
    [" in other letter case, with slashes", "/Dimensioner/TRANSACTION/"],
  ] as const) {
    it(`names the node that has its path${how}, for as long as that is so, also with a store, and what it lost`, () =>
      withFolder(async (folder) => {
        const hall = (name: string): FlowNode => node({ name, store: "store" });
        const second = node({ id: "second", name: "Hall 2", path, store: "store" });
        const rest = [
          storeNode(folder, "store"),
          { id: "catch", z: "tab", type: "catch", scope: ["second"] },
        ];
        const secrets = { node: { secret }, second: { secret } };
        const stays = (text: string): void =>
          assert.deepEqual(flow.lastStatus("second"), { nodeId: "second", fill: "red", shape: "ring", text });
        await start([hall("Hall 1"), second, ...rest], secrets);
        await flow.untilStatus("node", ({ text }) => text === "listening");
        stays("path used by Hall 1");
        for (const id of [1, 2]) {
          assert.equal((await post({ id })).status, 204);
        }
        await untilSent(2);
        const { msg } = await flow.untilSent("catch", ({ error }) => error !== undefined);
        const { code, message } = msg["error"] as Record<string, string>;
        assert.equal(code, "ERR_CONFIG");
        assert.match(message ?? "", /\/transaction did not reach this node: .* same path \(Hall 1\)/i);
        assert.equal(sentBy("second").length, 0);
        const count = sentBy("catch").length;
        assert.equal((await post({ id: 3 }, { headers: { [header]: "wrong" } })).status, 401);
        assert.equal((await fetch(`${origin}/dimensioner/transaction`)).status, 405);
        assert.equal((await post({ id: 4 })).status, 204);
        await untilSent(3);
        await flow.untilSent("catch", () => sentBy("catch").length > count);
        assert.equal(sentBy("catch").length, 3, "only of posts that it would have taken");
        // A message that says that its transaction is handled shows nothing over it.
        assert.equal((await flow.run("second", { transactionId: "1" })).error, undefined);
        stays("path used by Hall 1");
        await flow.deploy([hall("Hall 3"), second, ...rest], secrets, "nodes");
        await flow.untilStatus("second", ({ text }) => text === "path used by Hall 3");
        stays("path used by Hall 3");
        await flow.deploy([second, ...rest], secrets, "nodes");
        await flow.untilStatus("second", ({ fill, text }) => fill === "green" && text !== "");
        assert.equal((await post({ id: 5 })).status, 204);
        await flow.untilStatus("second", ({ text }) => text === "received: 1");
        assert.equal(sentBy("catch").length, 3);
      }));
  }

  it("leaves no route after a hundred deploys", async () => {
    await start([node()]);
    for (let round = 0; round < 100; round++) {
      await flow.deploy([node({ name: String(round) })], { node: { secret } });
      assert.equal(routes(), 1);
    }
    assert.equal((await post({ id: 1 })).status, 204);
    await flow.deploy([], {});
    assert.equal(routes(), 0);
    assert.equal((await post({ id: 1 })).status, 404);
  });

  it("hands on after a deploy what it took before, and still knows its duplicates", async () => {
    await start([node()]);
    for (let id = 1; id <= 40; id++) {
      assert.equal((await post({ id })).status, 204);
    }
    // Taken in the same turn as the deploy begins: at least these have to wait for it.
    const burst = Promise.all(Array.from({ length: 40 }, (_, index) => post({ id: 41 + index })));
    await once(server ?? assert.fail(), "request");
    await flow.deploy([node({ name: "again" })], { node: { secret } });
    const statuses = (await burst).map(({ status }) => status);
    const taken = 40 + statuses.filter((status) => status === 204).length;
    await untilSent(taken);
    for (let id = 1; id <= 40; id++) {
      assert.equal((await post({ id })).status, 204);
    }
    await post({ id: "last" });
    await untilSent(taken + 1);
    const ids = sentBy("node").map((msg) => msg["transactionId"]);
    assert.equal(new Set(ids).size, ids.length);
    assert.equal(ids.at(-1), "last");
  });

  it("answers a post while a deploy replaces other nodes, a device among them", async () => {
    const nodes = (name: string): FlowNode[] => [
      node(),
      {
        id: "dock",
        type: "dimensioner-device",
        name,
        address: "127.0.0.1:1",
        checkInterval: 0,
        cloudIds: "d-1",
      },
      { id: "slow", z: "tab", type: "helper", name },
    ];
    await start(nodes("before"));
    const closed = Promise.withResolvers<void>();
    const closing = new Promise<void>((resolve) => {
      flow.node("slow").on("close", (done: () => void) => {
        resolve();
        void closed.promise.then(done);
      });
    });
    const deployed = flow.deploy(nodes("after"), { node: { secret } }, "nodes");
    await closing;
    try {
      const signal = AbortSignal.timeout(60_000);
      assert.equal((await post({ id: 1, deviceClientId: "d-1" }, { signal })).status, 204);
    } finally {
      closed.resolve();
      await deployed;
    }
    await untilSent(1);
    assert.equal((await post({ id: 2, deviceClientId: "d-1" })).status, 204);
    await untilSent(2);
    const devices = sentBy("node").map(({ payload }) => (payload as { device: unknown }).device);
    assert.deepEqual(devices, [null, "after"]);
  });

  it("answers 503 to a post that an unforeseen error ends, so that it is posted again", async () => {
    await start([
      node(),
      { id: "dock", type: "dimensioner-device", address: "127.0.0.1:1", checkInterval: 0 },
    ]);
    let isBroken = true;
    Object.defineProperty(flow.node("dock"), "access", {
      get() {
        if (isBroken) {
          throw new Error("unforeseen");
        }
        return { problem: null };
      },
    });
    const signal = AbortSignal.timeout(60_000);
    assert.equal((await post({ id: 1, deviceClientId: "d-1" }, { signal })).status, 503);
    isBroken = false;
    assert.equal((await post({ id: 1, deviceClientId: "d-1" })).status, 204);
    await untilSent(1);
  });

  it("filters by device and by success, and answers 204 all the same", async () => {
    await start([node({ onlyOk: true, deviceClientId: "D-1, d-2" })]);
    for (const record of [
      { id: 1, deviceClientId: "d-3" },
      { id: 2, deviceClientId: "d-1", errorCode: 5 },
      { id: 3, deviceClientId: "d-1" },
      { id: 4, deviceClientId: "D-2" },
    ]) {
      assert.equal((await post(record)).status, 204);
    }
    await untilSent(2);
    assert.deepEqual(
      sentBy("node").map((msg) => msg["transactionId"]),
      ["3", "4"],
    );
  });

  it("takes a body that a parser of the site has read before", async () => {
    await start([node()]);
    const parsed = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        Object.assign(request, { body: JSON.parse(Buffer.concat(chunks).toString()) });
        flow.webApp(request as never, response as never);
      });
    });
    parsed.listen(0, "127.0.0.1");
    await once(parsed, "listening");
    const { port } = parsed.address() as { port: number };
    const answer = await fetch(`http://127.0.0.1:${port}/dimensioner/transaction`, {
      method: "POST",
      headers: { "content-type": "application/json", [header]: secret },
      body: JSON.stringify({ id: 1, errorCode: 0 }),
    });
    assert.equal(answer.status, 204);
    parsed.closeAllConnections();
    await new Promise((resolve) => parsed.close(resolve));
  });
});
