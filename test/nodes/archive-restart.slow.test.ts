import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startSimulator } from "../../src/simulator/index.ts";
import { readPackages, until } from "../archive/support.ts";
import { nodeRedMajor, startNodeRed } from "../support/node-red.ts";
import { killNodeRed } from "./archive-kills.ts";
import { storeNode } from "../support/store-node.ts";

/** Without a place a node counts as a config node when the flows are read from their file. */
const placed = (node: object): object => ("z" in node ? { x: 100, y: 100, ...node } : node);

describe(`dimensioner-archive in a Node-RED ${nodeRedMajor} that is killed`, () => {
  it("finishes what was accepted after the next start, and sends its message", async () => {
    const folder = await mkdtemp(join(tmpdir(), "archive-restart-"));
    const [root, userDir] = [join(folder, "archive"), join(folder, "user")];
    await Promise.all([mkdir(root), mkdir(userDir)]);
    const sim = await startSimulator();
    const closers: (() => Promise<unknown>)[] = [];
    const flows = [
      { id: "tab", type: "tab", label: "archive" },
      {
        id: "cloud",
        type: "dimensioner-cloud",
        baseUrl: sim.cloud.origin,
        credentials: { token: sim.cloud.token },
      },
      storeNode(root, "store"),
      { id: "in", z: "tab", type: "http in", url: "/scan", method: "post", wires: [["archive", "answer"]] },
      { id: "answer", z: "tab", type: "http response", wires: [] },
      {
        id: "archive",
        z: "tab",
        type: "dimensioner-archive",
        cloud: "cloud",
        store: "store",
        transactionId: "payload.id",
        keep: "payload.shift",
        settle: 0,
        wires: [["debug"]],
      },
      { id: "debug", z: "tab", type: "debug", active: true, console: true, complete: "true", wires: [] },
      { id: "die", z: "tab", type: "http in", url: "/die", method: "post", wires: [["kill"]] },
      // The shell's parent is Node-RED.
      {
        id: "kill",
        z: "tab",
        type: "exec",
        command: "kill -9 $PPID",
        useSpawn: "false",
        wires: [[], [], []],
      },
    ];
    try {
      const first = await startNodeRed({ major: nodeRedMajor, userDir, flows: flows.map(placed) });
      closers.push(() => first.stop());
      const asked = sim.nextRequest(({ path }) => path.startsWith("/api/transactionmedia/905865"));
      const body = JSON.stringify({ id: "905865", shift: "early" });
      const headers = { "content-type": "application/json" };
      await first.adminFetch("/scan", { method: "POST", body, headers });
      await asked;
      await first.adminFetch("/die", { method: "POST" }).catch(() => undefined);
      sim.cloud.addMedia("905865", { contentType: "video/mp4", generateBytes: 100_000 });

      const second = await startNodeRed({ major: nodeRedMajor, userDir });
      closers.push(() => second.stop());
      await until(async () => (await readPackages(root)).size === 1, "the package is there");
      await until(() => second.logs.some((line) => line.includes("resumed: true")), "its message is out");
      assert.ok(second.logs.some((line) => line.includes("alreadyArchived: false")));
    } finally {
      for (const close of closers.toReversed()) {
        await close();
      }
      await sim.close();
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    }
  });

  it("has each package whole, once, and reports each job, after 5 kills", async () => {
    const { reports } = await killNodeRed(nodeRedMajor, 5, Math.random);
    assert.ok(reports >= 50);
  });
});
