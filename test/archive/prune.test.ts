import assert from "node:assert/strict";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { decodeLine } from "../../src/archive/packages/checked-lines.ts";
import { prune, readAgeMs, type Pruned } from "../../src/archive/packages/prune.ts";
import { Verification } from "../../src/archive/packages/verify.ts";
import { withFolder } from "../media/support.ts";
import { bundle, runChild } from "./processes.ts";
import { intentOf, openArchive, pictureOf } from "./support.ts";

async function fill(root: string, ids: readonly string[]): Promise<string[]> {
  const { runner, close } = await openArchive(root, undefined);
  const paths: string[] = [];
  for (const id of ids) {
    const media = [
      { content: pictureOf(id), contentType: null, contentId: null, description: null, filename: null },
    ];
    const submission = await runner.submitMedia(intentOf(id, { source: "message" }), media, null);
    paths.push((await submission.end()).path);
    submission.messageSent();
  }
  await close();
  return paths;
}

async function runPrune(
  folder: string,
  options: Partial<Parameters<typeof prune>[1]> = {},
): Promise<Pruned[]> {
  const all: Pruned[] = [];
  const before = new Date(Date.now() + 1_000);
  for await (const one of prune(folder, { before, isDryRun: false, ...options })) {
    all.push(one);
  }
  return all.sort((a, b) => a.path.localeCompare(b.path));
}

async function findingsIn(root: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { kind } of new Verification(root).run()) {
    found.push(kind);
  }
  return found;
}

describe("archive: dimensioner-prune", () => {
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
      const [one] = await runPrune(root, { isDryRun: true });
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
      assert.equal((await readdir(join(outside, path))).length, 2);
    });
  });

  it("lets the same job be archived anew, and compaction forget it", async () => {
    await withFolder(async (root) => {
      const [path = ""] = await fill(root, ["a"]);
      await runPrune(root);
      const [again] = await fill(root, ["a"]);
      assert.equal(again, path);
      assert.deepEqual(await findingsIn(root), []);
    });
  });

  it("reads ages, and none that is nothing", () => {
    assert.equal(readAgeMs("90d"), 90 * 86_400_000);
    assert.equal(readAgeMs("2y"), 730 * 86_400_000);
    assert.equal(readAgeMs(" 36h "), 129_600_000);
    for (const text of ["", "0d", "90", "d", "-1d", "1.5d", "90 d", "90D", "1m", "1e3d"]) {
      assert.equal(readAgeMs(text), undefined, text);
    }
  });

  it("does nothing on the command line without an age", async () => {
    const script = await bundle("src/archive/cli/prune-cli.ts");
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
        [0, "0 packages deleted (0 B); 0 on hold, 0 kept, 0 failed\n"],
      );
      assert.equal((await readdir(join(root, "2026-11-02"))).length, 1);
    });
  });
});
