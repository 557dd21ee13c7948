/**
 * Node-RED of each major with a webhook whose store hangs while flows are deployed:  node test/long/hung-database.ts
 *
 * Each record that was stored in the end comes out of the flow once the disk answers, exactly once and without a restart, also where its
 * sender was refused and posts it again.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { until } from "../archive/support.ts";
import { startNodeRed, type DeployType, type NodeRed } from "../support/node-red.ts";

const path = "dimensioner/transaction";

/** What comes out is written down, one id a line. `name` makes a deploy replace the node. */
function flowOf(out: string, name: string): object[] {
  const place = { z: "tab", x: 100, y: 100 };
  const type = "dimensioner-transaction-in";
  const file = { type: "file", filename: out, filenameType: "str", overwriteFile: "false" };
  return [
    { id: "tab", type: "tab", label: "test" },
    { id: "store", type: "dimensioner-store", name: "Evidence" },
    { ...place, id: "in", type, name, path, secretIn: "none", store: "store", wires: [["id"]] },
    {
      ...place,
      id: "id",
      type: "function",
      func: "msg.payload = msg.transactionId; return msg;",
      wires: [["out"]],
    },
    { ...place, id: "out", ...file, appendNewline: true, wires: [[]] },
  ];
}

async function post({ url }: NodeRed, id: string): Promise<number> {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ id, errorCode: 0 });
  return (await fetch(`${url}/${path}`, { method: "POST", headers, body })).status;
}

async function deployWhileHung(major: 4 | 5, type: DeployType): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "hung-database-"));
  const [out = "", hung = "", pipe = ""] = ["out.txt", "hung", "pipe"].map((name) => join(folder, name));
  await promisify(execFile)("mkfifo", [pipe]);
  const preload = new URL("../attacks/hang-commits.ts", import.meta.url).href;
  const env = { NODE_OPTIONS: `--import=${preload}`, HUNG_WHILE: hung, HUNG_PIPE: pipe };
  const nodeRed = await startNodeRed({ major, flows: flowOf(out, "before"), env });
  /** Lets one commit that hangs go on, if there is one. */
  const answer = (): void => closeSync(openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK));
  const sent = async (): Promise<string[]> =>
    (await readFile(out, "utf8").catch(() => "")).split("\n").filter((line) => line !== "");
  try {
    assert.equal(await post(nodeRed, "before"), 204);
    await writeFile(hung, "");
    const old = post(nodeRed, "of the old node");
    await nodeRed.deploy(flowOf(out, "after"), type);
    const next = post(nodeRed, "of the next node");
    assert.deepEqual(await Promise.all([old, next]), [503, 503]);
    await rm(hung);
    await until(async () => {
      answer();
      return (await post(nodeRed, "of the old node")) === 204;
    }, "the database answers");
    await until(async () => (await post(nodeRed, "of the next node")) === 204, "and takes the other one");
    assert.equal(await post(nodeRed, "after"), 204);
    const all = ["before", "of the old node", "of the next node", "after"];
    await until(async () => (await sent()).length >= all.length, "each comes out");
    assert.deepEqual((await sent()).toSorted(), all.toSorted());
  } finally {
    answer();
    await nodeRed.stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

for (const major of [4, 5] as const) {
  for (const type of ["nodes", "full"] as const) {
    await deployWhileHung(major, type);
    console.log(`Node-RED ${major}, ${type} deploy: each stored record came out once`);
  }
}
