import assert from "node:assert/strict";
import { watch } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeRedMajor, startNodeRed, type NodeRed } from "../support/node-red.ts";

const path = "dimensioner/transaction";
const rounds = 3;
const postsARound = 30;

/** What comes out is written down line by line; what is posted to /handled goes back into the node. */
function flow(out: string): object[] {
  const place = { z: "tab", x: 100, y: 100 };
  const line = 'msg.payload = msg.transactionId + (msg.resumed ? " again" : ""); return msg;';
  return [
    { id: "tab", type: "tab", label: "test" },
    { id: "store", type: "dimensioner-store", name: "Evidence" },
    {
      ...place,
      id: "in",
      type: "dimensioner-transaction-in",
      path,
      secretIn: "none",
      queueLimit: 5000,
      store: "store",
      wires: [["line"]],
    },
    { ...place, id: "line", type: "function", func: line, outputs: 1, wires: [["out"]] },
    {
      ...place,
      id: "out",
      type: "file",
      filename: out,
      filenameType: "str",
      appendNewline: true,
      overwriteFile: "false",
      wires: [[]],
    },
    { ...place, id: "ask", type: "http in", url: "/handled", method: "post", wires: [["name", "say"]] },
    {
      ...place,
      id: "name",
      type: "function",
      func: "return { transactionId: msg.payload.id };",
      wires: [["in"]],
    },
    { ...place, id: "say", type: "http response", wires: [] },
    { ...place, id: "done", type: "complete", scope: ["in"], wires: [["told"]] },
    {
      ...place,
      id: "told",
      type: "function",
      func: 'return { payload: msg.transactionId + " handled" };',
      outputs: 1,
      wires: [["out"]],
    },
  ];
}

describe("dimensioner-transaction-in with a store, in a real Node-RED", () => {
  let nodeRed: NodeRed;
  let userDir: string;
  let out: string;

  const start = async (): Promise<void> => {
    nodeRed = await startNodeRed({ major: nodeRedMajor, userDir });
  };
  /** Posts a record; resolves with whether it was answered with a 2xx. */
  const post = async (id: string): Promise<boolean> => {
    try {
      const response = await nodeRed.adminFetch(`/${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ id, errorCode: 0 }),
      });
      return response.ok;
    } catch {
      return false;
    }
  };
  const lines = async (): Promise<string[]> =>
    (await readFile(out, "utf8").catch(() => "")).split("\n").filter((line) => line !== "");
  /** Resolves with the lines of the file as soon as they are as expected. */
  const until = (holds: (lines: string[]) => boolean): Promise<string[]> =>
    new Promise((resolve, reject) => {
      const check = async (): Promise<void> => {
        const found = await lines();
        if (holds(found)) {
          watcher.close();
          resolve(found);
        }
      };
      const watcher = watch(userDir, () => void check().catch(reject));
      void check().catch(reject);
    });

  beforeEach(async () => {
    userDir = await mkdtemp(join(tmpdir(), "transaction-in-store-"));
    out = join(userDir, "out.txt");
    await writeFile(join(userDir, "flows.json"), JSON.stringify(flow(out)));
    await start();
  });
  afterEach(async () => {
    await nodeRed.stop();
    await rm(userDir, { recursive: true, force: true, maxRetries: 3 });
  });

  it("sends each record that it has answered with a 2xx, whenever the process is killed", async () => {
    const answered: string[] = [];
    for (let round = 0; round < rounds; round += 1) {
      let answeredNow = 0;
      const posts = Array.from({ length: postsARound }, async (_, number) => {
        const id = `${round}-${number}`;
        if (!(await post(id))) {
          return;
        }
        answered.push(id);
        answeredNow += 1;
        // In the middle of the burst, with some answered and some on their way.
        if (answeredNow === postsARound / 2) {
          await nodeRed.kill();
        }
      });
      await Promise.all(posts);
      await start();
    }
    assert.ok(answered.length >= (rounds * postsARound) / 2, `only ${answered.length} were answered`);
    const sent = await until((found) => {
      const ids = new Set(found.map((line) => line.replace(" again", "")));
      return answered.every((id) => ids.has(id));
    });
    assert.ok(sent.some((line) => line.endsWith(" again")));
  });

  it("sends again after a restart what nobody has handled, in order of arrival, and knows duplicates", async () => {
    for (const id of ["1", "2", "3", "4"]) {
      assert.ok(await post(id));
    }
    await until((found) => found.length === 4);
    await nodeRed.adminFetch("/handled", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ id: "2" }),
    });
    await until((found) => found.includes("2 handled"));
    await nodeRed.kill();
    await rm(out);
    await start();
    assert.deepEqual(await until((found) => found.length >= 3), ["1 again", "3 again", "4 again"]);
    for (const id of ["1", "2", "5"]) {
      assert.ok(await post(id));
    }
    assert.deepEqual(await until((found) => found.length >= 4), ["1 again", "3 again", "4 again", "5"]);
  });

  it("sends each record once over a deploy", async () => {
    const posts = Array.from({ length: 60 }, (_, number) => post(String(number)));
    await nodeRed.deploy(flow(out));
    await nodeRed.deploy(flow(out));
    await Promise.all(posts);
    assert.ok(await post("last"));
    const sent = await until((found) => found.includes("last"));
    const answered = (await Promise.all(posts)).flatMap((ok, number) => (ok ? [String(number)] : []));
    for (const id of answered) {
      assert.equal(sent.filter((line) => line.replace(" again", "") === id).length, 1, id);
    }
  });
});
