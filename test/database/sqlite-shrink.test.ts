import assert from "node:assert/strict";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SqliteDatabase } from "../../src/database/sqlite-database.ts";
import { until } from "../archive/support.ts";
import { migrations } from "./notes-schema.ts";
import { testThreads } from "./support.ts";

describe("a SQLite database of which much was removed", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "shrink-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it("becomes smaller while nobody needs it, and what is left stays", async () => {
    const file = join(folder, "store.sqlite");
    const database = await SqliteDatabase.open({ file, migrations, threads: testThreads });
    const rows = Array.from({ length: 1_700 }, (_, index) => ({
      sql: "INSERT INTO notes (text) VALUES (?)",
      values: [`${index} ${"x".repeat(3_000)}`],
    }));
    await database.transaction(rows);
    const before = (await stat(file)).size;
    assert.ok(before > 1_700 * 4_096);
    await database.transaction([{ sql: "DELETE FROM notes WHERE text NOT LIKE '1 %'" }]);
    // It keeps a thousand free pages, and stops at half of them once it has begun.
    await until(async () => (await stat(file)).size < 600 * 4_096, "it is smaller");
    const [left, check] = await database.transaction([
      { sql: "SELECT count(*) AS count FROM notes" },
      { sql: "PRAGMA integrity_check" },
    ]);
    assert.deepEqual(left, [{ count: 1 }]);
    assert.deepEqual(check, [{ integrity_check: "ok" }]);
    await database.close();
  });
});
