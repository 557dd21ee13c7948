import assert from "node:assert/strict";
import { cp, mkdir, readFile, readdir, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { PruneArchiveOptions, PruneReport, PrunedPackage } from "../../src/model/archive-reports.ts";
import { timeBefore } from "../../src/rules/periods.ts";
import { plainDisk } from "../../src/vault/archive-disk.ts";
import { pruneArchive } from "../../src/vault/commands.ts";
import { decodeLine } from "../../src/vault/files/checked-lines.ts";
import { FolderFiles } from "../../src/vault/files/folder-files.ts";
import { withFolder } from "../media/support.ts";
import { rowsIn } from "../support/rows.ts";
import { fillArchive as fill, verify } from "./packages.ts";
import { bundleVerb, runChild } from "./processes.ts";
import { databaseOf, storeIn } from "./store.ts";

interface Ran {
  readonly packages: readonly PrunedPackage[];
  readonly report: PruneReport;
}

async function prune(folder: string, options: Partial<PruneArchiveOptions> = {}): Promise<Ran> {
  const packages: PrunedPackage[] = [];
  const before = new Date(Date.now() + 1_000);
  const report = await pruneArchive(folder, { before, onPackage: (one) => packages.push(one), ...options });
  return { packages: packages.sort((a, b) => a.path.localeCompare(b.path)), report };
}

async function runPrune(
  folder: string,
  options: Partial<PruneArchiveOptions> = {},
): Promise<readonly PrunedPackage[]> {
  return (await prune(folder, options)).packages;
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
      const log = await readFile(join(root, ".dimensioner-archive/pruned.jsonl"), "utf8");
      const entries = log.trim().split("\n").map(decodeLine) as { path: string; transactionId: string }[];
      assert.deepEqual(entries.map(({ path }) => path).sort(), paths);
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

  it("leaves a folder that is no archive without a trace", async () => {
    await withFolder(async (root) => {
      await mkdir(join(root, "letters"));
      assert.deepEqual(await runPrune(root), []);
      assert.deepEqual(await readdir(root), ["letters"]);
    });
  });

  it("touches no package of an archive within, and says so", async () => {
    await withFolder(async (root) => {
      await fill(root, ["a"]);
      await mkdir(join(root, "inner"));
      await fill(join(root, "inner"), ["b", "c"]);
      const kept = (await runPrune(root)).filter(({ what }) => what !== "deleted");
      assert.deepEqual(
        kept.map(({ what, path }) => [what, path]),
        [["kept", "inner"]],
      );
      assert.deepEqual(await findingsIn(join(root, "inner")), []);
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
      assert.equal(await new FolderFiles(root, disk).removePackage(join(root, path), root), false);
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
      await symlink(join(outside, path), join(root, "link"));
      await writeFile(join(root, "photos", "manifest.json"), '{"name":"a web app"}');
      await writeFile(join(root, "photos", "1.jpg"), "");
      await writeFile(join(root, "notes.txt"), "");
      assert.deepEqual(await runPrune(root), []);
      assert.deepEqual((await readdir(root)).sort(), ["link", "notes.txt", "photos"]);
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
        const lease = await store.lease();
        const [path = ""] = await fill(root, ["a", "b", "c"], () => ({}), { store });
        await cp(join(root, path), join(folder, "backup"), { recursive: true });
        const earlier = await prune(join(root, path));
        assert.deepEqual([earlier.report.deleted, earlier.report.rowsRemoved], [1, null]);
        assert.deepEqual(listed(root), ["a", "b", "c"]);
        await writeFile(join(root, "2026-11-02", "ORDER-1-c", "hold"), "");
        const { report } = await prune(root, { database: databaseOf(root) });
        assert.deepEqual([report.deleted, report.held, report.rowsRemoved, report.rowsKept], [1, 1, 2, null]);
        assert.deepEqual(listed(root), ["c"]);
        await lease.release();
        assert.deepEqual((await verify(root)).said, []);
        // Brought back from a backup, which the index does not know.
        await rename(join(folder, "backup"), join(root, path));
        assert.deepEqual((await verify(root)).said, [`unlisted ${path}`]);
      });
    });

    it("leaves the rows of packages that were brought back", async () => {
      await withFolder(async (folder) => {
        const root = join(folder, "packages");
        await mkdir(root);
        const [path = ""] = await fill(root, ["a"]);
        await cp(join(root, path), join(folder, "backup"), { recursive: true });
        await prune(root);
        await mkdir(join(root, "2026-11-02"));
        await rename(join(folder, "backup"), join(root, path));
        const { report } = await prune(root, { before: new Date(0), database: databaseOf(root) });
        assert.equal(report.rowsRemoved, 0);
        assert.deepEqual(listed(root), ["a"]);
      });
    });

    it("deletes packages, says why rows stay, and changes nothing in a database that is damaged or locked", async () => {
      await withFolder(async (root) => {
        await fill(root, ["a", "b"]);
        const file = databaseOf(root);
        const whole = await readFile(file);
        const noise = Buffer.from(whole).fill("noise", 20_000, 60_000);
        await writeFile(file, noise);
        const damaged = await prune(join(root, "2026-11-02", "ORDER-1-a"), { database: file });
        assert.deepEqual([damaged.report.deleted, damaged.report.rowsRemoved], [1, null]);
        assert.match(damaged.report.rowsKept ?? "", /is damaged/);
        assert.ok((await readFile(file)).equals(noise));
        await writeFile(file, whole);

        const other = new DatabaseSync(file);
        other.exec("BEGIN IMMEDIATE");
        const script = await bundleVerb("prune");
        const args = [root, "--older-than", "1h", "--database", file];
        const locked = await runChild(script, args);
        other.exec("ROLLBACK");
        other.close();
        assert.equal(locked.code, 1);
        assert.match(
          locked.stdout,
          /\nrows stay in the index until the next run: Another program has locked/,
        );
        const later = await runChild(script, [...args, "--json"]);
        assert.equal(later.code, 0, later.stderr);
        const total = JSON.parse(later.stdout) as Record<string, unknown>;
        assert.deepEqual([total["verb"], total["deleted"], total["rowsRemoved"]], ["prune", 0, 1]);
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
      const young = await runChild(script, [root, "--older-than", "90d"]);
      assert.deepEqual(
        [young.code, young.stdout],
        [0, "0 packages deleted (0 byte); 0 on hold, 0 kept, 0 failed\n"],
      );
      assert.equal((await readdir(join(root, "2026-11-02"))).length, 1);
    });
  });
});
