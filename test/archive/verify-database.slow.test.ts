import assert from "node:assert/strict";
import { mkdir, readdir, rename, rm, symlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { holdPackages } from "../../src/index.ts";
import { rebuildIndex, verifyArchive } from "../../src/vault/upkeep/upkeep.ts";
import { Store } from "../../src/vault/store.ts";
import { withFolder } from "../media/support.ts";
import { WallClock } from "../model-based/wall-clock.ts";
import { rowsIn } from "../support/rows.ts";
import { sha256Of } from "./support.ts";
import { changeDatabase, copiesOfArchive, fillArchive, verify } from "./packages.ts";
import { databaseOf, newDatabases, storeIn } from "./store.ts";

const ids = ["m0", "m1", "m2"];

describe("archive: dimensioner verify with a database", () => {
  const archive = copiesOfArchive(ids);
  const { withArchive } = archive;

  it("names each column of a row that is not what the manifest says", async () => {
    await withArchive(async (root, file) => {
      const columns = rowsIn(file, "PRAGMA table_info(packages)");
      const special = ["indexed_order", "location", "manifest_sha256"];
      const names = columns.map(({ name }) => String(name)).filter((name) => !special.includes(name));
      assert.ok(names.length > 27, names.join(", "));
      const changes = names.map((name) => `${name} = 7`).join(", ");
      changeDatabase(file, `UPDATE packages SET ${changes} WHERE location = '${archive.paths[1]}'`);
      const { findings } = await verify(root);
      const said = findings.map(({ kind, path, problem }) => {
        const column = /^in the column (\w+), the index has .*, but the (?:manifest|log) has /.exec(
          problem,
        )?.[1];
        return `${kind} ${path} ${column}`;
      });
      assert.deepEqual(said.toSorted(), names.map((name) => `index ${archive.paths[1]} ${name}`).toSorted());
    });
    for (const [name, said] of [
      ["location", "the index lists this package in changed"],
      ["manifest_sha256", "the index lists another manifest for this package"],
    ] as const) {
      await withArchive(async (root, file) => {
        changeDatabase(
          file,
          `UPDATE packages SET ${name} = 'changed' WHERE location = '${archive.paths[1]}'`,
        );
        const { findings } = await verify(root);
        assert.deepEqual(
          [findings.length, findings[0]?.kind, findings[0]?.path],
          [1, "index", archive.paths[1]],
        );
        assert.ok(findings[0]?.problem.startsWith(said), findings[0]?.problem);
      });
    }
  });

  it("names a line of the log whose columns, by which it is found, are not those of what it says", async () => {
    const [held, archived, none] = ["what = 'held'", "what = 'archived' AND n = 2", "n = 0"];
    for (const [change, where] of [
      ["what = 'released'", held],
      ["package_id = 'another'", held],
      // The package would count as deleted: no search would find it.
      ["what = 'pruned'", archived],
      ["sha256 = 'another'", archived],
      ["transaction_id = 'another'", archived],
      ["package_id = 'another'", none],
    ] as const) {
      await withArchive(async (root, file) => {
        const known = { database: file, by: "transactionId", value: "m0" } as const;
        await holdPackages(root, { ...known, reason: "claim 7" });
        assert.deepEqual((await verify(root)).findings, []);
        changeDatabase(file, `UPDATE log SET ${change} WHERE ${where}`);
        const { findings } = await verify(root);
        assert.deepEqual([findings.length, findings[0]?.kind], [1, "log"], change);
        assert.match(findings[0]?.problem ?? "", /the columns by which the line \d+ is found/);
        await rebuildIndex(root, { database: file });
        assert.deepEqual((await verify(root)).findings, [], change);
      });
    }
  });

  it("names lines that are beside the packages and are gone from the database", async () => {
    for (const where of ["what = 'held'", "n = 0", "n IN (1, 2)"]) {
      await withArchive(async (root, file) => {
        const known = { database: file, by: "transactionId", value: "m0" } as const;
        await holdPackages(root, { ...known, reason: "claim 7" });
        await fillArchive(root, ["m3"]);
        changeDatabase(file, `DELETE FROM log WHERE ${where}`);
        const { findings } = await verify(root);
        assert.deepEqual([findings.length, findings[0]?.kind], [1, "log"], where);
        assert.match(findings[0]?.problem ?? "", /missing in the database .*; dimensioner rebuild puts back/);
        await rebuildIndex(root, { database: file });
        assert.deepEqual((await verify(root)).findings, [], where);
      });
    }
  });

  it("names a number of lines that is not how many there are, as after the last ones were removed everywhere", async () => {
    for (const change of [
      "UPDATE log_head SET size = size - 1",
      "UPDATE log_head SET size = size + 2",
      "UPDATE log_head SET size = 0",
    ]) {
      await withArchive(async (root, file) => {
        changeDatabase(file, change);
        const { findings } = await verify(root);
        assert.deepEqual([findings.length, findings[0]?.kind], [1, "log"], change);
        assert.match(findings[0]?.problem ?? "", /says that the log has \d+ lines, and has \d+/);
        const problems: string[] = [];
        const onNotIndexed = ({ problem }: { problem: string }) => void problems.push(problem);
        await rebuildIndex(root, { database: file, onNotIndexed });
        assert.deepEqual(problems, change.includes("+") ? ["2 lines of the log are missing"] : [], change);
        assert.deepEqual((await verify(root)).findings, [], change);
      });
    }
  });

  it("opens what it was given and its own database in one thread, since a thread takes longer to start than both", async () => {
    await withArchive(async (root) => {
      let started = 0;
      const count = (): number => (started += 1);
      process.on("worker", count);
      try {
        // In a folder, each database is looked into before it is opened.
        const database = join(databaseOf(root), "..");
        const { verdict } = await verifyArchive(root, { database, mayUseThread: false });
        assert.deepEqual([verdict, started], ["ok", 1]);
      } finally {
        process.off("worker", count);
      }
    });
  });

  it("reads a database that Node-RED has open, and leaves nothing beside one that nobody has open", async () => {
    await withFolder(async (root) => {
      const list = (): Promise<string[]> => readdir(join(databaseOf(root), ".."));
      const store = storeIn(root);
      const connection = await store.connect();
      await fillArchive(root, ids, () => ({}), { store });
      const open = await list();
      assert.equal((await verify(root)).report.verdict, "ok");
      assert.deepEqual(await list(), open);
      await connection.release();
      const closed = await list();
      assert.ok(!closed.includes("store.sqlite-wal"));
      assert.equal((await verify(root)).report.verdict, "ok");
      assert.deepEqual(await list(), closed);
    });
  });

  it("needs the databases of all stores that use a folder, or the folder with them", async () => {
    await withFolder(async (folder) => {
      const root = join(folder, "packages");
      const databases = join(folder, "dimensioner");
      await mkdir(root);
      await mkdir(databases);
      const [first = "", second = ""] = ["first", "second"].map((name) => join(databases, `${name}.sqlite`));
      await fillArchive(root, ["a0", "a1"], () => ({}), { store: storeAt(first, root) });
      const [, last = ""] = await fillArchive(root, ["b0", "b1"], () => ({}), {
        store: storeAt(second, root),
      });
      const other = join(folder, "others");
      await mkdir(other);
      await fillArchive(other, ["c0"], () => ({}), {
        store: storeAt(join(databases, "third.sqlite"), other),
      });

      const one = await verify(root, first);
      assert.deepEqual([one.report.verdict, one.said], ["unchecked", [`later-packages ${last}`]]);
      assert.match(one.report.unchecked[0]?.problem ?? "", /first\.sqlite does not list 2 of them$/);
      for (const given of [[first, second], databases]) {
        const both = await verify(root, given);
        assert.deepEqual([both.report.verdict, both.said, both.report.expected], ["ok", [], 4]);
      }
      await rm(join(root, last), { recursive: true });
      assert.deepEqual((await verify(root, databases)).said, [`missing-package ${last}`]);
    });
  });

  it("misses no measurement that was forgotten because of its age, with a clock that is behind", async () => {
    await withArchive(async (root, file) => {
      const clock = new WallClock();
      try {
        clock.jump(100 * 24 * 3_600_000);
        await fillArchive(root, ["m3"]);
      } finally {
        clock.close();
      }
      changeDatabase(file, "DELETE FROM measurements WHERE transaction_id <> 'm3'");
      assert.deepEqual((await verify(root)).said, []);
      changeDatabase(file, "DELETE FROM measurements");
      assert.deepEqual((await verify(root)).said, [`index 2026-11-02/ORDER-1-m3`]);
    });
  });

  it("takes a package that is just being archived for none that is not listed", async () => {
    await withArchive(async (root, file) => {
      changeDatabase(
        file,
        `INSERT INTO jobs (job_id, node_id, state, accepted_at, changed_at, intent, intent_sha256)
          SELECT package_id, 'node', 'failed', '', '', '', '${sha256Of("")}' FROM packages WHERE transaction_id = 'm2';
          DELETE FROM packages WHERE transaction_id = 'm2'`,
      );
      assert.deepEqual((await verify(root)).said, [`unlisted ${archive.paths[2]}`]);
      changeDatabase(file, "UPDATE jobs SET state = 'accepted'");
      assert.deepEqual((await verify(root)).said, []);
    });
  });

  it("says where a package is that was moved, and follows no link and no way up", async () => {
    await withFolder(async (folder) => {
      const root = join(folder, "packages");
      await mkdir(root);
      const [first = "", second = ""] = await fillArchive(root, ids);
      await rename(join(root, first), join(root, "moved"));
      await rename(join(root, second), join(folder, "outside"));
      await symlink(join(folder, "outside"), join(root, second));
      const { said } = await verify(root);
      assert.deepEqual(said, [`stray ${second}`, "not-logged moved", `missing-package ${second}`]);
      changeDatabase(
        databaseOf(root),
        "UPDATE packages SET location = '../outside' WHERE transaction_id = 'm1'",
      );
      assert.equal((await verify(root)).said.at(-1), "missing-package ../outside");
    });
  });

  it("tells of work on open jobs, of what was moved aside and of another folder, and finds no fault in it", async () => {
    await withArchive(async (root, file) => {
      const state = join(root, ".dimensioner-archive");
      for (const path of ["work/another/job1/media", "work/another/job2/media", "aside/job3", "trash/x"]) {
        await mkdir(join(state, path), { recursive: true });
      }
      changeDatabase(file, "UPDATE store SET folder = '/srv/elsewhere'");
      const { report, said } = await verify(root);
      assert.deepEqual([report.verdict, said], ["ok", []]);
      assert.deepEqual(
        report.notes.map(({ kind, path }) => [kind, basename(path)]),
        [
          ["other-folder", "store.sqlite"],
          ["work", "another"],
          ["aside", "aside"],
          ["trash", "trash"],
        ],
      );
      assert.match(report.notes[1]?.text ?? "", /^the media of 2 open jobs of the store another are here/);
    });
  });
});

function storeAt(file: string, root: string): Store {
  return new Store({ kind: "file", file }, { kind: "folder", path: root }, newDatabases());
}
