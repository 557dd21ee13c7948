import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrations } from "../../src/database/schema.ts";
import { SqliteDatabase } from "../../src/database/sqlite-database.ts";
import { holdUp } from "../support/hold-up.ts";
import { testThreads } from "./support.ts";

const limitMs = 300;
const longerMs = 500;

describe("a database in SQLite, in a process that is held up for longer than its limits", () => {
  let folder: string;
  let database: SqliteDatabase;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "store-"));
    const limits = { answerWithinMs: limitMs, closeWithinMs: limitMs };
    database = await SqliteDatabase.open({
      file: join(folder, "store.sqlite"),
      migrations,
      threads: testThreads,
      ...limits,
    });
  });
  afterEach(async () => {
    await database.close();
    await rm(folder, { recursive: true });
  });

  it("takes the answer of its thread", async () => {
    const rows = database.transaction([{ sql: "SELECT 1 AS one" }]);
    holdUp(longerMs);
    assert.deepEqual(await rows, [[{ one: 1 }]]);
  });

  it("takes it when the database is closed meanwhile", async () => {
    const rows = database.transaction([{ sql: "SELECT 1 AS one" }]);
    const closed = database.close();
    holdUp(longerMs);
    assert.deepEqual(await rows, [[{ one: 1 }]]);
    await closed;
  });
});
