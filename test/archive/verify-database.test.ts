import assert from "node:assert/strict";
import { mkdir, readdir, rename, rm, symlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { verifyArchive } from "../../src/vault/commands.ts";
import { Store } from "../../src/vault/store.ts";
import { withFolder } from "../media/support.ts";
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
      assert.deepEqual(
        findings.map(({ kind, path, problem }) => [
          kind,
          path,
          /^in the column (\w+), the index has .*, but the manifest has /.exec(problem)?.[1],
        ]),
        names.map((name) => ["index", archive.paths[1], name]),
      );
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
      const lease = await store.lease();
      await fillArchive(root, ids, () => ({}), { store });
      const open = await list();
      assert.equal((await verify(root)).report.verdict, "ok");
      assert.deepEqual(await list(), open);
      await lease.release();
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
