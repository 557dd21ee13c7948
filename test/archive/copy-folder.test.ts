import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { appendFile, mkdir, readFile, readdir, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { holdPackages, releasePackages } from "../../src/index.ts";
import type { CopyReport, NotCopied } from "../../src/model/archive-reports.ts";
import { copyArchive, rebuildIndex } from "../../src/vault/upkeep/upkeep.ts";
import { entryOf } from "../../src/vault/log/events.ts";
import { withFolder } from "../media/support.ts";
import { WallClock } from "../model-based/wall-clock.ts";
import { readLogged } from "./logged.ts";
import { copiesOfArchive, fillArchive, verify } from "./packages.ts";
import { bundleVerb, runChild } from "./processes.ts";

async function copy(root: string, to: string): Promise<{ report: CopyReport; notCopied: NotCopied[] }> {
  const notCopied: NotCopied[] = [];
  const report = await copyArchive(root, to, { onNotCopied: (one) => notCopied.push(one) });
  return { report, notCopied };
}

describe("archive: copying to another folder", () => {
  const archive = copiesOfArchive(["m0", "m1", "m2"]);

  /** `to` does not exist yet. */
  const withCopy = (body: (given: { root: string; file: string; to: string }) => Promise<void>) =>
    archive.withArchive((root, file) =>
      withFolder((disk) => body({ root, file, to: join(disk, "parcels") })),
    );

  it("makes a copy that can be verified, also with the database, and copies what is new", () =>
    withCopy(async ({ root, file, to }) => {
      const first = await copy(root, to);
      assert.deepEqual([first.report.copied, first.report.alreadyThere, first.notCopied], [3, 0, []]);
      const { report, findings } = await verify(to, [file]);
      assert.deepEqual([report.packages, report.expected, findings], [3, 3, []]);
      assert.deepEqual(await readLogged(to), await readLogged(root));
      const again = await copy(root, to);
      assert.deepEqual([again.report.copied, again.report.alreadyThere, again.report.bytes], [0, 3, 0]);
      await fillArchive(root, ["m3"]);
      const more = await copy(root, to);
      assert.deepEqual([more.report.copied, more.report.alreadyThere], [1, 3]);
      assert.deepEqual((await verify(to, [file])).findings, []);
      assert.deepEqual((await readdir(join(to, ".dimensioner-archive"))).toSorted(), ["copying", "log"]);
      assert.deepEqual(await readdir(join(to, ".dimensioner-archive", "copying")), []);
      const database = join(to, "..", "index.sqlite");
      assert.equal((await rebuildIndex(to, { database })).packages, 4);
    }));

  it("copies again what is missing there or has another length, and replaces no other package", () =>
    withCopy(async ({ root, to }) => {
      await copy(root, to);
      const [first = "", second = "", third = ""] = archive.paths;
      const pictures = (await readdir(join(to, first))).filter((name) => name.endsWith(".jpg"));
      await rm(join(to, first, pictures[0] ?? ""));
      await appendFile(join(to, first, pictures[1] ?? ""), "!");
      await rm(join(to, second), { recursive: true });
      await writeFile(join(to, third, "manifest.json"), "{}");
      const { report, notCopied } = await copy(root, to);
      assert.deepEqual([report.copied, report.failed], [2, 1]);
      assert.deepEqual(notCopied, [
        { path: third, problem: "another package has the same name in the copy: it was not replaced" },
      ]);
      assert.deepEqual(
        (await verify(to, null)).findings.map(({ path }) => path.startsWith(third)),
        [true],
      );
      await rm(join(to, third), { recursive: true });
      await mkdir(join(to, third));
      await writeFile(join(to, third, "notes.txt"), "somebody's notes");
      assert.equal((await copy(root, to)).report.failed, 1);
      assert.equal(await readFile(join(to, third, "notes.txt"), "utf8"), "somebody's notes");
    }));

  it("gives a package back a manifest that is missing there, unless something else is there", () =>
    withCopy(async ({ root, file, to }) => {
      await copy(root, to);
      const [first = "", second = "", third = ""] = archive.paths;
      for (const path of archive.paths) {
        await rm(join(to, path, "manifest.json"));
      }
      const [picture = ""] = (await readdir(join(to, first))).filter((name) => name.endsWith(".jpg"));
      await rm(join(to, first, picture));
      await writeFile(join(to, first, "hold"), "claim 7");
      await writeFile(join(to, second, "measurement.raw"), "somebody's");
      await writeFile(join(to, third, "notes.txt"), "somebody's notes");
      const { report, notCopied } = await copy(root, to);
      assert.deepEqual([report.copied, report.failed], [1, 2]);
      assert.deepEqual(notCopied.map(({ path }) => path).toSorted(), [second, third].toSorted());
      await rm(join(to, second), { recursive: true });
      await rm(join(to, third), { recursive: true });
      assert.equal((await copy(root, to)).report.copied, 2);
      assert.deepEqual((await verify(to, [file])).findings, []);
    }));

  it("does not copy a package with a damaged file, and has nothing of it", () =>
    withCopy(async ({ root, to }) => {
      const [path = ""] = archive.paths;
      const [picture = ""] = (await readdir(join(root, path))).filter((name) => name.endsWith(".jpg"));
      const content = await readFile(join(root, path, picture));
      await writeFile(join(root, path, picture), content.fill("x"));
      const { report, notCopied } = await copy(root, to);
      assert.deepEqual(
        [report.copied, notCopied],
        [2, [{ path, problem: `${picture} is not as it was archived` }]],
      );
      await assert.rejects(stat(join(to, path)), { code: "ENOENT" });
      assert.deepEqual(await readdir(join(to, ".dimensioner-archive", "copying")), []);
    }));

  it("removes what was interrupted more than a day ago, and nothing that another run may be copying", () =>
    withCopy(async ({ root, to }) => {
      const copying = join(to, ".dimensioner-archive", "copying");
      for (const [name, hours] of [
        ["old", 25],
        ["new", 23],
      ] as const) {
        await mkdir(join(copying, name), { recursive: true });
        await writeFile(join(copying, name, "video.mp4"), "half");
        const at = new Date(Date.now() - hours * 3_600_000);
        await utimes(join(copying, name), at, at);
      }
      const { report } = await copy(root, to);
      assert.deepEqual([report.copied, report.endedUploads], [3, 1]);
      assert.deepEqual(await readdir(copying), ["new"]);
    }));

  it("removes nothing that another run is copying, with a clock that is years ahead", () =>
    withCopy(async ({ root, to }) => {
      const copying = join(to, ".dimensioner-archive", "copying");
      await mkdir(join(copying, "new"), { recursive: true });
      const clock = new WallClock();
      try {
        clock.jump(5 * 365 * 86_400_000);
        const { report } = await copy(root, to);
        assert.deepEqual([report.endedUploads, await readdir(copying)], [0, ["new"]]);
      } finally {
        clock.close();
      }
    }));

  it("copies holds and time stamps as they come, and removes the file of a hold that was released", () =>
    withCopy(async ({ root, file, to }) => {
      const [path = ""] = archive.paths;
      const which = { database: file, by: "transactionId", value: "m0", reason: "claim" } as const;
      await holdPackages(root, which);
      const stamp = join(root, ".dimensioner-archive", "timestamps", "t1");
      await mkdir(stamp, { recursive: true });
      await writeFile(join(stamp, "response.tsr"), "signed");
      await copy(root, to);
      const copied = join(to, ".dimensioner-archive", "timestamps", "t1", "response.tsr");
      assert.equal(await readFile(copied, "utf8"), "signed");
      assert.ok((await readdir(join(to, path))).includes("hold.json"));
      assert.equal((await copy(root, to)).report.bytes, 0);
      await releasePackages(root, which);
      await copy(root, to);
      assert.ok(!(await readdir(join(to, path))).includes("hold.json"));
      assert.deepEqual(await readLogged(to), await readLogged(root));
    }));

  it("is in the log of the store where the database is given, once for what is new", () =>
    withCopy(async ({ root, file, to }) => {
      const copied = async () => (await readLogged(root)).filter(({ what }) => what === "copied");
      const lines = (await readLogged(root)).length;
      await copyArchive(root, to, { database: file });
      const [event, ...others] = await copied();
      assert.ok(event?.what === "copied" && others.length === 0);
      assert.deepEqual([event.to, event.size], [to, lines]);
      await copyArchive(root, to, { database: file });
      assert.equal((await copied()).length, 1);
      assert.deepEqual(await readLogged(to), await readLogged(root));
      const [added = ""] = await fillArchive(root, ["m3"]);
      await rm(join(root, added, "measurement.json"), { force: true });
      const [picture = ""] = (await readdir(join(root, added))).filter((name) => name.endsWith(".jpg"));
      await rm(join(root, added, picture));
      assert.equal((await copyArchive(root, to, { database: file })).failed, 1);
      assert.equal((await copied()).length, 1, "not all of it is in the copy");
      assert.deepEqual(
        (await verify(to, [file])).said.filter((one) => !one.includes(added)),
        [],
      );
    }));

  it("says that another log of the same store is there, and does not change it", () =>
    withCopy(async ({ root, to }) => {
      await copy(root, to);
      const logs = join(to, ".dimensioner-archive", "log");
      const [store = ""] = await readdir(logs);
      const log = join(logs, store, "copy.log");
      const changed = (await readFile(log, "utf8")).replace(
        /"archived":"\d{4}(?=[^\n]*\n$)/,
        '"archived":"1999',
      );
      await writeFile(log, changed);
      const { report, notCopied } = await copy(root, to);
      assert.match(notCopied[0]?.problem ?? "", /^the copy has another log of this store: its line 4 is not/);
      assert.equal(report.failed, 1);
      assert.equal(await readFile(log, "utf8"), changed);
    }));

  it("has no lines that the database of the archive does not have, and may lack its last ones", () =>
    withCopy(async ({ root, file, to }) => {
      await copy(root, to);
      const known = { database: file, by: "transactionId", value: "m0" } as const;
      await holdPackages(root, { ...known, reason: "claim 7" });
      assert.deepEqual((await verify(to, [file])).findings, []);
      const [one = ""] = await readdir(join(to, ".dimensioner-archive", "log"));
      const log = join(to, ".dimensioner-archive", "log", one, "copy.log");
      const [first] = (await readLogged(to)).filter(({ what }) => what === "archived");
      assert.ok(first?.what === "archived");
      const { at, package: id, path, sha256 } = first;
      const before = new Date().toISOString();
      const event = {
        what: "pruned",
        at: before,
        package: id,
        path,
        sha256,
        transactionId: "m0",
        before,
      } as const;
      const { length } = await readLogged(to);
      await appendFile(log, `${length} ${entryOf({ ...event }).line}\n`);
      await rm(join(to, path), { recursive: true });
      const { findings, report } = await verify(to, [file]);
      assert.equal(report.verdict, "wrong", at);
      assert.deepEqual(
        findings.map(({ kind }) => kind),
        ["log"],
      );
      assert.match(
        findings[0]?.problem ?? "",
        new RegExp(`^the line ${length} is not the one in the database`),
      );
    }));

  it("says which line of the log is missing or is there twice, and does not copy it", () =>
    withCopy(async ({ root, to }) => {
      const logs = join(root, ".dimensioner-archive", "log");
      const [store = ""] = await readdir(logs);
      const [name = ""] = await readdir(join(logs, store));
      const text = await readFile(join(logs, store, name), "utf8");
      const lines = text.trimEnd().split("\n");
      await writeFile(join(logs, store, "0.log"), `${lines[2]?.replace('"at":"2', '"at":"3')}\n`);
      const twice = await copy(root, to);
      assert.deepEqual([twice.report.copied, twice.report.failed], [3, 1]);
      assert.match(twice.notCopied[0]?.problem ?? "", /^the line 2 of the log is there twice/);
      await rm(join(logs, store, "0.log"));
      await writeFile(join(logs, store, name), `${lines.toSpliced(3, 1).join("\n")}\n`);
      const { report, notCopied } = await copy(root, to);
      assert.deepEqual([report.alreadyThere, report.failed], [3, 1]);
      assert.match(notCopied[0]?.problem ?? "", /^the line 3 of the log is missing/);
      assert.equal(
        await readFile(join(to, ".dimensioner-archive", "log", store, "copy.log"), "utf8"),
        `${lines.slice(0, 3).join("\n")}\n`,
      );
      await writeFile(join(logs, store, name), text);
      assert.deepEqual((await copy(root, to)).notCopied, []);
      assert.deepEqual(await readLogged(to), await readLogged(root));
    }));

  it("refuses a folder that is something else, is in the archive, or is not there with the one around it", () =>
    withCopy(async ({ root, to }) => {
      await mkdir(to);
      await writeFile(join(to, "notes.txt"), "");
      const refusals = [
        [to, "copyFolder"],
        [root, "copyFolder"],
        [join(root, "copy"), "copyFolder"],
        [join(root, ".."), "copyFolder"],
        [join(to, "gone", "parcels"), "fileNoFolder"],
        [join(to, "notes.txt"), "fileNotFolder"],
      ] as const;
      for (const [where, sentence] of refusals) {
        await assert.rejects(copy(root, where), { sentence }, where);
      }
      assert.deepEqual(await readdir(to), ["notes.txt"]);
    }));

  (process.platform === "win32" ? it.skip : it)("follows no link in the archive or in the copy", () =>
    withCopy(async ({ root, to }) => {
      await copy(root, to);
      const stamps = join(root, ".dimensioner-archive", "timestamps");
      await mkdir(join(stamps, "t1"), { recursive: true });
      await symlink("/etc/hostname", join(stamps, "t1", "response.tsr"));
      execFileSync("mkfifo", [join(stamps, "t1", "request.tsq")]);
      assert.equal((await copy(root, to)).report.bytes, 0);
      await symlink(join(root, archive.paths[0] ?? ""), join(stamps, "t2"));
      await assert.rejects(copy(root, to), { code: "ERR_FILE", sentence: "fileOutside" });
      await rm(stamps, { recursive: true });
      const [day = ""] = (archive.paths[0] ?? "").split("/");
      await rm(join(to, day), { recursive: true });
      await mkdir(join(to, "..", "elsewhere"));
      await symlink(join(to, "..", "elsewhere"), join(to, day));
      await assert.rejects(copy(root, to), { code: "ERR_FILE", sentence: "fileOutside" });
      assert.deepEqual(await readdir(join(to, "..", "elsewhere")), []);
    }),
  );

  it("is done by the command line", () =>
    withCopy(async ({ root, to }) => {
      const script = await bundleVerb("copy");
      const { code, stdout, stderr } = await runChild(script, [root, to]);
      assert.deepEqual([code, stderr], [0, ""]);
      const refused = await runChild(script, [root, to, "--retain-days", "7"]);
      assert.deepEqual([refused.code, refused.stdout], [2, ""]);
      assert.match(refused.stderr, /only a bucket can protect copies/);
      assert.match(stdout, /parcels: 3 packages copied, [\d.]+ kB; 0 already there\n$/);
    }));
});
