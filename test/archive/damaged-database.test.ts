import assert from "node:assert/strict";
import { cp, mkdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { withFolder } from "../media/support.ts";
import { rowsIn } from "../support/rows.ts";
import { changeDatabase, copiesOfArchive, fillArchive, verify } from "./packages.ts";
import { databaseOf, storeIn } from "./store.ts";

const ids = ["m0", "m1", "m2"];

/** All rows of packages, as text; what SQLite says where they cannot be read. */
function packagesIn(file: string): string {
  try {
    return JSON.stringify(rowsIn(file, "SELECT * FROM packages ORDER BY indexed_order"));
  } catch (error) {
    return String(error);
  }
}

async function flipBit(file: string, at: number, bit = 0): Promise<void> {
  const bytes = await readFile(file);
  bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
  await writeFile(file, bytes);
}

describe("archive: dimensioner verify with a database that is damaged or cannot be read", () => {
  const archive = copiesOfArchive(ids);
  const { withArchive } = archive;

  it("finds each flipped bit that changes a package's row or makes the file unreadable", async () => {
    await withArchive(async (root, file) => {
      const whole = await readFile(file);
      const before = packagesIn(file);
      const places = Array.from({ length: 6 }, (_, index) => (index * 13_999) % whole.length);
      const path = archive.paths[1] ?? "";
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
        `INSERT INTO jobs (job_id, node_id, state, accepted_at, changed_at, intent, intent_sha256)
            VALUES ('j', 'n', 'accepted', '', '', '{}', 'another');
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
      assert.match(findings[0]?.problem ?? "", /^the row of the webhook record 1 is not as it was stored/);
      assert.match(findings[1]?.problem ?? "", /^the row of the job \S+ is not as it was stored/);
    });
  });

  it("finds a flipped bit in the database's log", async () => {
    await withFolder(async (folder) => {
      const root = join(folder, "packages");
      await mkdir(root);
      const store = storeIn(root);
      // As a killed process leaves them: with commits in the log.
      const connection = await store.connect();
      await fillArchive(root, ids, () => ({}), { store });
      const [copy, other] = [join(folder, "copy.sqlite"), join(folder, "other.sqlite")];
      for (const suffix of ["", "-wal"]) {
        await cp(`${databaseOf(root)}${suffix}`, `${copy}${suffix}`);
        await cp(`${databaseOf(root)}${suffix}`, `${other}${suffix}`);
      }
      await connection.release();
      const whole = await verify(root, other);
      assert.deepEqual([whole.report.verdict, whole.said], ["ok", []]);
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
        assert.deepEqual(said, [`database ${file}`, `later-packages ${archive.paths[2]}`]);
        const command = `run dimensioner rebuild "folder of the packages" --database "${file}"`;
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
        assert.deepEqual(said, [`database ${file}`, `later-packages ${archive.paths[2]}`]);
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
      assert.deepEqual(said, [`database ${file}`, `later-packages ${archive.paths[2]}`]);
    });
  });
});
