import assert from "node:assert/strict";
import { chown, cp, mkdir, readFile, readdir, rename, rm, stat, truncate, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { NotIndexed, RebuildIndexOptions, RebuildReport } from "../../src/model/archive-reports.ts";
import { rebuildIndex } from "../../src/vault/commands.ts";
import { changeDatabase, copiesOfArchive, fillArchive, verify } from "./packages.ts";
import { bundleVerb, runChild } from "./processes.ts";
import { databaseOf, storeIn } from "./store.ts";
import { intentOf, openArchive, pictureOf } from "./support.ts";

interface Ran {
  readonly report: RebuildReport;
  readonly notIndexed: readonly NotIndexed[];
}

async function rebuild(
  root: string,
  database = databaseOf(root),
  options: Partial<RebuildIndexOptions> = {},
): Promise<Ran> {
  const notIndexed: NotIndexed[] = [];
  const report = await rebuildIndex(root, {
    database,
    onNotIndexed: (one) => notIndexed.push(one),
    ...options,
  });
  return { report, notIndexed };
}

/** The rows of packages, without their order. */
function rows(file: string): unknown[] {
  const database = new DatabaseSync(file);
  try {
    const found = database.prepare("SELECT * FROM packages ORDER BY location").all();
    return found.map((row) => ({ ...row, indexed_order: null }));
  } finally {
    database.close();
  }
}

describe("archive: dimensioner rebuild", () => {
  const archive = copiesOfArchive(["m0", "m1", "m2"]);
  const { withArchive } = archive;

  const losses: readonly (readonly [what: string, lose: (file: string) => Promise<void>])[] = [
    ["lost", (file) => rm(file)],
    ["cut", (file) => truncate(file, 50_000)],
    ["emptied", (file) => truncate(file, 0)],
    ["overwritten with noise", (file) => writeFile(file, Buffer.alloc(60_000, "noise"))],
  ];
  for (const [what, lose] of losses) {
    it(`makes a new database for one that was ${what}, and moves aside what is there`, async () => {
      await withArchive(async (root, file) => {
        const before = rows(file);
        await lose(file);
        const damaged = await readFile(file).catch(() => null);
        const { report, notIndexed } = await rebuild(root);
        assert.deepEqual([report.database, report.packages, notIndexed], ["made", 3, []]);
        assert.deepEqual(rows(file), before);
        assert.equal(report.movedTo === null, damaged === null);
        assert.ok(damaged === null || (await readFile(report.movedTo ?? "")).equals(damaged));
        assert.deepEqual(
          (await readdir(join(file, ".."))).filter((name) => name.startsWith("store.sqlite")).sort(),
          [
            "store.sqlite",
            "store.sqlite-lock",
            ...(report.movedTo === null ? [] : [basename(report.movedTo)]),
          ].sort(),
        );
        assert.equal(report.notes[0]?.kind, "not-known");
        assert.match(report.notes[0].text, /open, .* webhook records .* handled$/);
        assert.deepEqual((await verify(root, join(file, ".."))).said, []);
        const again = await rebuild(root);
        assert.deepEqual([again.report.database, again.report.movedTo], ["completed", null]);
        assert.deepEqual(rows(file), before);
      });
    });
  }

  it("moves the log of a damaged database aside with it", async () => {
    await withArchive(async (root, file) => {
      await writeFile(file, Buffer.alloc(60_000, "noise"));
      await writeFile(`${file}-wal`, Buffer.alloc(60_000, "log"));
      const { report } = await rebuild(root);
      assert.ok((await readFile(`${report.movedTo}-wal`)).equals(Buffer.alloc(60_000, "log")));
      assert.deepEqual((await verify(root)).said, []);
    });
  });

  it("lets Node-RED go on with the chain, and finds what is archived twice", async () => {
    await withArchive(async (root, file) => {
      await rm(file);
      await rebuild(root);
      const [next = ""] = await fillArchive(root, ["m3"]);
      const manifest = JSON.parse(await readFile(join(root, next, "manifest.json"), "utf8")) as {
        previous: { path: string };
      };
      assert.equal(manifest.previous.path, `${archive.paths[2]}/manifest.json`);
      assert.deepEqual((await verify(root)).said, []);
      const { runner, close } = await openArchive(root, undefined);
      const media = [0, 1].map((place) => ({
        content: pictureOf(`m1 ${place}`),
        contentType: "image/jpeg",
        contentId: null,
        description: null,
        filename: null,
      }));
      const again = await runner.submitMedia(intentOf("m1", { origin: null, raw: "{}" }), media, null);
      const archived = await again.end();
      assert.deepEqual([archived.wasThere, archived.path], [true, archive.paths[1]]);
      again.messageSent();
      await close();
    });
  });

  it("completes the index of a database that is whole, and leaves all else in it", async () => {
    await withArchive(async (root, file) => {
      const before = rows(file);
      changeDatabase(
        file,
        `DELETE FROM packages WHERE transaction_id = 'm0';
          UPDATE packages SET device = 'changed' WHERE transaction_id = 'm1';
          INSERT INTO records (node_id, transaction_id, received_at, received_by_run, record, record_sha256)
          VALUES ('n', 't', '', 'r', '{}', 'x')`,
      );
      await rm(join(root, archive.paths[2] ?? ""), { recursive: true });
      const { report } = await rebuild(root);
      assert.deepEqual([report.database, report.packages, report.movedTo], ["completed", 2, null]);
      assert.deepEqual(rows(file), before, "also the row of the package that is missing");
      const database = new DatabaseSync(file);
      assert.equal(database.prepare("SELECT count(*) AS n FROM records").get()?.["n"], 1);
      assert.equal(database.prepare("SELECT count(*) AS n FROM jobs").get()?.["n"], 3);
      database.close();
    });
  });

  it("indexes a package once, and names copies and what cannot be read", async () => {
    await withArchive(async (root, file) => {
      await rm(file);
      await cp(join(root, archive.paths[1] ?? ""), join(root, "copy"), { recursive: true });
      await writeFile(join(root, archive.paths[0] ?? "", "manifest.json"), "{}");
      for (const kind of ["made", "completed"]) {
        const { report, notIndexed } = await rebuild(root);
        assert.deepEqual([report.database, report.packages, report.notIndexed], [kind, 2, 2]);
        assert.deepEqual(notIndexed.map((one) => one.kind).sort(), ["copy", "damaged"]);
        const copy = notIndexed.find((one) => one.kind === "copy")?.path;
        assert.ok(!rows(file).some((row) => (row as { location: string }).location === copy));
      }
      // The index follows a package that was moved.
      await rm(join(root, "copy"), { recursive: true });
      await rename(join(root, archive.paths[1] ?? ""), join(root, "moved"));
      await rebuild(root);
      assert.deepEqual(
        rows(file).map((row) => (row as { location: string }).location),
        [archive.paths[2], "moved"],
      );
    });
  });

  it("refuses a database that is in use, of another folder, newer, or of something else, and changes nothing", async () => {
    await withArchive(async (root, file) => {
      const lease = await storeIn(root).lease();
      await assert.rejects(rebuild(root), { code: "ERR_STORE", sentence: "storeInUse" });
      await lease.release();
      const whole = await readFile(file);
      const refusals = [
        ["UPDATE store SET folder = '/srv/elsewhere'", "storeOtherFolder"],
        ["PRAGMA user_version = 99", "storeNewer"],
        ["DROP TABLE store", "storeForeign"],
      ] as const;
      for (const [sql, sentence] of refusals) {
        changeDatabase(file, sql);
        const before = await readFile(file);
        await assert.rejects(rebuild(root), { code: "ERR_STORE", sentence });
        assert.ok((await readFile(file)).equals(before));
        await writeFile(file, whole);
      }
      await assert.rejects(rebuild(join(root, "gone"), file), { code: "ERR_FILE" });
    });
  });

  it("never replaces a file that is no database by its name and its content", async () => {
    await withArchive(async (root, file) => {
      const other = join(file, "..", "notes.txt");
      await writeFile(other, "somebody's notes");
      await assert.rejects(rebuild(root, other), { code: "ERR_STORE", sentence: "storeForeign" });
      assert.equal(await readFile(other, "utf8"), "somebody's notes");
      // A damaged database may have any name.
      await writeFile(other, (await readFile(file)).subarray(0, 50_000));
      assert.equal((await rebuild(root, other)).report.database, "made");
    });
  });

  it("leaves everything as it was when it is ended, and begins again after a kill", async () => {
    await withArchive(async (root, file) => {
      const noise = Buffer.alloc(60_000, "noise");
      await writeFile(file, noise);
      await writeFile(join(root, archive.paths[0] ?? "", "manifest.json"), "{}");
      const list = async (): Promise<string[]> => (await readdir(join(file, ".."))).sort();
      await assert.rejects(rebuild(join(root, "gone"), file), { code: "ERR_FILE" });
      await storeIn(root)
        .lease()
        .then(
          ({ release }) => release(),
          () => undefined,
        );
      const before = await list();
      const controller = new AbortController();
      const onNotIndexed = (): void => controller.abort();
      const options = { signal: controller.signal, onNotIndexed };
      await assert.rejects(rebuild(root, file, options), { code: "ERR_CANCELLED" });
      assert.deepEqual(await list(), before);
      assert.ok((await readFile(file)).equals(noise));
      // What a killed one has left.
      await writeFile(`${file}.rebuilding`, noise);
      await writeFile(`${file}.rebuilding-wal`, noise);
      const { report } = await rebuild(root);
      assert.equal(report.packages, 2);
      assert.ok(!(await list()).some((name) => name.includes("rebuilding")));
    });
  });

  it("names the media of open jobs that only the lost database knew", async () => {
    await withArchive(async (root, file) => {
      const job = join(root, ".dimensioner-archive", "work", "lost", "job1", "media");
      await mkdir(job, { recursive: true });
      await rm(file);
      const { report } = await rebuild(root);
      const [, note] = report.notes;
      assert.deepEqual([note?.kind, note?.path], ["work", ".dimensioner-archive/work/lost"]);
      assert.match(
        note?.text ?? "",
        /^the media of 1 open job of the store lost .* only the database of that store/,
      );
    });
  });

  it("gives a database that root has made to the owner of the one before, or of the folder", async function () {
    if (process.getuid?.() !== 0) {
      this.skip();
    }
    await withArchive(async (root, file) => {
      await chown(file, 1234, 1234);
      await truncate(file, 50_000);
      await rebuild(root);
      const folder = join(root, "dimensioner");
      await mkdir(folder);
      await chown(folder, 4321, 4321);
      await rebuild(root, join(folder, "new.sqlite"));
      const owners = [file, `${file}-lock`, join(folder, "new.sqlite"), join(folder, "new.sqlite-lock")].map(
        async (path) => (await stat(path)).uid,
      );
      assert.deepEqual(await Promise.all(owners), [1234, 1234, 4321, 4321]);
    });
  });

  it("says on the command line what it has done", async () => {
    const script = await bundleVerb("rebuild");
    await withArchive(async (root, file) => {
      await truncate(file, 50_000);
      const made = await runChild(script, [root, "--database", file]);
      assert.deepEqual([made.code, made.stderr], [0, ""]);
      assert.match(made.stdout, /was damaged, and is now \S+\.damaged-\d{8}T\d{6}Z\n/);
      assert.match(made.stdout, /only the lost database knew which jobs were open/);
      assert.match(made.stdout, /store\.sqlite: a new database lists 3 packages \(\d+ byte\) of \S+\n$/);
      await writeFile(join(root, archive.paths[0] ?? "", "manifest.json"), "{}");
      const completed = await runChild(script, [root, "--database", file, "--json"]);
      assert.equal(completed.code, 1);
      const report = JSON.parse(completed.stdout) as Record<string, unknown>;
      assert.deepEqual([report["database"], report["packages"]], ["completed", 2]);
      assert.deepEqual(
        (report["findings"] as NotIndexed[]).map(({ kind }) => kind),
        ["damaged"],
      );
      for (const args of [[], [root], [root, "--database", root], [join(root, "gone"), "--database", file]]) {
        const wrong = await runChild(script, args);
        assert.deepEqual([wrong.code, wrong.stdout], [2, ""], args.join(" "));
        assert.match(wrong.stderr, /^dimensioner rebuild: [^\n]+\n$/);
      }
    });
  });
});
