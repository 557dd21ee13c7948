import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { printableJson, sayProgress } from "../../src/cli/command-line.ts";
import { withFolder } from "../media/support.ts";
import { fillArchive } from "../archive/packages.ts";
import { bundleVerb, runChild, type Script } from "../archive/processes.ts";
import { databaseOf } from "../archive/store.ts";

/** Moves a terminal's cursor, reverses the direction of the text that follows, and ends a line. */
const hostile = "a\u001B[2Jb\u009Bc\u202Ed\u007Fe\nf";
const unsafe = /[^\P{C}\n]/u;

describe("archive: the command lines", () => {
  const scripts: Record<string, Script> = {};

  before(async () => {
    for (const name of ["verify", "prune", "rebuild", "export"]) {
      scripts[name] = await bundleVerb(name);
    }
  });

  it("print names that hold control characters so that no terminal obeys them", async () => {
    await withFolder(async (root) => {
      await fillArchive(root, ["m0"], () => ({ folder: ["day"] }));
      await mkdir(join(root, hostile));
      await writeFile(join(root, hostile, "manifest.json"), "{}");
      await writeFile(join(root, "day", hostile), "");
      const database = databaseOf(root);
      for (const [name, ...args] of [
        ["verify", root, "--database", database],
        ["prune", root, "--older-than", "1h", "--database", database],
        ["rebuild", root, "--database", database],
        ["export", root, "--database", database, "--value", hostile, "--to", join(root, "..")],
        ["export", root, "--database", database, "--by", "all", "--to", `${root}${hostile}`],
        ["verify", `${root}${hostile}`],
        ["prune", root, "--older-than", hostile],
        ["rebuild", root, "--database", `${root}/${hostile}/x`],
      ] as const) {
        for (const json of [[], ["--json"]]) {
          const { stdout, stderr } = await runChild(scripts[name] ?? "", [...args, ...json]);
          assert.doesNotMatch(stdout + stderr, unsafe, name);
          assert.notEqual(stdout + stderr, "");
          if (stdout !== "" && json.length > 0) {
            JSON.parse(stdout);
          }
        }
      }
    });
    assert.equal(JSON.parse(printableJson({ [hostile]: hostile }))[hostile], hostile);
  });

  it("export packages, and say with their exit code whether they are as they were archived", () =>
    withFolder((to) =>
      withFolder(async (root) => {
        const [path = ""] = await fillArchive(root, ["m0"]);
        const place = [root, "--database", databaseOf(root)];
        const run = (...args: string[]) => runChild(scripts["export"] ?? "", [...place, ...args]);
        const whole = await run("--value", "ORDER-1", "--to", to);
        assert.equal(whole.code, 0, whole.stderr);
        assert.match(whole.stdout, /evidence-ORDER-1\.zip: 1 package, [\d.]+ kB: sha256 [0-9a-f]{64}\n$/);
        await writeFile(join(root, path, "added"), "");
        const json = await run("--value", "ORDER-1", "--to", to, "--language", "de", "--json");
        const { path: zip, findings } = JSON.parse(json.stdout);
        assert.deepEqual(
          [json.code, zip, findings[0].kind],
          [1, join(to, "evidence-ORDER-1 (1).zip"), "stray"],
        );
        for (const args of [
          ["--value", "ORDER-2", "--to", to],
          ["--value", "ORDER-1"],
          ["--value", "ORDER-1", "--to", join(root, path)],
          ["--value", "ORDER-1", "--to", to, "--language", "tlh"],
          ["--value", "ORDER-1", "--to", to, "--by", "name"],
          ["--value", "ORDER-1", "--to", to, "--limit", "0"],
        ]) {
          const { code, stderr } = await run(...args);
          assert.equal(code, 2, args.join(" "));
          assert.match(stderr, /^dimensioner export: \S/);
        }
        assert.deepEqual((await readdir(to)).length, 2);
      }),
    ));

  it("show no progress in a pipe", async () => {
    await withFolder(async (root) => {
      await fillArchive(root, ["m0"]);
      for (const name of ["verify", "prune", "rebuild"]) {
        const age = name === "prune" ? ["--older-than", "1h"] : [];
        const { code, stderr } = await runChild(scripts[name] ?? "", [
          root,
          "--database",
          databaseOf(root),
          ...age,
        ]);
        assert.deepEqual([code, stderr], [0, ""], name);
      }
    });
  });

  it("end with Ctrl+C while a disk does not respond", async function () {
    if (process.platform === "win32") {
      // There is no pipe that a thread waits for.
      this.skip();
    }
    await withFolder(async (root) => {
      const pipe = join(root, "pipe");
      await promisify(execFile)("mkfifo", [pipe]);
      // One of the threads for files waits until somebody writes to it, as for a share whose server is gone.
      const hang = `data:text/javascript,import{open}from"node:fs";open(${encodeURIComponent(JSON.stringify(pipe))},"r",()=>{})`;
      const child = spawn(process.execPath, ["--import", hang, ...[scripts["verify"] ?? ""].flat(), pipe], {
        stdio: ["ignore", "ignore", "pipe"],
      });
      await once(child.stderr, "readable");
      child.kill("SIGINT");
      // A shell shows it as 130.
      assert.deepEqual(await once(child, "exit"), [null, "SIGINT"]);
    });
  });

  it("end with Ctrl+C and the code 130, also while nobody reads what they print", async () => {
    await withFolder(async (root) => {
      await mkdir(join(root, ".dimensioner-archive"));
      const name = "x".repeat(200);
      await Promise.all(Array.from({ length: 1_000 }, (_, at) => writeFile(join(root, `${name}${at}`), "")));
      const child = spawn(process.execPath, [...[scripts["verify"] ?? ""].flat(), root], {
        stdio: ["ignore", "pipe", "pipe"],
      });
      let said = "";
      child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
      // It has begun to print, more than a pipe holds.
      await once(child.stdout, "readable");
      child.kill("SIGINT");
      const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
      // A shell shows both as 130.
      assert.ok(code === 130 || signal === "SIGINT", `${code} ${signal}`);
      child.stdout.destroy();
      assert.ok(!said.includes("Error"));
    });
  });

  it("say how much is done, how fast, and how long it takes", () => {
    const progress = {
      packages: 1_500,
      bytes: 3_000_000_000,
      expectedPackages: 3_000,
      expectedBytes: 6_000_000_000,
    };
    assert.equal(
      sayProgress(progress, 10_000),
      "[############............] 1,500 packages, 3.0 GB, 300 MB/s, 10 s left",
    );
    assert.match(sayProgress(progress, 3_600_000), / 60 min left$/);
    assert.match(sayProgress(progress, 36_000_000), / 10\.0 h left$/);
    const unknown = { ...progress, expectedPackages: null, expectedBytes: null };
    assert.equal(sayProgress(unknown, 10_000), "1,500 packages, 3.0 GB, 300 MB/s");
    const byCount = { ...progress, bytes: 0, expectedBytes: 0 };
    assert.match(
      sayProgress(byCount, 10_000),
      /^\[#{12}\.{12}\] 1,500 packages, 0 bytes, 0 bytes\/s, 10 s left$/,
    );
    assert.match(
      sayProgress({ ...progress, bytes: 0, packages: 0 }, 0),
      /^\[\.{24}\] 0 packages, 0 bytes, 0 bytes\/s$/,
    );
  });
});
