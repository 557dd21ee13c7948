import assert from "node:assert/strict";
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { StoreDatabases } from "../../src/database/store-databases.ts";
import { isDimensionerError } from "../../src/errors/dimensioner-error.ts";
import { Archives } from "../../src/jobs/archive.ts";
import { testThreads } from "../database/support.ts";
import { withFolder } from "../media/support.ts";
import { changeDatabase, fillArchive } from "./packages.ts";
import { databaseOf, storeIn } from "./store.ts";
import { pictureOf } from "./support.ts";

describe("archive: a database that is checked while it is used", () => {
  /** An archive whose work folders have one of a job that the database does not know. */
  async function withUnknownJob(body: (root: string, folder: string) => Promise<void>): Promise<void> {
    await withFolder(async (root) => {
      await fillArchive(root, ["a"]);
      changeDatabase(
        databaseOf(root),
        `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 200)
          INSERT INTO workers (worker_id, host, begun_at) SELECT n, '${"x".repeat(2_000)}', '' FROM numbers`,
      );
      const work = join(root, ".dimensioner-archive", "work");
      const [worker = ""] = await readdir(work);
      const folder = join(work, worker, "unknown");
      await mkdir(join(folder, "media"), { recursive: true });
      await writeFile(join(folder, "media", "a.jpg"), pictureOf("a"));
      await body(root, folder);
    });
  }

  const openBeside = (root: string) =>
    new Archives().open(storeIn(root, new StoreDatabases({ threads: testThreads, besideFromBytes: 0 })));

  it("moves what no job owns aside when it was found undamaged", async () => {
    await withUnknownJob(async (root, folder) => {
      const { findings, later, release } = await openBeside(root);
      assert.deepEqual(findings.movedAside, []);
      assert.equal((await later)?.movedAside.length, 1);
      await assert.rejects(readdir(folder), { code: "ENOENT" });
      await release();
    });
  });

  it("leaves everything where it is when it was found damaged: the lost rows may be those of its jobs", async () => {
    await withUnknownJob(async (root, folder) => {
      const file = databaseOf(root);
      const bytes = await readFile(file);
      // One page of those rows and no other one, wherever it lies: opening the database does not read it.
      const pageBytes = bytes.readUInt16BE(16);
      const at = bytes.indexOf("x".repeat(1_000));
      const page = at - (at % pageBytes);
      await writeFile(file, bytes.fill(0x5a, page, page + pageBytes));
      // On a busy computer, it may be found before all is open.
      const opened = await openBeside(root).catch((error: unknown) => {
        assert.ok(isDimensionerError(error) && error.sentence === "storeDamaged", String(error));
      });
      assert.deepEqual((await opened?.later)?.movedAside ?? [], []);
      await opened?.release();
      assert.deepEqual(await readdir(join(folder, "media")), ["a.jpg"]);
    });
  });
});
