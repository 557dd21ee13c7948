import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { prefix, readObjects, stagedIn } from "../archive/bucket-objects.ts";
import { pictureOf, until } from "../archive/support.ts";
import { nodeRedMajor, startNodeRed, type NodeRed } from "../support/node-red.ts";
import { startPostgres, type PostgresServer } from "../support/postgres.ts";
import { startStub, type BucketStub } from "../support/s3-stub.ts";
import { archivingNodes } from "./fleet-flow.ts";
import { testStore } from "./store-dialog.ts";

const path = "dimensioner/transaction";
const secret = "nobody may read this";

describe("dimensioner-store with PostgreSQL and a bucket, in two real Node-REDs", () => {
  let server: PostgresServer;
  let stub: BucketStub;
  let simulator: Simulator;
  let database: string;
  const nodeReds: NodeRed[] = [];

  before(async () => {
    server = await startPostgres();
    database = await server.makeDatabase();
    stub = await startStub();
    simulator = await startSimulator();
    const start = () =>
      startNodeRed({ major: nodeRedMajor, env: { PGPASSWORD: server.admin.password, RETAIN_DAYS: "30" } });
    nodeReds.push(...(await Promise.all([start(), start()])));
  });
  after(async () => {
    await Promise.all(nodeReds.map((one) => one.stop()));
    await simulator?.close();
    await stub?.close();
    await server?.remove();
  });

  const bucket = () => ({ files: "s3", bucket: "evidence", prefix, endpoint: stub.origin });
  const flow = (): object[] => {
    const place = { z: "tab", x: 100, y: 100 };
    return [
      { id: "tab", type: "tab", label: "test" },
      {
        id: "store",
        type: "dimensioner-store",
        ...bucket(),
        database: "postgres",
        host: "127.0.0.1",
        port: server.port,
        databaseName: database,
        credentials: { user: server.admin.user, accessKeyId: "AKPACKER", secretAccessKey: secret },
      },
      ...archivingNodes(simulator.cloud, ["say"]),
      // Media of a message are nowhere else.
      { ...place, id: "bring", type: "http in", url: "/bring", method: "post", wires: [["buffer"]] },
      {
        ...place,
        id: "buffer",
        type: "function",
        func: "msg.transactionId = msg.payload.id; msg.payload = Buffer.from(msg.payload.picture, 'base64'); return msg;",
        wires: [["archive"]],
      },
      { ...place, id: "ask", type: "http in", url: "/evidence-of", method: "get", wires: [["choose"]] },
      {
        ...place,
        id: "choose",
        type: "function",
        func: "Object.assign(msg, msg.payload); return msg;",
        wires: [["evidence"]],
      },
      {
        ...place,
        id: "evidence",
        type: "dimensioner-evidence",
        store: "store",
        action: "msg",
        by: "all",
        limit: 100,
        emit: "array",
        wires: [["say"]],
      },
      { ...place, id: "say", type: "http response", wires: [] },
    ];
  };
  const first = (): NodeRed => nodeReds[0] ?? assert.fail();
  const second = (): NodeRed => nodeReds.at(-1) ?? assert.fail();

  /** The lines of Test connection about the bucket, with these values in the dialog. */
  const test = async (values: object = {}): Promise<string[]> => {
    const dialog = {
      id: "store",
      ...bucket(),
      accessKeyId: "AKPACKER",
      secretAccessKey: secret,
      ...values,
    };
    const lines = await testStore(first(), dialog, secret);
    return lines
      .filter(({ key }) => /^(?:bucket|config)/.test(key))
      .map(({ state, key }) => `${state} ${key}`);
  };
  const post = async (nodeRed: NodeRed, id: string): Promise<number> => {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ id, errorCode: 0 });
    return (await nodeRed.adminFetch(`/${path}`, { method: "POST", headers, body })).status;
  };
  const ask = async <T>(nodeRed: NodeRed, action: string): Promise<T> =>
    (await (await nodeRed.adminFetch(`/evidence-of?action=${action}`)).json()) as T;
  const addImage = (id: string): void =>
    void simulator.cloud.addMedia(id, { contentType: "image/jpeg", generateBytes: 20_000 });
  const rowsOf = (sql: string): Promise<Record<string, unknown>[]> => server.run(sql, database);
  const countOf = async (table: string): Promise<number> =>
    Number((await rowsOf(`SELECT count(*) FROM dimensioner.${table}`))[0]?.["count"]);
  const openJobs = "jobs WHERE state NOT IN ('reported', 'failed')";
  const untilArchived = (count: number): Promise<void> =>
    until(
      async () => (await countOf("packages")) === count && (await countOf(openJobs)) === 0,
      `${count} packages in the index`,
    );
  const packages = async (): Promise<string[]> =>
    [...(await readObjects(stub)).values()].map(({ transactionId }) => transactionId ?? "").toSorted();

  it("says in Test connection what works with the bucket, and leaves nothing there", async () => {
    assert.deepEqual(await test(), ["good bucket", "good bucketConditional", "good bucketLockNone"]);
    assert.deepEqual(await test({ retainDays: 30 }), [
      "good bucket",
      "good bucketConditional",
      "bad bucketLockMissing",
    ]);
    assert.equal((await test({ retainDays: "${RETAIN_DAYS}" })).at(-1), "bad bucketLockMissing");
    assert.deepEqual(await test({ bucket: "another" }), ["bad bucketMissing"]);
    assert.deepEqual(await test({ endpoint: "http://127.0.0.1:9" }), ["bad bucketUnreachable"]);
    for (const values of [
      { bucket: "" },
      { prefix: "a/../b" },
      { endpoint: "ftp://x" },
      { accessKeyId: "" },
    ]) {
      assert.deepEqual(await test(values), ["bad configInvalid"], JSON.stringify(values));
    }
    const denied = { status: 403, code: "AccessDenied" };
    stub.fault = ({ query }) => (query.has("object-lock") ? denied : undefined);
    const states = [await test(), await test({ retainDays: 30 })].map((lines) => lines.at(-1));
    assert.deepEqual(states, ["good bucketLockUnknown", "bad bucketNoLock"]);
    stub.fault = () => denied;
    assert.deepEqual(await test(), ["bad bucketDenied"]);
    stub.fault = () => undefined;
    assert.equal(stub.objects.size, 0);
  });

  it("archives once what the cloud posts to both, and what a message brings", async () => {
    await Promise.all(nodeReds.map((one) => one.deploy(flow())));
    const ids = Array.from({ length: 6 }, (_none, index) => `both-${index}`);
    ids.forEach(addImage);
    await until(async () => (await post(first(), "warm-up")) === 204, "the first one is a worker");
    await until(async () => (await post(second(), "warm-up")) === 204, "the second one is a worker");
    addImage("warm-up");
    const statuses = await Promise.all(ids.flatMap((id) => [post(first(), id), post(second(), id)]));
    assert.deepEqual(new Set(statuses), new Set([204]));
    const body = JSON.stringify({ id: "brought", picture: pictureOf("brought").toString("base64") });
    const headers = { "content-type": "application/json" };
    const answer = await first().adminFetch("/bring", { method: "POST", headers, body });
    const { folder, files } = (await answer.json()) as { folder: string; files: { path: string }[] };
    assert.match(folder, /^s3:\/\/evidence\/dock 4\/ü\/.*\/[\da-f]{12}$/);
    assert.ok(files.every((file) => file.path.startsWith(`${folder}/`)));
    await untilArchived(ids.length + 2);
    assert.deepEqual(await packages(), [...ids, "brought", "warm-up"].toSorted());
    await until(() => stagedIn(stub).length === 0, "nothing is staged");
  });

  it("finds and verifies packages in Node-RED, and knows its open work", async () => {
    const found = await ask<{ transactionId: string; folder: string; problem: unknown }[]>(second(), "find");
    assert.deepEqual(found.map(({ transactionId }) => transactionId).toSorted(), await packages());
    assert.ok(found.every(({ folder, problem }) => folder.startsWith("s3://") && problem === null));
    const { verdict, packages: count } = await ask<{ verdict: string; packages: number }>(second(), "verify");
    assert.deepEqual([verdict, count], ["ok", found.length]);
    const state = await ask<{ openJobs: number }>(second(), "state");
    assert.equal(state.openJobs, 0);
  });

  it("has its keys in no log and no file", async () => {
    for (const { logs, userDir } of nodeReds) {
      assert.equal(logs.join("\n").includes(secret), false);
      for (const entry of await readdir(userDir, { recursive: true, withFileTypes: true })) {
        if (entry.isFile()) {
          const content = await readFile(join(entry.parentPath, entry.name), "latin1");
          assert.equal(content.includes(secret), false, entry.name);
        }
      }
    }
  });
});
