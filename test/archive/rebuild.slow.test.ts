import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import {
  appendFile,
  chown,
  cp,
  mkdir,
  readFile,
  readdir,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { basename, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { NotIndexed, RebuildIndexOptions, RebuildReport } from "../../src/model/archive-reports.ts";
import { pruneArchive, rebuildIndex } from "../../src/vault/upkeep/upkeep.ts";
import { entryOf } from "../../src/vault/log/events.ts";
import { type Manifest, writeManifest } from "../../src/vault/packages/manifest.ts";
import { withFolder } from "../media/support.ts";
import { sha256Of } from "../../src/model/sha256.ts";
import { rowsIn } from "../support/rows.ts";
import { readLogged } from "./logged.ts";
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

/** Where the log of the only store lies. */
async function logFolder(root: string): Promise<string> {
  const logs = join(root, ".dimensioner-archive", "log");
  const [store = ""] = await readdir(logs);
  return join(logs, store);
}

/** The lines of the log in a database. */
function linesIn(file: string): unknown[] {
  return rowsIn(file, "SELECT n, what, package_id, sha256, transaction_id, line FROM log ORDER BY n");
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
        // As a Mac leaves it in each folder that it has shown.
        await writeFile(join(root, ".dimensioner-archive", "log", ".DS_Store"), "");
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

  it("lets Node-RED go on with the log, and finds what is archived twice", async () => {
    await withArchive(async (root, file) => {
      await rm(file);
      await rebuild(root);
      await fillArchive(root, ["m3"]);
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
          INSERT INTO jobs (job_id, node_id, state, accepted_at, changed_at, intent, intent_sha256)
          VALUES ('j', 'n', 'accepted', '', '', '{}', '');
          INSERT INTO records (node_id, transaction_id, received_at, received_by_run, record, record_sha256)
          VALUES ('n', 't', '', 'r', '{}', 'x')`,
      );
      await rm(join(root, archive.paths[2] ?? ""), { recursive: true });
      const { report } = await rebuild(root);
      assert.deepEqual([report.database, report.packages, report.movedTo], ["completed", 2, null]);
      assert.deepEqual(rows(file), before, "also the row of the package that is missing");
      const database = new DatabaseSync(file);
      assert.equal(database.prepare("SELECT count(*) AS n FROM records").get()?.["n"], 1);
      assert.equal(database.prepare("SELECT count(*) AS n FROM jobs").get()?.["n"], 1);
      database.close();
    });
  });

  it("keeps the ID of the store and each line of its log", async () => {
    await withArchive(async (root, file) => {
      const indexes = "SELECT name FROM sqlite_schema WHERE type = 'index' ORDER BY name";
      const whole = rowsIn(file, indexes);
      const [store, lines] = [rowsIn(file, "SELECT store_id, folder FROM store"), linesIn(file)];
      await rm(file);
      await rebuild(root);
      assert.deepEqual(rowsIn(file, "SELECT store_id, folder FROM store"), store);
      assert.deepEqual(linesIn(file), lines);
      assert.deepEqual(rowsIn(file, "SELECT size FROM log_head"), [{ size: lines.length }]);
      assert.deepEqual(rowsIn(file, indexes), whole);
      await fillArchive(root, ["m3"]);
      assert.equal((await readLogged(root)).length, lines.length + 2, "opened, archived");
    });
  });

  it("writes nothing into a database where nothing differs", async () => {
    await withArchive(async (root, file) => {
      await rebuild(root);
      const before = await readFile(file);
      const { mtimeMs, ino } = await stat(file);
      const { report } = await rebuild(root);
      assert.deepEqual([report.database, report.packages, report.notes], ["completed", 3, []]);
      const after = await stat(file);
      assert.deepEqual([after.mtimeMs, after.ino], [mtimeMs, ino]);
      assert.ok((await readFile(file)).equals(before));
      assert.deepEqual(
        (await readdir(join(file, ".."))).filter((name) => name.endsWith("-wal")),
        [],
      );
    });
  });

  it("gives an older database that was restored from a backup the later lines and packages", async () => {
    await withArchive(async (root, file) => {
      const older = await readFile(file);
      await fillArchive(root, ["m3"]);
      const lines = linesIn(file);
      await pruneArchive(root, { before: new Date(Date.now() - 86_400_000), database: file });
      await writeFile(file, older);
      const { report, notIndexed } = await rebuild(root);
      assert.deepEqual([report.database, report.packages, notIndexed], ["completed", 4, []]);
      assert.deepEqual(linesIn(file), lines);
      assert.deepEqual((await verify(root)).said, []);
    });
  });

  it("indexes nothing that the log says was deleted, and removes its row from an older database", async () => {
    await withArchive(async (root, file) => {
      const [first = "", second = ""] = archive.paths;
      const older = await readFile(file);
      const backup = join(root, "..", `backup-${randomUUID()}`);
      await cp(join(root, first), backup, { recursive: true });
      try {
        const { times } = JSON.parse(await readFile(join(root, second, "manifest.json"), "utf8")) as Manifest;
        await pruneArchive(root, { before: new Date(times.archived), database: file });
        await cp(backup, join(root, first), { recursive: true });
      } finally {
        await rm(backup, { recursive: true });
      }
      for (const before of [older, null]) {
        await (before === null ? rm(file) : writeFile(file, before));
        const { report, notIndexed } = await rebuild(root);
        assert.deepEqual([report.packages, notIndexed], [2, []]);
        assert.ok(
          report.notes.some(({ kind, text }) => kind === "kept-here" && text.startsWith("1 package")),
        );
        assert.deepEqual(
          rows(file).map((row) => (row as { location: string }).location),
          archive.paths.slice(1),
        );
      }
    });
  });

  it("does not index what the log does not know, or knows otherwise", async () => {
    await withArchive(async (root, file) => {
      const [first = "", second = ""] = archive.paths;
      const change = async (path: string, changed: Partial<Manifest>): Promise<void> => {
        const manifest = join(root, path, "manifest.json");
        const content = JSON.parse(await readFile(manifest, "utf8")) as Manifest;
        await writeFile(manifest, writeManifest({ ...content, ...changed }));
      };
      await cp(join(root, first), join(root, "forged"), { recursive: true });
      await change("forged", { job: randomUUID() });
      await change(second, { legalForTrade: true });
      for (const database of [file, join(file, "..", "new.sqlite")]) {
        const { report, notIndexed } = await rebuild(root, database);
        assert.deepEqual(
          notIndexed.map(({ kind, path }) => [kind, path]).toSorted(),
          [
            ["unknown", "forged"],
            ["unknown", second],
          ].toSorted(),
        );
        assert.equal(report.packages, 2);
        assert.ok(!rows(database).some((row) => (row as { location: string }).location === "forged"));
      }
    });
  });

  it("indexes each of two stores in one folder from its own log, and asks which one is meant", async () => {
    await withArchive(async (root, file) => {
      const second = join(file, "..", "second.sqlite");
      const [path = ""] = await fillArchive(root, ["n0"], undefined, {
        store: storeIn(root, undefined, second),
      });
      const [{ store_id: own } = {}] = rowsIn(second, "SELECT store_id FROM store") as { store_id: string }[];
      assert.ok(own !== undefined);
      await rm(second);
      const refused = rebuild(root, second);
      await assert.rejects(refused, (error: Error & { sentence?: string }) => {
        assert.equal(error.sentence, "rebuildWhichLog");
        assert.match(error.message, new RegExp(`${own} \\(\\d{4}-`));
        return true;
      });
      await assert.rejects(rebuild(root, second, { log: "another" }), { sentence: "rebuildWhichLog" });
      await assert.rejects(rebuild(root, file, { log: own }), { sentence: "rebuildWhichLog" });
      const { report, notIndexed } = await rebuild(root, second, { log: own });
      assert.deepEqual([report.packages, notIndexed], [1, []]);
      assert.deepEqual(
        rows(second).map((row) => (row as { location: string }).location),
        [path],
      );
      assert.ok(
        report.notes.some(
          ({ kind, text }) =>
            kind === "other-log" &&
            /^3 packages .*, whose log is here: only a database of that store lists them$/.test(text),
        ),
      );
      assert.deepEqual((await verify(root, [file, second])).said, []);
    });
  });

  it("reads as much of a damaged log as it can, and says what is missing", async () => {
    await withArchive(async (root, file) => {
      const [name = ""] = await readdir(await logFolder(root));
      const log = join(await logFolder(root), name);
      const lines = (await readFile(log, "utf8")).split("\n");
      await writeFile(log, [...lines.slice(0, 1), ...lines.slice(2)].join("\n"));
      await appendFile(log, `${lines[2]?.replace("archived", "ARCHIVED")}\n`);
      await rm(file);
      const { report, notIndexed } = await rebuild(root);
      assert.equal(report.packages, 3);
      assert.deepEqual(
        notIndexed.map(({ kind, problem }) => [kind, problem]),
        [
          ["log", "the line 2 of the log is there in two ways: one of the two was changed"],
          ["log", "1 line of the log is missing"],
        ],
      );
    });
  });

  it("puts a log that was lost beside the packages back from the database", async () => {
    await withArchive(async (root) => {
      const events = await readLogged(root);
      await rm(await logFolder(root), { recursive: true });
      const { report, notIndexed } = await rebuild(root);
      assert.deepEqual([report.notes.map(({ kind }) => kind), notIndexed], [["log"], []]);
      assert.deepEqual(await readLogged(root), events);
      assert.deepEqual((await verify(root)).said, []);
    });
  });

  it("begins a new log only when it is told to, and says for good that it did", async () => {
    await withArchive(async (root, file) => {
      await assert.rejects(rebuild(root, file, { newLog: true }), { sentence: "rebuildHasLog" });
      const logs = join(root, ".dimensioner-archive", "log");
      await rm(logs, { recursive: true });
      await assert.rejects(rebuild(root, file, { newLog: true }), { sentence: "rebuildHasLog" });
      await rm(file);
      await assert.rejects(rebuild(root), { code: "ERR_STORE", sentence: "rebuildNoLog" });
      assert.ok(!(await readdir(join(file, ".."))).includes("store.sqlite"));
      const { report, notIndexed } = await rebuild(root, file, { newLog: true });
      assert.deepEqual([report.database, report.packages, notIndexed], ["made", 3, []]);
      assert.ok(report.notes.some(({ kind }) => kind === "begun-anew"));
      const events = await readLogged(root);
      assert.deepEqual(
        events.map(({ what }) => what),
        ["begun", "lost", "archived", "archived", "archived"],
      );
      assert.ok(events[1]?.what === "lost" && events[1].packages === 3);
      const verified = await verify(root);
      assert.deepEqual(verified.findings, []);
      const said = verified.report.notes.find(({ kind }) => kind === "begun-anew");
      assert.match(
        said?.text ?? "",
        /^the log was begun anew at \S+Z, .* what happened before is not known$/,
      );
      await assert.rejects(rebuild(root, file, { newLog: true }), { sentence: "rebuildHasLog" });
      // As a kill leaves it before the lines were beside the packages.
      await rm(logs, { recursive: true });
      await rebuild(root);
      assert.deepEqual(await readLogged(root), events);
      await fillArchive(root, ["m3"]);
      assert.deepEqual((await verify(root)).findings, []);
    });
  });

  it("writes not much more than the database has, and once only", async function () {
    const written = (): number => {
      try {
        return Number(/^wchar: (\d+)/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);
      } catch {
        return this.skip();
      }
    };
    written();
    await withArchive(async (root, file) => {
      const [path = ""] = archive.paths;
      const log = join(await logFolder(root), "more.log");
      const manifest = JSON.parse(await readFile(join(root, path, "manifest.json"), "utf8")) as Manifest;
      const [{ size } = {}] = rowsIn(file, "SELECT size FROM log_head") as { size: number }[];
      for (let index = 0; index < 2_000; index += 1) {
        const [job, location] = [randomUUID(), `more/${index}`];
        const content = writeManifest({ ...manifest, job, transactionId: randomUUID() });
        await mkdir(join(root, location), { recursive: true });
        await writeFile(join(root, location, "manifest.json"), content);
        const { line } = entryOf({
          what: "archived",
          at: new Date().toISOString(),
          package: job,
          path: location,
          sha256: sha256Of(content),
          archived: manifest.times.archived,
          supplements: null,
        });
        await appendFile(log, `${(size ?? 0) + index} ${line}\n`);
      }
      await rm(file);
      const before = written();
      assert.equal((await rebuild(root)).report.packages, 2_003);
      const bytes = written() - before;
      const made = await stat(file);
      assert.ok(bytes < 2 * made.size, `${bytes} bytes for a database of ${made.size}`);
      const again = written();
      assert.equal((await rebuild(root)).report.packages, 2_003);
      // What wakes threads counts as well.
      assert.ok(written() - again < made.size / 10, `${written() - again} bytes although nothing differs`);
    });
  });

  it("indexes a package where the log has it, and names copies and what cannot be read", async () => {
    await withArchive(async (root, file) => {
      await rm(file);
      await cp(join(root, archive.paths[1] ?? ""), join(root, "copy"), { recursive: true });
      await writeFile(join(root, archive.paths[0] ?? "", "manifest.json"), "{}");
      for (const kind of ["made", "completed"]) {
        const { report, notIndexed } = await rebuild(root);
        assert.deepEqual([report.database, report.packages, report.notIndexed], [kind, 2, 2]);
        assert.deepEqual(notIndexed.map((one) => one.kind).sort(), ["damaged", "unknown"]);
        assert.equal(notIndexed.find((one) => one.kind === "unknown")?.path, "copy");
        assert.deepEqual(
          rows(file).map((row) => (row as { location: string }).location),
          archive.paths.slice(1),
        );
      }
      await rm(join(root, "copy"), { recursive: true });
      await rename(join(root, archive.paths[1] ?? ""), join(root, "moved"));
      await rm(file);
      const { report, notIndexed } = await rebuild(root);
      assert.ok(report.notes.some(({ kind, text }) => kind === "not-there" && text.startsWith("2 packages")));
      assert.match(
        notIndexed.find(({ path }) => path === "moved")?.problem ?? "",
        /^the log has this package in \S+: it was moved or copied$/,
      );
    });
  });

  it("refuses a database that is in use, of another folder, newer, or of something else, and changes nothing", async () => {
    await withArchive(async (root, file) => {
      const connection = await storeIn(root).connect();
      await assert.rejects(rebuild(root), { code: "ERR_STORE", sentence: "storeInUse" });
      await connection.release();
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
        .connect()
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
      const store = basename(await logFolder(root));
      const job = join(root, ".dimensioner-archive", "work", store, "job1", "media");
      await mkdir(job, { recursive: true });
      await rm(file);
      const { report } = await rebuild(root);
      const [, note] = report.notes;
      assert.deepEqual([note?.kind, note?.path], ["work", `.dimensioner-archive/work/${store}`]);
      assert.match(note?.text ?? "", /^the media of 1 open job of the store .* only the lost database knew/);
    });
  });

  const isPosix = process.platform !== "win32";

  (isPosix ? it : it.skip)(
    "does not wait for a pipe or a device in the place of a database or of a log",
    async () => {
      await withArchive(async (root, file) => {
        const pipe = join(file, "..", "pipe.sqlite");
        execFileSync("mkfifo", [pipe, join(await logFolder(root), "pipe.log"), `${file}-wal`]);
        await symlink("/dev/zero", join(await logFolder(root), "endless.log"));
        for (const database of [pipe, file, "/dev/zero"]) {
          await assert.rejects(rebuild(root, database), { code: "ERR_STORE", sentence: "storeForeign" });
        }
        assert.deepEqual((await verify(root, pipe)).report.unchecked.at(0)?.kind, "database");
        await rm(`${file}-wal`);
        const { report, notIndexed } = await rebuild(root);
        assert.equal(report.packages, 3);
        const strays = ["endless", "pipe"].map((name) => `${name}.log`);
        const { findings } = await verify(root);
        for (const name of strays) {
          assert.ok(
            notIndexed.some(({ kind, problem }) => kind === "log" && problem.includes(`/${name} is a link`)),
          );
          assert.ok(findings.some(({ kind, path }) => kind === "log" && path.endsWith(`/${name}`)));
        }
      });
    },
  );

  (isPosix ? it : it.skip)("follows no link to a log", async () => {
    const steps = [[], ["log"], ["log", "store"]];
    for (const parts of steps) {
      await withArchive((root, file) =>
        withFolder(async (elsewhere) => {
          const store = basename(await logFolder(root));
          const path = join(
            root,
            ".dimensioner-archive",
            ...parts.map((part) => (part === "store" ? store : part)),
          );
          const database = join(elsewhere, "store.sqlite");
          await rename(file, database);
          await rename(path, join(elsewhere, "moved"));
          await symlink(join(elsewhere, "moved"), path);
          await assert.rejects(rebuild(root, database), { code: "ERR_FILE", sentence: "fileOutside" });
          const { findings } = await verify(root, database);
          assert.ok(
            findings.some(({ kind }) => kind === "log"),
            parts.join("/"),
          );
        }),
      );
    }
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
      assert.match(made.stdout, /store\.sqlite: a new database lists 3 packages \(\d+ bytes\) of \S+\n$/);
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
