import assert from "node:assert/strict";
import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Store } from "../../src/store/store.ts";
import { StoreDatabases } from "../../src/store/store-databases.ts";
import { withFolder } from "../media/support.ts";
import { changeDatabase, fillArchive, verify } from "./packages.ts";
import { databaseOf, storeIn } from "./store.ts";

const ids = ["m0", "m1", "m2"];

/** All rows of packages, as text; what SQLite says where they cannot be read. */
function packagesIn(file: string): string {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return JSON.stringify(database.prepare("SELECT * FROM packages ORDER BY indexed_order").all());
  } catch (error) {
    return String(error);
  } finally {
    database.close();
  }
}

async function flipBit(file: string, at: number, bit = 0): Promise<void> {
  const bytes = await readFile(file);
  bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
  await writeFile(file, bytes);
}

describe("archive: dimensioner-verify with a database", function () {
  this.timeout(30_000);

  let template: string;
  let paths: string[];

  before(async () => {
    template = await realpath(await mkdtemp(join(tmpdir(), "verify-database-")));
    paths = await fillArchive(template, ids);
  });
  after(() => rm(template, { recursive: true }));

  /** A copy of an archive with three packages. */
  async function withArchive(body: (root: string, file: string) => Promise<void>): Promise<void> {
    await withFolder(async (root) => {
      await cp(template, root, { recursive: true });
      await body(root, databaseOf(root));
    });
  }

  it("names each column of a row that is not what the manifest says", async () => {
    await withArchive(async (root, file) => {
      const database = new DatabaseSync(file, { readOnly: true });
      const columns = database.prepare("PRAGMA table_info(packages)").all();
      database.close();
      const special = ["indexed_order", "location", "manifest_sha256"];
      const names = columns.map(({ name }) => String(name)).filter((name) => !special.includes(name));
      assert.equal(names.length, 19);
      const changes = names.map((name) => `${name} = 7`).join(", ");
      changeDatabase(file, `UPDATE packages SET ${changes} WHERE location = '${paths[1]}'`);
      const { findings } = await verify(root);
      assert.deepEqual(
        findings.map(({ kind, path, problem }) => [
          kind,
          path,
          /^the index says .* the column (\w+), and the manifest/.exec(problem)?.[1],
        ]),
        names.map((name) => ["index", paths[1], name]),
      );
    });
    for (const [name, said] of [
      ["location", "the index says that this package lies in changed"],
      ["manifest_sha256", "the index has another manifest for this package"],
    ] as const) {
      await withArchive(async (root, file) => {
        changeDatabase(file, `UPDATE packages SET ${name} = 'changed' WHERE location = '${paths[1]}'`);
        const { findings } = await verify(root);
        assert.deepEqual([findings.length, findings[0]?.kind, findings[0]?.path], [1, "index", paths[1]]);
        assert.ok(findings[0]?.problem.startsWith(said), findings[0]?.problem);
      });
    }
  });

  it("finds each flipped bit that changes a package's row or makes the file unreadable", async () => {
    await withArchive(async (root, file) => {
      const whole = await readFile(file);
      const before = packagesIn(file);
      const places = Array.from({ length: 6 }, (_, index) => (index * 13_999) % whole.length);
      const path = paths[1] ?? "";
      for (let at = whole.indexOf(path); at >= 0; at = whole.indexOf(path, at + 1)) {
        places.push(at);
      }
      let changed = 0;
      for (const at of places) {
        await flipBit(file, at, 1);
        const isChanged = packagesIn(file) !== before;
        changed += Number(isChanged);
        const { report } = await verify(root);
        assert.ok(!isChanged || report.verdict === "wrong", `byte ${at}`);
        await writeFile(file, whole);
      }
      assert.ok(changed > 0);
    });
  });

  it("finds a webhook record and a job that are not what was stored", async () => {
    await withArchive(async (root, file) => {
      changeDatabase(
        file,
        `UPDATE jobs SET intent = replace(intent, 'ORDER-1', 'ORDER-2') WHERE transaction_id = 'm1';
          INSERT INTO records (node_id, transaction_id, received_at, received_by_run, record, record_sha256)
          VALUES ('n', 't', '', 'r', '{}', 'another')`,
      );
      const { findings } = await verify(root);
      assert.deepEqual(
        findings.map(({ kind, path }) => [kind, path]),
        [
          ["database", file],
          ["database", file],
        ],
      );
      assert.match(findings[0]?.problem ?? "", /^the webhook record 1 is not what was stored/);
      assert.match(findings[1]?.problem ?? "", /^the job \S+ is not what was stored/);
    });
  });

  it("finds a flipped bit in the database's log", async () => {
    await withFolder(async (folder) => {
      const root = join(folder, "packages");
      await mkdir(root);
      const store = storeIn(root);
      // As a killed process leaves them: with commits in the log.
      const lease = await store.lease();
      await fillArchive(root, ids, () => ({}), { store });
      const copy = join(folder, "copy.sqlite");
      for (const suffix of ["", "-wal"]) {
        await cp(`${databaseOf(root)}${suffix}`, `${copy}${suffix}`);
      }
      await lease.release();
      const whole = await verify(root, copy);
      assert.deepEqual([whole.report.verdict, whole.said], ["ok", []]);
      await rm(`${copy}-shm`);
      await flipBit(`${copy}-wal`, 5_000);
      const { report, findings } = await verify(root, copy);
      assert.equal(report.verdict, "wrong");
      assert.deepEqual([findings[0]?.kind, findings[0]?.path], ["database", copy]);
      assert.match(findings[0]?.problem ?? "", /is damaged: checksum mismatch in the write-ahead log/);
    });
  });

  const damages: readonly (readonly [what: string, damage: (file: string) => Promise<void>])[] = [
    ["cut", (file) => truncate(file, 50_000)],
    ["overwritten with noise", async (file) => writeFile(file, Buffer.alloc(60_000, "noise"))],
    [
      "overwritten in the middle",
      async (file) => {
        const bytes = await readFile(file);
        await writeFile(file, bytes.fill("noise", 20_000, 60_000));
      },
    ],
  ];
  for (const [what, damage] of damages) {
    it(`says of a database that was ${what} how a new one is made, and checks the packages`, async () => {
      await withArchive(async (root, file) => {
        await damage(file);
        const { report, findings, said } = await verify(root);
        assert.equal(report.verdict, "wrong");
        assert.deepEqual(said, [`database ${file}`, `later-packages ${paths[2]}`]);
        const command = `run dimensioner-rebuild "folder of the packages" --database "${file}"`;
        assert.ok(findings[0]?.problem.includes(command), findings[0]?.problem);
      });
    });
  }

  const useless: readonly (readonly [what: string, make: (file: string) => unknown, problem: RegExp])[] = [
    ["is not there", (file) => rm(file), /^There is no database/],
    ["is empty", (file) => truncate(file, 0), /is not the database of a store/],
    [
      "is of something else",
      (file) => changeDatabase(file, "DROP TABLE packages"),
      /is not the database of a store/,
    ],
    [
      "is newer",
      (file) => changeDatabase(file, "PRAGMA user_version = 99"),
      /was written by a newer version/,
    ],
    [
      "is a folder without a database of this folder",
      async (file) => {
        await rm(file);
        await mkdir(file);
      },
      /^No database in the folder .* belongs to a store/,
    ],
  ];
  for (const [what, make, problem] of useless) {
    it(`says that it could not check what only a database knows, where the database ${what}`, async () => {
      await withArchive(async (root, file) => {
        await make(file);
        const { report, said } = await verify(root);
        assert.equal(report.verdict, "unchecked");
        assert.deepEqual(said, [`database ${file}`, `later-packages ${paths[2]}`]);
        assert.match(report.unchecked[0]?.problem ?? "", problem);
      });
    });
  }

  it("says that a database is locked by a program that lets nobody read it", async () => {
    await withArchive(async (root, file) => {
      const owner = new DatabaseSync(file);
      owner.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT");
      owner.exec("UPDATE store SET created_at = ''");
      const { report, said } = await verify(root);
      owner.close();
      assert.equal(report.verdict, "unchecked");
      assert.deepEqual(said, [`database ${file}`, `later-packages ${paths[2]}`]);
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
      changeDatabase(file, "DELETE FROM packages WHERE transaction_id = 'm2'");
      assert.deepEqual((await verify(root)).said, [`unlisted ${paths[2]}`]);
      changeDatabase(file, "UPDATE jobs SET state = 'sealing' WHERE transaction_id = 'm2'");
      assert.deepEqual((await verify(root)).said, []);
    });
  });

  it("says where a package is that was moved, and follows no link and no way up", async () => {
    await withFolder(async (folder) => {
      const root = join(folder, "packages");
      await mkdir(root);
      const [first = "", second = "", third = ""] = await fillArchive(root, ids);
      await rename(join(root, first), join(root, "moved"));
      await rename(join(root, second), join(folder, "outside"));
      await symlink(join(folder, "outside"), join(root, second));
      const { said } = await verify(root);
      assert.deepEqual(said, [
        `stray ${second}`,
        `previous-missing ${third}`,
        "index moved",
        `missing-package ${second}`,
      ]);
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
      assert.match(report.notes[1]?.text ?? "", /^the media of 2 open jobs of the store another lie here/);
    });
  });
});

function storeAt(file: string, root: string): Store {
  return new Store(file, { path: root }, new StoreDatabases());
}
