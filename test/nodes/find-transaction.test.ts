import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startSimulator, type Simulator, type Webhook } from "../../src/simulator/index.ts";
import { readPackages, until } from "../archive/support.ts";
import { TestFlow, type FlowNode, type Message } from "../support/flow.ts";
import { storeNode } from "../support/store-node.ts";

const tag = { tag: "customReference2" };
const tagOf = ({ measuredBy }: Message): unknown => (measuredBy as Message)["tag"];

/** One parcel in, one package out: with the device on the local network, and the cloud that names the transaction later. */
describe("the transaction of a local measurement, in a flow", () => {
  let sim: Simulator;
  let flow: TestFlow;
  let root: string;
  let server: Server;

  const config = (): FlowNode[] => [
    { id: "device", type: "dimensioner-device", name: "Dock 4", address: sim.newer.origin },
    { id: "cloud", type: "dimensioner-cloud", baseUrl: sim.cloud.origin },
    storeNode(root, "store"),
  ];
  const records = {
    id: "records",
    z: "tab",
    type: "dimensioner-transaction-in",
    secretIn: "none",
    path: "hook",
  };
  const measure = { id: "measure", z: "tab", type: "dimensioner-measure", device: "device" };
  const archive = {
    id: "archive",
    z: "tab",
    type: "dimensioner-archive",
    store: "store",
    settle: 0,
    wait: 20,
  };

  /** A cloud that posts to the flow, and the flow. */
  async function start(nodes: readonly object[], hook: Partial<Webhook> = {}): Promise<void> {
    root = await mkdtemp(join(tmpdir(), "find-"));
    server = createServer(((request, response) => flow.webApp(request, response)) as RequestListener);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    assert.ok(typeof address === "object" && address !== null);
    const url = `http://127.0.0.1:${address.port}/hook`;
    sim = await startSimulator({ webhooks: [{ url, ...hook }] });
    flow = await TestFlow.start([...config(), ...nodes] as FlowNode[], { cloud: { token: "simulator" } });
  }

  afterEach(async () => {
    await flow.stop();
    await sim.close();
    await new Promise((resolve) => server.close(resolve));
    await rm(root, { recursive: true });
  });

  async function measured(payload: string): Promise<Message> {
    const { sent, error } = await flow.run("measure", { payload });
    assert.equal(error, undefined);
    return sent[0]?.msg ?? {};
  }

  for (const [when, hook] of [
    ["before the job", {}],
    ["while the job waits, in version 1", { version: "v1", delayMs: 1_000 }],
    ["twice, by a cloud whose clock is an hour ahead", { copies: 2 }],
  ] as const) {
    it(`is found when its record comes ${when}: pictures, exact answer and media make one package`, async () => {
      await start(
        [
          { ...records, store: "store" },
          { ...measure, ...tag },
          { ...archive, cloud: "cloud" },
        ],
        hook,
      );
      sim.cloud.setRecords({ clockAheadMs: 3_600_000 });
      const msg = await measured("ORDER-1");
      if (!("delayMs" in hook)) {
        await until(() => sim.cloud.webhookPosts.length > 0, "the record is there");
      }
      const { error, sent } = await flow.run("archive", msg);
      assert.equal(error?.message, undefined);
      const [transaction] = sim.cloud.transactions;
      const payload = sent[0]?.msg["payload"] as Message;
      const ids = [transaction?.guid, transaction?.id];
      assert.ok(ids.includes(String(payload["transactionId"])), String(payload["transactionId"]));
      assert.deepEqual([payload["complete"], payload["alreadyArchived"]], [true, false]);
      const [[folder, manifest] = assert.fail()] = await readPackages(root);
      const { references } = manifest;
      assert.deepEqual([manifest.tag, references[manifest.tag ?? assert.fail()]], [tag.tag, tagOf(msg)]);
      const files = await readdir(join(root, folder));
      // The device's two pictures, and the cloud's three, of which two are the same.
      const pictures = (payload["files"] as readonly Message[]).filter(({ path }) =>
        /\.(?:jpg|bmp)$/.test(String(path)),
      );
      assert.equal(pictures.length, 5);
      assert.equal(files.filter((name) => /\.(?:jpg|bmp)$/.test(name)).length, 3, files.join());
      const { size } = new Set(pictures.map(({ path }) => path));
      assert.equal(size, 3, "each names a file that is there");
      assert.equal(await readFile(join(root, folder, "measurement.raw"), "utf8"), msg["rawResponse"]);
      assert.equal((await readPackages(root)).size, 1);
    });
  }

  it("is found again when the same message comes again: it is archived already", async () => {
    await start([
      { ...records, store: "store" },
      { ...measure, ...tag },
      { ...archive, cloud: "cloud" },
    ]);
    const msg = await measured("ORDER-1");
    await flow.run("archive", { ...msg });
    const { sent } = await flow.run("archive", { ...msg });
    assert.equal((sent[0]?.msg["payload"] as Message)["alreadyArchived"], true);
    assert.equal((await readPackages(root)).size, 1);
  });

  it("is found too when another flow archives its record: together they archive it once", async () => {
    const own = { ...archive, cloud: "cloud" };
    const wired = { ...records, store: "store", wires: [["other"]] };
    await start([wired, { ...measure, ...tag }, { ...own }, { ...own, id: "other" }]);
    const msg = await measured("ORDER-1");
    const [{ error, sent }] = await Promise.all([
      flow.run("archive", msg),
      until(() => flow.sent.some(({ nodeId }) => nodeId === "other"), "the record is archived"),
    ]);
    assert.equal(error?.message, undefined);
    assert.equal((sent[0]?.msg["payload"] as Message)["complete"], true);
    const packages = [...(await readPackages(root)).values()];
    const [transaction] = sim.cloud.transactions;
    assert.deepEqual(
      new Set(packages.map(({ transactionId }) => transactionId)),
      new Set([transaction?.guid]),
    );
    const hashes = packages.flatMap(({ items }) => items.map(({ sha256 }) => sha256));
    assert.equal(new Set(hashes).size, hashes.length, "nothing is archived twice");
    assert.equal(packages.filter(({ raw }) => raw !== null).length, 1);
    assert.equal(packages.filter(({ supplements }) => supplements === null).length, 1);
  });

  it("is not found without a transaction in node with the same store, and the error says so", async () => {
    await start([records, { ...measure, ...tag }, { ...archive, cloud: "cloud", wait: 0.5 }]);
    const running = flow.run("archive", await measured("ORDER-1"));
    await flow.untilStatus("archive", ({ text }) => text === "1 open, awaiting record");
    const { error } = await running;
    assert.equal(error?.code, "ERR_MEDIA_INCOMPLETE");
    assert.match(
      error.message,
      /no record of this measurement has arrived.*transaction in node with the same store/,
    );
  });

  it("is not waited for where nothing was sent by which it could be told", async () => {
    await start([
      { ...records, store: "store" },
      { ...measure, transactionReferenceType: "str", transactionReference: "" },
      { ...archive, cloud: "cloud", wait: 900 },
    ]);
    const { error } = await flow.run("archive", await measured(""));
    assert.match(error?.message ?? "", /names no reference and no tag/);
  });

  it("is not sought where no cloud is asked", async () => {
    await start([measure, archive]);
    const { error, sent } = await flow.run("archive", await measured("ORDER-1"));
    assert.equal(error, undefined);
    assert.deepEqual([(sent[0]?.msg["payload"] as Message)["transactionId"]], [null]);
  });
});
