import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { startSimulator } from "../../src/simulator/index.ts";
import { readPackages, until } from "../archive/support.ts";
import { withFolder } from "../media/support.ts";
import { startNodeRed } from "../support/node-red.ts";
import { storeId, storeNode } from "../support/store-node.ts";

/** As many calls to all disks together as may hang in a process: one of Node's four threads always stays free. */
const mostHung = 3;

/**
 * A Node-RED with archives on disks on which this kind of call hangs, and a message for each: it still measures by host name, archives into
 * another folder while a thread is left for it, and deploys without having to give up a node, for which it waits 15 s.
 */
export async function useWhileHung(major: 4 | 5, call: string, count: number): Promise<void> {
  await withFolder(async (folder) => {
    const [good, hung, pipe, log] = ["good", "hung", "pipe", "log"].map((name) => join(folder, name));
    assert.ok(good !== undefined && hung !== undefined && pipe !== undefined && log !== undefined);
    const roots = Array.from({ length: count }, (_, index) => join(hung, String(index)));
    await Promise.all([good, ...roots].map((root) => mkdir(root, { recursive: true })));
    await writeFile(log, "");
    await promisify(execFile)("mkfifo", [pipe]);
    const sim = await startSimulator();
    const flows = flowOf(new URL(sim.newer.origin).port, good, roots);
    const preload = new URL("./hang-disk.ts", import.meta.url).href;
    const env = {
      NODE_OPTIONS: `--import=${preload}`,
      HUNG_CALL: call,
      HUNG_FOLDER: hung,
      HUNG_PIPE: pipe,
      HUNG_LOG: log,
    };
    const nodeRed = await startNodeRed({ major, flows, env });
    const post = (path: string): Promise<Response> =>
      nodeRed.adminFetch(path, { method: "POST", signal: AbortSignal.timeout(90_000) });
    try {
      assert.equal((await post("/hang")).status, 200);
      const hangs = async (): Promise<number> => (await readFile(log, "utf8")).split("\n").length - 1;
      await until(async () => (await hangs()) >= Math.min(count, mostHung), `${call} hangs`);
      const measured = (await (await post("/scan")).json()) as { ok: boolean };
      assert.equal(measured.ok, true);
      if (count < mostHung) {
        assert.equal((await post("/keep")).status, 200);
        assert.equal((await readPackages(good)).size, 1);
      }
      await nodeRed.deploy(flows);
      assert.deepEqual(
        nodeRed.logs.filter((line) => line.includes("Close timed out")),
        [],
      );
      assert.equal((await post("/scan")).status, 200);
    } finally {
      // A process with a hung call cannot end by itself.
      const stopped = nodeRed.stop();
      let isStopped = false;
      void stopped.finally(() => (isStopped = true));
      await until(() => {
        closeSync(openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK));
        return isStopped;
      }, "Node-RED has ended");
      await stopped;
      await sim.close();
    }
  });
}

function flowOf(port: string, good: string, roots: readonly string[]): object[] {
  const at = { z: "tab", x: 100, y: 100 };
  const entry = (id: string, wires: readonly string[]): object => ({
    ...at,
    id,
    type: "http in",
    url: `/${id}`,
    method: "post",
    wires: [wires],
  });
  const evidence = (id: string, wires: readonly string[]): object => ({
    ...at,
    id,
    type: "function",
    func: 'msg.payload = Buffer.from("evidence"); return msg;',
    wires: [wires],
  });
  const archive = (id: string, root: string, wires: readonly string[]): object => ({
    ...at,
    id,
    type: "dimensioner-archive",
    store: storeId(root),
    transactionId: "1",
    transactionIdType: "str",
    settle: 0,
    wires: [wires],
  });
  return [
    { id: "tab", type: "tab", label: "hung" },
    ...[good, ...roots].map((root) => storeNode(root)),
    { id: "device", type: "dimensioner-device", address: `localhost:${port}` },
    entry("scan", ["measure"]),
    { ...at, id: "measure", type: "dimensioner-measure", device: "device", wires: [["answer"]] },
    { ...at, id: "answer", type: "http response", wires: [] },
    entry("keep", ["bytes"]),
    evidence("bytes", ["good"]),
    archive("good", good, ["answer"]),
    entry("hang", ["answer", "bytes-hung"]),
    evidence(
      "bytes-hung",
      roots.map((_root, index) => `hung-${index}`),
    ),
    ...roots.map((root, index) => archive(`hung-${index}`, root, [])),
  ];
}
