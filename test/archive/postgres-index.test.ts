import assert from "node:assert/strict";
import { mkdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { SharedDatabaseOptions } from "../../src/database/store-databases.ts";
import type { NotIndexed } from "../../src/model/archive-reports.ts";
import { pruneArchive, rebuildIndex } from "../../src/vault/upkeep/upkeep.ts";
import { databaseNameIn, emptyPostgresOptions } from "../database/databases.ts";
import { rowsIn } from "../support/rows.ts";
import { sharedPostgres } from "../support/shared-postgres.ts";
import { readLogged } from "./logged.ts";
import { copiesOfArchive, fillArchive, verify } from "./packages.ts";
import { bundleVerb, runChild } from "./processes.ts";
import { openSharedStore } from "./shared-store.ts";

describe("archive: an index in PostgreSQL", () => {
  const archive = copiesOfArchive(["m0", "m1", "m2"]);
  let url: string;
  let options: SharedDatabaseOptions;
  let query: (sql: string) => Promise<Record<string, unknown>[]>;

  async function rebuild(root: string) {
    const notIndexed: NotIndexed[] = [];
    const report = await rebuildIndex(root, { database: url, onNotIndexed: (one) => notIndexed.push(one) });
    return { report, notIndexed };
  }
  const withIndex = (body: (root: string, file: string) => Promise<void>) =>
    archive.withArchive(async (root, file) => {
      await rebuild(root);
      await body(root, file);
    });

  beforeEach(async () => {
    options = await emptyPostgresOptions();
    const { address } = options;
    const server = await sharedPostgres();
    ({ url } = address);
    query = (sql) => server.run(sql, databaseNameIn(address));
  });

  it("has the rows that the store's own index has, and is completed by a second run", async () => {
    await archive.withArchive(async (root, file) => {
      const { report, notIndexed } = await rebuild(root);
      assert.deepEqual([report.database, report.packages, notIndexed], ["made", 3, []]);
      const again = await rebuild(root);
      assert.deepEqual([again.report.database, again.report.packages], ["completed", 3]);
      const { report: verified, said } = await verify(root, [file, url]);
      assert.deepEqual([verified.verdict, said], ["ok", []]);
    });
  });

  it("is what a store continues with that had an embedded database before", async () => {
    await withIndex(async (root) => {
      const { store, database } = await openSharedStore(root, options);
      const [again] = await fillArchive(root, ["m0", "n0"], undefined, { store });
      assert.equal(again, archive.paths[0], "no second package");
      await database.close();
      const { report, said } = await verify(root, url);
      assert.deepEqual([report.verdict, report.packages, said], ["ok", 4, []]);
    });
  });

  it("finds what is missing, what was changed, and what it does not list yet", async () => {
    await withIndex(async (root) => {
      await query(
        "UPDATE dimensioner.packages SET transaction_reference = 'ORDER-9' WHERE transaction_id = 'm0'",
      );
      await rm(join(root, archive.paths[2] ?? ""), { recursive: true });
      assert.deepEqual((await verify(root, url)).said.toSorted(), [
        `index ${archive.paths[0]}`,
        `missing-package ${archive.paths[2]}`,
      ]);
      await query("DELETE FROM dimensioner.packages");
      assert.deepEqual((await verify(root, url)).said.toSorted(), [
        `missing-package ${archive.paths[2]}`,
        `unlisted ${archive.paths[0]}`,
        `unlisted ${archive.paths[1]}`,
      ]);
    });
  });

  it("has the log of the store, takes its later lines, and is not written where nothing differs", async () => {
    await withIndex(async (root, file) => {
      const linesOf = async () =>
        await query(
          "SELECT n, what, package_id, sha256, transaction_id, line FROM dimensioner.log ORDER BY n",
        );
      const inFile = () =>
        rowsIn(file, "SELECT n, what, package_id, sha256, transaction_id, line FROM log ORDER BY n");
      const numbered = (rows: readonly Record<string, unknown>[]) =>
        rows.map((row) => ({ ...row, n: Number(row["n"]) }));
      assert.deepEqual(numbered(await linesOf()), inFile());
      assert.deepEqual(
        await query("SELECT store_id FROM dimensioner.store"),
        rowsIn(file, "SELECT store_id FROM store"),
      );
      const written = () => query("SELECT ctid, xmin FROM dimensioner.packages ORDER BY package_id");
      const before = await written();
      assert.equal((await rebuild(root)).report.packages, 3);
      assert.deepEqual(await written(), before);
      await fillArchive(root, ["m3"]);
      assert.equal((await rebuild(root)).report.packages, 4);
      assert.deepEqual(numbered(await linesOf()), inFile());
      assert.deepEqual((await verify(root, url)).said, []);
    });
  });

  it("begins a new log only when it is told to", async () => {
    await archive.withArchive(async (root) => {
      await rm(join(root, ".dimensioner-archive", "log"), { recursive: true });
      await assert.rejects(rebuild(root), { sentence: "rebuildNoLog" });
      const report = await rebuildIndex(root, { database: url, newLog: true });
      assert.equal(report.packages, 3);
      const whats = (await readLogged(root)).map(({ what }) => what);
      assert.deepEqual(whats, ["begun", "lost", "archived", "archived", "archived"]);
      assert.deepEqual((await verify(root, url)).findings, []);
    });
  });

  it("follows an archive that was moved, and refuses another one", async () => {
    await withIndex(async (root) => {
      const [moved, other] = [`${root}-moved`, join(root, "other")];
      await rename(root, moved);
      try {
        await verify(moved, url);
        assert.equal((await rebuild(moved)).report.packages, 3);
        assert.deepEqual(await query("SELECT folder FROM dimensioner.store"), [{ folder: moved }]);
      } finally {
        await rename(moved, root);
      }
      await mkdir(join(other, ".dimensioner-archive"), { recursive: true });
      const refused = { code: "ERR_STORE", sentence: "storeOtherFolder" };
      await assert.rejects(rebuildIndex(other, { database: url }), refused);
    });
  });

  it("forgets the packages that dimensioner prune deletes", async () => {
    await withIndex(async (root) => {
      const report = await pruneArchive(root, { before: new Date(Date.now() + 1_000), database: url });
      assert.equal(report.deleted, 3);
      assert.deepEqual(await query("SELECT * FROM dimensioner.packages"), []);
    });
  });

  it("takes all packages but one whose values PostgreSQL refuses, and says which", async () => {
    await archive.withArchive(async (root) => {
      await rebuild(root);
      await query("DELETE FROM dimensioner.packages");
      await query("ALTER TABLE dimensioner.packages ADD CHECK (transaction_id <> 'm1')");
      const { report, notIndexed } = await rebuild(root);
      assert.deepEqual(
        [report.packages, notIndexed.map(({ kind, path }) => [kind, path])],
        [2, [["refused", archive.paths[1]]]],
      );
      assert.equal((await query("SELECT 1 FROM dimensioner.packages")).length, 2);
    });
  });

  it("answers the queries of docs/postgresql.md, also those of the role that it makes there", async () => {
    const page = await readFile(join(import.meta.dirname, "../../docs/postgresql.md"), "utf8");
    const statements = [...page.matchAll(/```sql\n(.*?)```/gs)].flatMap(([, sql = ""]) =>
      sql.split(";\n").filter(Boolean),
    );
    const isQuery = (sql: string): boolean => sql.startsWith("SELECT");
    await withIndex(async () => {
      await query(
        "UPDATE dimensioner.packages SET transaction_reference = 'ORDER-4711', complete = 0 WHERE transaction_id = 'm1'",
      );
      const { user } = (await sharedPostgres()).admin;
      for (const sql of statements.filter((one) => !isQuery(one) && !one.startsWith("CREATE SCHEMA"))) {
        // The page calls the store's user "archive".
        await query(sql.replace("FOR ROLE archive", `FOR ROLE ${user}`));
      }
      const rows: number[] = [];
      for (const sql of statements.filter(isQuery)) {
        rows.push((await query(`SET ROLE warehouse_reader; ${sql}`)).length);
      }
      assert.deepEqual(rows, [1, 0, 0, 1]);
      await assert.rejects(
        query("SET ROLE warehouse_reader; DELETE FROM dimensioner.packages"),
        /permission denied/,
      );
    });
  });

  it("is used by the command lines, which take the password from the environment and from nowhere else", async () => {
    const { password } = (await sharedPostgres()).admin;
    const run = async (name: string, ...args: string[]) => runChild(await bundleVerb(name), args);
    await archive.withArchive(async (root) => {
      const rebuilt = await run("rebuild", root, "--database", url);
      assert.deepEqual([rebuilt.code, rebuilt.stderr], [0, ""]);
      assert.match(rebuilt.stdout, /: a new database lists 3 packages /);
      const verified = await run("verify", root, "--database", url, "--json");
      assert.deepEqual([verified.code, verified.stderr], [0, ""]);
      assert.equal(JSON.parse(verified.stdout).verdict, "ok");
      const exported = await run("export", root, "--database", url, "--by", "all", "--to", join(root, ".."));
      assert.equal(exported.code, 0, exported.stderr);
      await rm(exported.stdout.slice(0, exported.stdout.indexOf(": ")));
      const pruned = await run("prune", root, "--database", url, "--older-than", "1d");
      assert.equal(pruned.code, 0, pruned.stderr);
      const open = url.replace("@", `:${encodeURIComponent(password)}@`);
      const refused = await run("rebuild", root, "--database", open);
      assert.deepEqual([refused.code, refused.stdout], [2, ""]);
      assert.match(refused.stderr, /contains a password/);
      assert.ok(!refused.stderr.includes(password) && !refused.stderr.includes(encodeURIComponent(password)));
    });
  });
});
