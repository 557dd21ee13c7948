import assert from "node:assert/strict";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { migrations } from "../../src/store/schema.ts";
import { SqliteDatabase } from "../../src/store/sqlite-database.ts";
import { nodeRedMajor, startNodeRed, type NodeRed } from "../support/node-red.ts";

interface Answer {
  readonly state: string;
  readonly key: string;
  readonly values: Readonly<Record<string, unknown>>;
}

const webhook = "dimensioner/transaction";

describe("dimensioner-store in a real Node-RED", function () {
  this.timeout(60_000);
  let nodeRed: NodeRed;

  before(async () => {
    nodeRed = await startNodeRed({
      major: nodeRedMajor,
      flows: [
        { id: "tab", type: "tab", label: "test" },
        { id: "store", type: "dimensioner-store", name: "Evidence" },
        {
          id: "in",
          z: "tab",
          type: "dimensioner-transaction-in",
          path: webhook,
          secretIn: "none",
          store: "store",
          wires: [[]],
        },
      ],
    });
  });
  after(() => nodeRed?.stop());

  const files = async (): Promise<string[]> =>
    (await readdir(join(nodeRed.userDir, "dimensioner"))).toSorted();
  const fileOf = (id: string): string => join(nodeRed.userDir, "dimensioner", `${id}.sqlite`);
  const test = async (id: string): Promise<Answer> => {
    const response = await nodeRed.adminFetch("/dimensioner-store/test", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ id, z: "" }),
    });
    assert.equal(response.status, 200);
    return (await response.json()) as Answer;
  };

  it("says in Test connection that the database works, and how many records nobody has handled", async () => {
    const posted = await fetch(`${nodeRed.url}/${webhook}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ id: 905865, errorCode: 0 }),
    });
    assert.equal(posted.status, 204);
    const { state, key, values } = await test("store");
    assert.deepEqual([state, key, values["count"]], ["good", "store", 1]);
    assert.match(String(values["version"]), /^3\.\d+\.\d+$/);
  });

  it("leaves nothing behind of a store that is not deployed", async () => {
    const before = await files();
    assert.equal((await test("not-deployed")).state, "good");
    assert.equal((await test("../../outside")).state, "good");
    assert.deepEqual(await files(), before);
  });

  it("says what is wrong with a database, and leaves it as it is", async () => {
    const other = await SqliteDatabase.open({ file: fileOf("in-use"), migrations });
    try {
      assert.deepEqual(await keyOf("in-use"), ["bad", "storeInUse"]);
    } finally {
      await other.close();
    }
    await writeFile(fileOf("damaged"), "no database\n".repeat(1_000));
    assert.deepEqual(await keyOf("damaged"), ["bad", "storeDamaged"]);
    assert.ok((await files()).includes("damaged.sqlite"));
  });

  async function keyOf(id: string): Promise<string[]> {
    const { state, key } = await test(id);
    return [state, key];
  }
});
