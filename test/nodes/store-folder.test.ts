import assert from "node:assert/strict";
import { mkdir, readdir, rename, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { pictureOf, readPackages, until } from "../archive/support.ts";
import { withFolder } from "../media/support.ts";
import { TestFlow, type FlowNode } from "../support/flow.ts";
import { storeNode } from "../support/store-node.ts";

const credentials = { cloud: { token: "simulator" } };

describe("a deploy that gives a store another folder", () => {
  let sim: Simulator;
  let test: TestFlow | undefined;

  beforeEach(async () => {
    sim = await startSimulator();
  });
  afterEach(async () => {
    await test?.stop();
    await sim.close();
  });

  const flow = (folder: string): FlowNode[] => [
    { id: "cloud", type: "dimensioner-cloud", baseUrl: sim.cloud.origin, timeout: "60" },
    storeNode(folder, "store"),
    {
      id: "node",
      z: "tab",
      type: "dimensioner-archive",
      cloud: "cloud",
      store: "store",
      transactionId: "transactionId",
      layout: "{transactionId}",
      settle: 0,
      wait: 600,
    },
  ];

  /** A store with a job that waits for its media in one folder, and another folder beside it. */
  async function withOpenJob(body: (before: string, now: string) => Promise<void>): Promise<void> {
    await withFolder(async (folder) => {
      const [before, now] = [join(folder, "before"), join(folder, "now")];
      await Promise.all([mkdir(before), mkdir(now)]);
      test = await TestFlow.start(flow(before), credentials);
      const running = test.start("node", { transactionId: "1" });
      await test.untilStatus("node", ({ fill }) => fill === "yellow");
      const deployed = test.deploy(flow(now), credentials);
      assert.equal((await running).error?.code, "ERR_CANCELLED");
      await deployed;
      await body(before, now);
    });
  }

  const nextEnd = async (): Promise<unknown> => {
    assert.ok(test !== undefined);
    const { ends } = test;
    const count = ends.length;
    await until(() => ends.length > count, "a message ends");
    return ends[count]?.error?.code;
  };

  it("archives nothing, says so, and finishes the open jobs once the old folder is set again", async () => {
    await withOpenJob(async (before, now) => {
      assert.ok(test !== undefined);
      const { error } = await test.run("node", { transactionId: "2" });
      assert.equal(error?.code, "ERR_STORE");
      assert.ok(error.message.includes(before) && error.message.includes(now), error.message);
      assert.equal(test.lastStatus("node")?.fill, "red");
      assert.deepEqual(await readdir(now), []);
      sim.cloud.addMedia("1", { contentType: "image/jpeg", bytes: pictureOf("1") });
      const deployed = test.deploy(flow(before), credentials);
      assert.equal(await nextEnd(), undefined);
      await deployed;
      assert.deepEqual([...(await readPackages(before)).keys()], ["1"]);
    });
  });

  it("goes on by itself once everything is in the new folder", async () => {
    await withOpenJob(async (before, now) => {
      sim.cloud.addMedia("1", { contentType: "image/jpeg", bytes: pictureOf("1") });
      await rmdir(now);
      const ended = nextEnd();
      await rename(before, now);
      assert.equal(await ended, undefined);
      assert.deepEqual([...(await readPackages(now)).keys()], ["1"]);
    });
  });
});
