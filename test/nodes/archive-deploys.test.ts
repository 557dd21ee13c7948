import assert from "node:assert/strict";
import { readPackages, until } from "../archive/support.ts";
import { withFolder } from "../media/support.ts";
import { holdSyncs } from "../support/hold-syncs.ts";
import { databaseNameIn, postgresOptions } from "../database/databases.ts";
import { TestFlow, type FlowNode } from "../support/flow.ts";
import { sharedPostgres } from "../support/shared-postgres.ts";
import { storeId, storeNode } from "../support/store-node.ts";
import { archive, ArchiveSuite, credentials, nextEnd, type Payload } from "./archive-suite.ts";

const measured = {
  ok: true,
  source: "newer-device",
  length: 33.5,
  dimsUnitOfMeasure: "cm",
  measuredObjects: [{}],
};

describe("dimensioner-archive, deployed while jobs are open", () => {
  const suite = new ArchiveSuite();

  it("keeps an accepted job over a deploy: its message ends, and the job's own comes afterwards", async () => {
    await withFolder(async (root) => {
      const node = archive(root, { wait: 600, keep: "order.id, big" });
      const test = await suite.start(root, node);
      const running = test.start("node", {
        transactionId: "1",
        transactionReference: "ORDER-1",
        topic: "parcels",
        order: { id: 7, secret: 1 },
        payload: "gone",
      });
      await test.untilStatus("node", ({ fill }) => fill === "yellow");
      const warned: string[] = [];
      test.node("node").warn = (text: unknown) => void warned.push(String(text));
      const deployed = test.deploy([...suite.configs(root), node], credentials);
      const { error } = await running;
      assert.equal(error?.code, "ERR_CANCELLED");
      assert.equal(error.cause.retryable, false, "nobody shall send it again");
      await deployed;
      assert.equal(test.sent.length, 0);
      assert.deepEqual(warned, []);
      suite.addVideo("1");
      const { error: none } = await nextEnd(test, "node");
      assert.equal(none, undefined);
      const [only] = test.sent;
      assert.equal(test.sent.length, 1);
      const { payload, _msgid, filename, ...rest } = only?.msg ?? {};
      assert.ok(typeof _msgid === "string" && typeof filename === "string");
      assert.equal((payload as Payload).alreadyArchived, false);
      assert.deepEqual(rest, {
        resumed: true,
        transactionId: "1",
        transactionReference: "ORDER-1",
        topic: "parcels",
        order: { id: 7 },
      });
      await test.deploy([...suite.configs(root), node], credentials);
      await test.run("node", { transactionId: "1" });
      assert.equal(test.sent.length, 2, "it was not told again");
    });
  });

  it("asks nobody to send a message again whose package was being completed at the deploy", async () => {
    await withFolder(async (root) => {
      const node = archive(root, { cloud: "", media: "none" });
      const test = await suite.start(root, node);
      // Opening the archive syncs files as well.
      assert.equal((await test.run("node", { transactionId: "0", payload: measured })).error, undefined);
      const disk = await holdSyncs();
      try {
        const running = test.start("node", { transactionId: "1", payload: measured });
        await until(() => disk.count() > 0, "the package is to be synced");
        const closing = untilClosing(test);
        const deployed = test.deploy([...suite.configs(root), node], credentials);
        await closing;
        disk.release();
        const { error } = await running;
        assert.deepEqual([error?.code, error?.cause.retryable], ["ERR_CANCELLED", false]);
        await deployed;
      } finally {
        disk.release();
      }
      const { msg } = await test.untilSent("node", ({ resumed }) => resumed === true);
      assert.equal(msg["transactionId"], "1");
      assert.equal(test.sent.length, 2);
      assert.equal((await readPackages(root)).size, 2);
    });
  });

  it("says of a message whose job the database accepts during the deploy that it is kept", async () => {
    await withFolder(async (root) => {
      const server = await sharedPostgres();
      const { address } = await postgresOptions();
      const databaseName = databaseNameIn(address);
      const { port, admin } = server;
      const store = { ...storeNode(root), database: "postgres", host: "127.0.0.1", port, databaseName };
      const node = archive(root, { cloud: "", media: "none" });
      const keys = { [storeId(root)]: admin };
      const test = (suite.flow = await TestFlow.start([store, node], keys));
      assert.equal((await test.run("node", { transactionId: "0", payload: measured })).error, undefined);
      const release = await server.hold("LOCK TABLE dimensioner.jobs IN EXCLUSIVE MODE", databaseName);
      const running = test.start("node", { transactionId: "1", payload: measured });
      await server.until(
        `SELECT 1 FROM pg_stat_activity
          WHERE datname = '${databaseName}' AND wait_event_type = 'Lock' AND query LIKE 'INSERT INTO%jobs%'`,
      );
      const closing = untilClosing(test);
      const deployed = test.deploy([store, node], keys);
      await closing;
      await release();
      const { error } = await running;
      assert.deepEqual([error?.code, error?.cause.retryable], ["ERR_CANCELLED", false]);
      await deployed;
      const { msg } = await test.untilSent("node", ({ resumed }) => resumed === true);
      assert.equal(msg["transactionId"], "1");
      assert.equal((await readPackages(root)).size, 2);
    });
  });

  it("ends a resumed job that fails at the Catch node, with what was kept", async () => {
    await withFolder(async (root) => {
      const test = await suite.start(root, archive(root, { wait: 600 }));
      const running = test.start("node", { transactionId: "1", topic: "parcels" });
      await test.untilStatus("node", ({ fill }) => fill === "yellow");
      const deployed = test.deploy([...suite.configs(root), archive(root, { wait: 600 })], credentials);
      await running;
      const before = test.shown.length;
      await deployed;
      await until(() => test.shown.slice(before).some(({ fill }) => fill === "yellow"), "it waits again");
      await test.run("node", { reset: true });
      const cancelled = () => test.ends.filter(({ error }) => error?.code === "ERR_CANCELLED");
      await until(() => cancelled().length === 2, "the resumed job's message ends");
      assert.deepEqual(
        cancelled().map(({ error }) => error?.cause.retryable),
        [false, true],
      );
    });
  });

  it("goes on with the jobs of a node that is gone", async () => {
    await withFolder(async (root) => {
      const test = await suite.start(root, archive(root, { wait: 600 }, "old"));
      const running = test.start("old", { transactionId: "1" });
      await test.untilStatus("old", ({ fill }) => fill === "yellow");
      const other = archive(root, { cloud: "" }, "messages");
      const deployed = test.deploy(
        [...suite.configs(root), other, archive(root, { wait: 600 }, "new")],
        credentials,
      );
      await running;
      await deployed;
      suite.addVideo("1");
      assert.equal((await nextEnd(test, "new")).error, undefined);
      assert.equal(test.sent[0]?.nodeId, "new");
    });
  });

  it("goes on with them also in a node that has as much data in other messages as it may", async () => {
    await withFolder(async (root) => {
      const next = archive(root, { wait: 600 }, "new");
      const test = await suite.start(root, archive(root, { wait: 600, keep: "payload" }, "old"), next);
      const running = test.start("old", { transactionId: "1", payload: "kept" });
      await test.untilStatus("old", ({ fill }) => fill === "yellow");
      const text = "x".repeat(100_000_000);
      const large = test.start("new", {
        transactionId: "2",
        payload: Array.from({ length: 11 }, () => text),
      });
      await test.untilStatus("new", ({ fill }) => fill === "yellow");
      await test.deploy([...suite.configs(root), next], credentials, "nodes");
      await running;
      suite.addVideo("1");
      const { error, msg } = await nextEnd(test, "new");
      assert.deepEqual([error, msg["transactionId"]], [undefined, "1"]);
      await test.run("new", { reset: true });
      assert.equal((await large).error?.code, "ERR_CANCELLED");
    });
  });

  // The node that is to go on is there before, and only a full deploy restarts it.
  const tab = { id: "tab-old", type: "tab" };
  const subflow = { id: "flow", type: "subflow", name: "archive", in: [{ wires: [{ id: "old" }] }], out: [] };
  const instance = { id: "use", z: "tab", type: "subflow:flow" };
  const ways: readonly {
    readonly what: string;
    readonly z: string;
    readonly around: FlowNode[];
    readonly left: (old: FlowNode) => FlowNode[];
  }[] = [
    { what: "deleted with its tab", z: "tab-old", around: [tab], left: () => [] },
    { what: "disabled", z: "tab", around: [], left: (old) => [{ ...old, d: true }] },
    {
      what: "on a disabled tab",
      z: "tab-old",
      around: [tab],
      left: (old) => [{ ...tab, disabled: true }, old],
    },
    {
      what: "in a disabled subflow",
      z: "flow",
      around: [subflow, instance],
      left: (old) => [subflow, { ...instance, d: true }, old],
    },
  ];
  for (const { what, z, around, left } of ways) {
    for (const type of ["full", "nodes"] as const) {
      it(`goes on with the jobs of a node that is ${what} by a deploy of ${type}`, async () => {
        await withFolder(async (root) => {
          const old = { ...archive(root, { wait: 600, keep: "topic", name: "Hall 1" }, "old"), z };
          const next = archive(root, { wait: 600 }, "new");
          const test = await suite.start(root, ...around, old, next);
          const id = z === "flow" ? "use-old" : "old";
          const running = test.start(id, { transactionId: "1", topic: "parcels" });
          await test.untilStatus(id, ({ fill }) => fill === "yellow");
          // Drops nothing that comes after it.
          await test.run("new", { reset: true });
          const warned: unknown[] = [];
          test.node("new").warn = (text) => void warned.push(text);
          await test.deploy([...suite.configs(root), ...left(old), next], credentials, type);
          assert.equal((await running).error?.cause.retryable, false);
          suite.addVideo("1");
          assert.equal((await nextEnd(test, "new")).error, undefined);
          assert.deepEqual(
            test.sent.map(({ nodeId, msg }) => [nodeId, msg["topic"], msg["resumedFrom"]]),
            [["new", "parcels", "Hall 1"]],
          );
          const says = "jobs of “Hall 1”, which is disabled or no longer deployed, are continued here: 1";
          // A full deploy has made another node of it.
          assert.deepEqual(warned, type === "full" ? [] : [says]);
          // When it is enabled again, there is nothing left to do for it.
          await test.deploy([...suite.configs(root), ...around, old, next], credentials, type);
          assert.equal((await test.run(id, { transactionId: "1" })).error, undefined);
          assert.deepEqual([test.sent.length, (await readPackages(root)).size], [2, 1]);
        });
      });
    }
  }

  it("goes on with the jobs of a disabled node to which nobody has given a name", async () => {
    await withFolder(async (root) => {
      const old = archive(root, { wait: 600 }, "old");
      const next = archive(root, { wait: 600 }, "new");
      const test = await suite.start(root, old, next);
      const running = test.start("old", { transactionId: "1" });
      await test.untilStatus("old", ({ fill }) => fill === "yellow");
      await test.deploy([...suite.configs(root), { ...old, d: true }, next], credentials);
      await running;
      suite.addVideo("1");
      assert.equal((await nextEnd(test, "new")).error, undefined);
      assert.equal(test.sent[0]?.msg["resumedFrom"], "old");
    });
  });

  it("has after a deploy the cloud that a message has chosen with an element of a list", async () => {
    await withFolder(async (root) => {
      const node = archive(root, { cloud: "", cloudFrom: "sites[msg.index]", wait: 600 });
      const test = await suite.start(root, node);
      const running = test.start("node", { transactionId: "1", sites: ["A", "B"], index: 1 });
      await test.untilStatus("node", ({ fill }) => fill === "yellow");
      await test.deploy([...suite.configs(root), node], credentials);
      await running;
      suite.addVideo("1");
      assert.equal((await nextEnd(test, "node")).error, undefined);
    });
  });

  for (const cloudFrom of ["site", ""]) {
    it(`asks another account for no job that is continued by a node with the cloud from ${cloudFrom || "no message"}`, async () => {
      await withFolder(async (root) => {
        const node = archive(root, { cloudFrom: "site", wait: 600 });
        const test = await suite.start(root, node);
        const running = test.start("node", { transactionId: "1", site: "B" });
        await test.untilStatus("node", ({ fill }) => fill === "yellow");
        // Both are at the same address.
        const [own, chosen] = suite.clouds();
        const next = archive(root, { cloudFrom, wait: 600 }, "next");
        const without = { ...credentials, cloud: { token: "of another account" } };
        const isBack = [own, chosen, storeNode(root), next].filter((one) => one !== undefined);
        const isGone = isBack.map((one) => (one === chosen ? { ...one, name: "C" } : one));
        await test.deploy(isGone, without);
        await running;
        suite.addVideo("1");
        const done = nextEnd(test, "next");
        await test.deploy(isBack, without);
        const { error, msg } = await done;
        assert.deepEqual([error, msg["transactionId"]], [undefined, "1"]);
      });
    });
  }

  it("keeps a job open while the cloud that its message has chosen has another name", async () => {
    await withFolder(async (root) => {
      const node = archive(root, { cloudFrom: "site", wait: 600 });
      const test = await suite.start(root, node);
      const running = test.start("node", { transactionId: "1", site: "B" });
      await test.untilStatus("node", ({ fill }) => fill === "yellow");
      const renamed = suite.clouds().map((one) => ({ ...one, name: "C" }));
      await test.deploy([...renamed, storeNode(root), node], credentials);
      await running;
      await test.untilStatus("node", ({ text }) => text === "check the settings (1)");
      suite.addVideo("1");
      const resumed = nextEnd(test, "node");
      const deployed = test.deploy([...suite.configs(root), node], credentials);
      assert.equal((await resumed).error?.code, "ERR_CANCELLED");
      const done = nextEnd(test, "node");
      await deployed;
      assert.equal((await done).error, undefined);
    });
  });

  it("lets a message choose the cloud, also after a deploy, and asks no other cloud for a job", async () => {
    await withFolder(async (root) => {
      const test = await suite.start(root, archive(root, { cloud: "", cloudFrom: "site", wait: 600 }));
      assert.equal((await test.run("node", { transactionId: "1" })).error?.code, "ERR_INPUT");
      assert.equal((await test.run("node", { transactionId: "1", site: "C" })).error?.code, "ERR_INPUT");
      const running = test.start("node", { transactionId: "1", site: "B" });
      await test.untilStatus("node", ({ fill }) => fill === "yellow");
      const elsewhere = suite.clouds().map((node) => ({ ...node, baseUrl: "http://127.0.0.1:9" }));
      const node = archive(root, { cloud: "cloud", cloudFrom: "site", wait: 600 });
      let deployed = test.deploy([...elsewhere, storeNode(root), node], credentials);
      await running;
      await deployed;
      await test.untilStatus("node", ({ text }) => text === "check the settings (1)");
      suite.addVideo("1");
      const resumed = nextEnd(test, "node");
      deployed = test.deploy([...suite.configs(root), node], credentials);
      assert.equal((await resumed).error?.code, "ERR_CANCELLED");
      const done = nextEnd(test, "node");
      await deployed;
      assert.equal((await done).error, undefined);
    });
  });
  for (const [what, change] of Object.entries({
    deleted: (node: FlowNode): FlowNode[] => (node.id === "node" ? [] : [node]),
    disabled: (node: FlowNode): FlowNode[] => [node.id === "node" ? { ...node, d: true } : node],
    "deleted with its store": (node: FlowNode): FlowNode[] => ("baseUrl" in node ? [node] : []),
  })) {
    it(`is said in the log to be open if its node was ${what}, with a Catch node`, async () => {
      await withFolder(async (root) => {
        const node = archive(root, { wait: 600 });
        const caught = { id: "catch", z: "tab", type: "catch", scope: null };
        const test = await suite.start(root, node, caught);
        const running = test.start("node", { transactionId: "1", transactionReference: "ORDER-1" });
        await test.untilStatus("node", ({ fill }) => fill === "yellow");
        const warned: string[] = [];
        test.node("node").warn = (text: unknown) => void warned.push(String(text));
        await test.deploy([...suite.configs(root), node, caught].flatMap(change), credentials);
        assert.equal((await running).error?.code, "ERR_CANCELLED");
        assert.equal(warned.length, 1);
        assert.match(warned[0] ?? "", /no longer deployed.*open jobs \(1: ORDER-1\) go on/);
      });
    });
  }
});

/** Resolves while the node is being closed, once it knows. */
function untilClosing(flow: TestFlow): Promise<void> {
  return new Promise((resolve) => {
    flow.node("node").on("close", () => resolve());
  });
}
