import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { startSimulator } from "../../src/simulator/index.ts";
import { readPackages, until } from "../archive/support.ts";
import { withFolder } from "../media/support.ts";
import { nodeRedMajor, startNodeRed } from "../support/node-red.ts";
import { storeId, storeNode } from "../support/store-node.ts";

/** An archive that hangs whoever opens it: its lock is a pipe that nobody writes to. */
async function makeHungArchive(root: string): Promise<string> {
  const lock = join(root, ".dimensioner-archive/lock");
  await mkdir(join(root, ".dimensioner-archive"), { recursive: true });
  await promisify(execFile)("mkfifo", [lock]);
  return lock;
}

describe(`A8: a Node-RED ${nodeRedMajor} with archives on a disk that hangs`, function () {
  this.timeout(90_000);

  before(function () {
    if (process.platform === "win32") {
      this.skip();
    }
  });

  for (const count of [1, 6]) {
    it(`measures by host name, and deploys in time, with ${count} that hang`, async () => {
      await withFolder(async (folder) => {
        const good = join(folder, "good");
        await mkdir(good);
        const roots = Array.from({ length: count }, (_, index) => join(folder, `hung-${index}`));
        const locks = await Promise.all(roots.map(makeHungArchive));
        const sim = await startSimulator();
        const archive = (id: string, root: string, more: object = {}) => ({
          id,
          z: "tab",
          type: "dimensioner-archive",
          origin: null,
          store: storeId(root),
          transactionId: "1",
          transactionIdType: "str",
          wires: [],
          ...more,
        });
        const flows = [
          { id: "tab", type: "tab", label: "hung" },
          ...[good, ...roots].map((root) => storeNode(root)),
          {
            id: "device",
            type: "dimensioner-device",
            address: `localhost:${new URL(sim.newer.origin).port}`,
          },
          { id: "scan", z: "tab", type: "http in", url: "/scan", method: "post", wires: [["measure"]] },
          { id: "measure", z: "tab", type: "dimensioner-measure", device: "device", wires: [["answer"]] },
          { id: "answer", z: "tab", type: "http response", wires: [] },
          { id: "keep", z: "tab", type: "http in", url: "/keep", method: "post", wires: [["bytes"]] },
          {
            id: "bytes",
            z: "tab",
            type: "function",
            func: 'msg.payload = Buffer.from("evidence"); return msg;',
            wires: [["good"]],
          },
          archive("good", good, { wires: [["answer"]] }),
          ...roots.map((root, index) => archive(`hung-${index}`, root)),
        ];
        const nodeRed = await startNodeRed({ major: nodeRedMajor, flows });
        try {
          await delay(500);
          const post = (path: string) =>
            fetch(nodeRed.url + path, { method: "POST", signal: AbortSignal.timeout(10_000) });
          const measured = await post("/scan");
          assert.equal(((await measured.json()) as { ok: boolean }).ok, true);
          if (count === 1) {
            assert.equal((await post("/keep")).status, 200);
            assert.equal((await readPackages(good)).size, 1);
          }
          const startedAt = performance.now();
          await nodeRed.deploy(flows);
          const tookMs = performance.now() - startedAt;
          assert.ok(tookMs < 15_000, `the deploy took ${Math.round(tookMs)} ms`);
          assert.equal((await post("/scan")).status, 200);
        } finally {
          // A process with a hung call cannot end by itself.
          const stopped = nodeRed.stop();
          let isStopped = false;
          void stopped.finally(() => (isStopped = true));
          await until(
            () => {
              locks.forEach((lock) => closeSync(openSync(lock, constants.O_RDWR | constants.O_NONBLOCK)));
              return isStopped;
            },
            "Node-RED has ended",
            25_000,
          );
          await stopped;
          await sim.close();
        }
      });
    });
  }
});
