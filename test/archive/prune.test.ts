import assert from "node:assert/strict";
import { cp, mkdir, readFile, readdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { PruneArchiveOptions, PruneReport, PrunedPackage } from "../../src/model/archive-reports.ts";
import { timeBefore } from "../../src/rules/periods.ts";
import { plainDisk } from "../../src/vault/archive-disk.ts";
import { pruneArchive } from "../../src/vault/upkeep/upkeep.ts";
import { FolderVault } from "../../src/vault/folder/folder-vault.ts";
import { ToolDatabase, ToolThread } from "../../src/database/tool-database.ts";
import { openScope } from "../../src/vault/open-vault.ts";
import { Pruning } from "../../src/vault/upkeep/prune.ts";
import { rejectsWith, watchedDisk, withFolder } from "../media/support.ts";
import { rowsIn } from "../support/rows.ts";
import { readLogged } from "./logged.ts";
import { changeDatabase, fillArchive as fill, verify } from "./packages.ts";
import { bundleVerb, runChild } from "./processes.ts";
import { databaseOf, storeIn } from "./store.ts";

interface Ran {
  readonly packages: readonly PrunedPackage[];
  readonly report: PruneReport;
}

async function prune(folder: string, options: Partial<PruneArchiveOptions> = {}): Promise<Ran> {
  const packages: PrunedPackage[] = [];
  const before = new Date(Date.now() + 1_000);
  const database = databaseOf(folder);
  const onPackage = (one: PrunedPackage): void => void packages.push(one);
  const report = await pruneArchive(folder, { before, database, onPackage, ...options });
  return { packages: packages.sort((a, b) => a.path.localeCompare(b.path)), report };
}

async function runPrune(
  folder: string,
  options: Partial<PruneArchiveOptions> = {},
): Promise<readonly PrunedPackage[]> {
  return (await prune(folder, options)).packages;
}

/** Opens databases of which it notes each statement. */
class NotingThread extends ToolThread {
  readonly #asked: string[];

  constructor(asked: string[]) {
    super();
    this.#asked = asked;
  }

  override async open(request: Parameters<ToolThread["open"]>[0]): Promise<ToolDatabase> {
    const database = await super.open(request);
    return new ToolDatabase(request.file, async (statements) => {
      if (statements === "close") {
        await database.close();
        return [];
      }
      this.#asked.push(...statements.map(({ sql }) => sql));
      return await database.transaction(statements);
    });
  }
}

async function findingsIn(root: string): Promise<string[]> {
  return (await verify(root)).findings.map(({ kind }) => kind);
}

/** Transactions that the index lists. */
function listed(root: string): unknown[] {
  const rows = rowsIn(databaseOf(root), "SELECT transaction_id AS id FROM packages ORDER BY id");
  return rows.map(({ id }) => id);
}

describe("archive: dimensioner prune", () => {
  it("deletes what is old enough, writes it down, and leaves no empty folder", async () => {
    await withFolder(async (root) => {
      const paths = await fill(root, ["a", "b"]);
      assert.deepEqual(await runPrune(root, { before: new Date(Date.now() - 60_000) }), []);
      assert.deepEqual(
        (await runPrune(root)).map(({ what, path }) => [what, path]),
        paths.map((path) => ["deleted", path]),
      );
      assert.deepEqual(await readdir(root), [".dimensioner-archive"]);
      const pruned = (await readLogged(root)).filter(({ what }) => what === "pruned");
      assert.deepEqual(pruned.map((event) => ("path" in event ? event.path : "")).toSorted(), paths);
      assert.deepEqual(listed(root), []);
      assert.deepEqual(await findingsIn(root), [], "what was pruned is not missing");
      assert.deepEqual(await readdir(join(root, ".dimensioner-archive/trash")), []);
    });
  });

  it("only tells, when it is a dry run", async () => {
    await withFolder(async (root) => {
      await fill(root, ["a"]);
      const before = await readdir(root, { recursive: true });
      const [one] = await runPrune(root, { dryRun: true });
      assert.equal(one?.what, "deleted");
      assert.deepEqual(await readdir(root, { recursive: true }), before);
    });
  });

  it("does nothing without a database, whose log has to say what was deleted", async () => {
    await withFolder(async (root) => {
      await fill(root, ["a"]);
      const before = new Date();
      await rejectsWith(pruneArchive(root, { before, database: undefined }), "ERR_CONFIG", "pruneNoDatabase");
      const script = await bundleVerb("prune");
      const { code, stderr } = await runChild(script, [root, "--older-than", "1h"]);
      assert.deepEqual([code, /the database of the store has to be specified/.test(stderr)], [2, true]);
      assert.deepEqual(await findingsIn(root), []);
    });
  });

  it("costs what is due, however much is kept", async () => {
    await withFolder(async (root) => {
      const [first = ""] = await fill(root, ["a", "b", "c", "d"]);
      const archived = rowsIn(databaseOf(root), "SELECT archived_at AS at FROM packages ORDER BY at");
      const opened: string[] = [];
      const disk = watchedDisk((call, [path]) => {
        if (call === "open" || call === "readdir" || call === "opendir") {
          opened.push(String(path));
        }
      });
      const scope = await openScope(root, { disk });
      const thread = new ToolThread();
      const options = { before: new Date(String(archived[1]?.["at"])), database: databaseOf(root), thread };
      const said: string[] = [];
      for await (const { what, path } of new Pruning(scope, { ...options, isDryRun: false }).run()) {
        said.push(`${what} ${path}`);
      }
      await Promise.all([thread.close(), scope.close()]);
      assert.deepEqual(said, [`deleted ${first}`]);
      const others = opened.filter((path) => /ORDER-1-[bcd]/.test(path));
      assert.deepEqual(others, [], "no other package was looked at");
      assert.deepEqual(await findingsIn(root), []);
    });
  });

  it("asks the database for one package if nothing is due, reads no more of it, and writes nothing", async () => {
    await withFolder(async (root) => {
      await fill(root, ["a", "b", "c"]);
      const asked: string[] = [];
      const thread = new NotingThread(asked);
      const scope = await openScope(root, {});
      const options = { database: databaseOf(root), thread, isDryRun: false } as const;
      const space = { keepFree: undefined, useAtMost: 1e12 };
      const everything = () => readdir(root, { recursive: true });
      const before = await everything();
      for (const rule of [
        { before: new Date(Date.now() - 60_000) },
        { before: new Date(Date.now() + 1_000), space },
      ]) {
        for await (const { path } of new Pruning(scope, { ...options, ...rule }).run()) {
          assert.fail(path);
        }
      }
      await Promise.all([thread.close(), scope.close()]);
      assert.deepEqual(await everything(), before, "no file of a log was begun");
      const ofPackages = asked.filter((sql) => /FROM packages\b/.test(sql));
      assert.ok(ofPackages.length > 0);
      assert.deepEqual(
        ofPackages.filter((sql) => /max\(|substr\(measured/.test(sql)),
        [],
      );
      assert.deepEqual(
        asked.filter((sql) => /_check\(|INSERT|UPDATE|DELETE/.test(sql)),
        [],
      );
    });
  });

  it("touches no package of an archive within", async () => {
    await withFolder(async (root) => {
      await fill(root, ["a"]);
      await mkdir(join(root, "inner"));
      await fill(join(root, "inner"), ["b", "c"]);
      assert.deepEqual(
        (await runPrune(root)).map(({ what }) => what),
        ["deleted"],
      );
      assert.deepEqual(await findingsIn(join(root, "inner")), []);
    });
  });

  it("keeps what no log knows, and what is not what was archived", async () => {
    await withFolder(async (root) => {
      const paths = await fill(root, ["a", "b"]);
      changeDatabase(databaseOf(root), "DELETE FROM log WHERE line LIKE '%ORDER-1-a%'");
      const manifest = join(root, paths[1] ?? "", "manifest.json");
      await writeFile(manifest, (await readFile(manifest, "utf8")).replace("ORDER-1", "ORDER-2"));
      assert.deepEqual(
        (await runPrune(root)).map(({ what }) => what),
        ["held", "kept"],
      );
      assert.equal((await readdir(join(root, "2026-11-02"))).length, 2);
    });
  });

  it("follows no trash that leads elsewhere, and leaves there what no log says was deleted", async () => {
    await withFolder(async (folder) => {
      const [root, outside] = [join(folder, "root"), join(folder, "outside")];
      await Promise.all([mkdir(root), mkdir(join(outside, "letters"), { recursive: true })]);
      const [path = ""] = await fill(root, ["a"]);
      const trash = join(root, ".dimensioner-archive/trash");
      await symlink(outside, trash);
      await rejectsWith(runPrune(root), "ERR_FILE", "fileOutside");
      assert.deepEqual(await readdir(outside), ["letters"]);
      await rm(trash);
      await mkdir(trash);
      await rename(join(root, path), join(trash, "x"));
      const [left] = await runPrune(root);
      assert.deepEqual([left?.what, left?.path], ["held", ".dimensioner-archive/trash/x"]);
      assert.ok((await readdir(join(trash, "x"))).includes("manifest.json"));
    });
  });

  it("keeps a package on which a hold is set at the moment at which it is deleted", async () => {
    await withFolder(async (root) => {
      const [path = ""] = await fill(root, ["a"]);
      const names = await readdir(join(root, path));
      const setHold: typeof rename = async (from, to) => {
        await writeFile(join(root, path, "hold"), "");
        await rename(from, to);
      };
      let next = setHold;
      const disk = {
        ...plainDisk,
        rename: async (...given: Parameters<typeof rename>): Promise<void> => {
          const act = next;
          next = rename;
          await act(...given);
        },
      };
      assert.equal(await new FolderVault(root, disk).removePackage(join(root, path), root), false);
      assert.deepEqual((await readdir(join(root, path))).toSorted(), [...names, "hold"].toSorted());
      assert.deepEqual(await findingsIn(root), []);
    });
  });

  it("keeps what is on hold, and what holds anything else", async () => {
    await withFolder(async (root) => {
      const paths = await fill(root, ["a", "b", "c", "d", "e"]);
      const [a = "", b = "", c = "", d = ""] = paths.map((path) => join(root, path));
      await writeFile(join(a, "hold"), "");
      await writeFile(join(b, "HOLD.txt"), "case 12");
      await writeFile(join(c, "letter.pdf"), "");
      await mkdir(join(d, "folder"));
      const done = await runPrune(root);
      assert.deepEqual(
        done.map(({ what }) => what),
        ["held", "held", "kept", "kept", "deleted"],
      );
      assert.match(done[2]?.reason ?? "", /letter\.pdf/);
      assert.equal((await readdir(join(root, "2026-11-02"))).length, 4);
    });
  });

  it("never touches what is no package: folders, files, links, other manifests, its own state", async () => {
    await withFolder(async (folder) => {
      const root = join(folder, "root");
      const outside = join(folder, "outside");
      await Promise.all([mkdir(join(root, "photos"), { recursive: true }), mkdir(outside)]);
      const [path = ""] = await fill(outside, ["a"]);
      await fill(root, ["b"]);
      await symlink(join(outside, path), join(root, "link"));
      await writeFile(join(root, "photos", "manifest.json"), '{"name":"a web app"}');
      await writeFile(join(root, "photos", "1.jpg"), "");
      await writeFile(join(root, "notes.txt"), "");
      assert.equal((await runPrune(root)).length, 1);
      assert.deepEqual((await readdir(root)).sort(), [".dimensioner-archive", "link", "notes.txt", "photos"]);
      assert.equal((await readdir(join(outside, path))).length, 4);
    });
  });

  it("lets the same job be archived anew", async () => {
    await withFolder(async (root) => {
      const [path = ""] = await fill(root, ["a"]);
      await runPrune(root);
      const [again] = await fill(root, ["a"]);
      assert.equal(again, path);
      assert.deepEqual(await findingsIn(root), []);
    });
  });

  describe("with a database", () => {
    it("removes the rows of deleted packages, also of earlier runs, while Node-RED has the database open", async () => {
      await withFolder(async (folder) => {
        const root = join(folder, "packages");
        await mkdir(root);
        const store = storeIn(root);
        const connection = await store.connect();
        const [path = ""] = await fill(root, ["a", "b", "c"], () => ({}), { store });
        await cp(join(root, path), join(folder, "backup"), { recursive: true });
        const earlier = await prune(join(root, path), { database: databaseOf(root) });
        assert.deepEqual([earlier.report.deleted, listed(root)], [1, ["b", "c"]]);
        await writeFile(join(root, "2026-11-02", "ORDER-1-c", "hold"), "");
        const { report } = await prune(root);
        assert.deepEqual([report.deleted, report.held], [1, 1]);
        assert.deepEqual(listed(root), ["c"]);
        await connection.release();
        assert.deepEqual((await verify(root)).said, []);
        // Brought back from a backup, which the index does not know.
        await rename(join(folder, "backup"), join(root, path));
        const { said, report: whole } = await verify(root);
        assert.deepEqual([said, whole.notes.map(({ kind }) => kind)], [[], ["kept-here"]]);
      });
    });

    it("deletes nothing while the database is damaged or locked", async () => {
      await withFolder(async (root) => {
        await fill(root, ["a", "b"]);
        const file = databaseOf(root);
        const whole = await readFile(file);
        const noise = Buffer.from(whole).fill("noise", 20_000, 60_000);
        await writeFile(file, noise);
        await rejectsWith(prune(root), "ERR_STORE", "storeDamaged");
        assert.ok((await readFile(file)).equals(noise));
        await writeFile(file, whole);

        const other = new DatabaseSync(file);
        other.exec("BEGIN IMMEDIATE");
        const script = await bundleVerb("prune");
        const args = [root, "--older-than", "1h", "--database", file];
        const locked = await runChild(script, args);
        other.exec("ROLLBACK");
        other.close();
        assert.equal(locked.code, 2);
        assert.match(locked.stderr, /Another program has locked/);
        assert.deepEqual(await findingsIn(root), []);
      });
    });
  });

  it("can be ended between two packages", async () => {
    await withFolder(async (root) => {
      await fill(root, ["a", "b"]);
      const controller = new AbortController();
      const onPackage = (): void => controller.abort();
      await assert.rejects(prune(root, { signal: controller.signal, onPackage }), { code: "ERR_CANCELLED" });
      assert.equal((await readdir(join(root, "2026-11-02"))).length, 1);
      assert.deepEqual(await findingsIn(root), []);
    });
  });

  it("reads ages, with years of the calendar, and none that is nothing", () => {
    const before = (age: string, now = "2036-11-25T12:00:00.000Z") =>
      timeBefore(new Date(now), age)?.toISOString();
    assert.equal(before("90d"), "2036-08-27T12:00:00.000Z");
    assert.equal(before("2w"), "2036-11-11T12:00:00.000Z");
    assert.equal(before(" 36h "), "2036-11-24T00:00:00.000Z");
    assert.equal(before("10y"), "2026-11-25T12:00:00.000Z");
    assert.equal(before("10y", "2028-02-29T12:00:00.000Z"), "2018-02-28T12:00:00.000Z");
    assert.equal(before("8y", "2028-02-29T12:00:00.000Z"), "2020-02-29T12:00:00.000Z");
    for (const text of ["", "0d", "90", "d", "-1d", "1.5d", "90 d", "90D", "1m", "1e3d", "999999y"]) {
      assert.equal(before(text), undefined, text);
    }
  });

  it("does nothing on the command line without an age", async () => {
    const script = await bundleVerb("prune");
    await withFolder(async (root) => {
      await fill(root, ["a"]);
      for (const args of [
        [root],
        [root, "--older-than", "soon"],
        [root, "--older-than", "0d"],
        ["--older-than", "90d"],
      ]) {
        const wrong = await runChild(script, args);
        assert.deepEqual([wrong.code, wrong.stdout], [2, ""], args.join(" "));
      }
      const young = await runChild(script, [root, "--older-than", "90d", "--database", databaseOf(root)]);
      assert.deepEqual(
        [young.code, young.stdout],
        [0, "0 packages deleted (0 bytes); 0 on hold, 0 kept, 0 failed\n"],
      );
      assert.equal((await readdir(join(root, "2026-11-02"))).length, 1);
    });
  });
});
