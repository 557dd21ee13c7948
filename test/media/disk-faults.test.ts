import assert from "node:assert/strict";
import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { type FileHandle, chmod, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { DimensionerError } from "../../src/errors/dimensioner-error.ts";
import type { SentenceKey } from "../../src/errors/sentences.ts";
import type { IfExists } from "../../src/media/place-file.ts";
import { saveToFile } from "../../src/media/save-to-file.ts";
import { type PointCounter, failAtEach } from "../sweep/fault-points.ts";
import {
  blocks,
  facts,
  listAll,
  rejectsWith,
  sending,
  systemError,
  watchedDisk,
  withFolder,
} from "./support.ts";

const megabyte = 1024 * 1024;
const child = join(import.meta.dirname, "save-child.ts");

/** Mounts that only the process sees and that end with it; root or not, where the kernel allows it. */
const unshare = ["-m", "-r"];
const canMount = spawnSync("unshare", [...unshare, "mount", "-t", "tmpfs", "none", "/mnt"]).status === 0;

/** Runs the child behind a mount made by `prepare`, a shell line that finds the folder in $1. */
async function saveBehind(prepare: string, folder: string, bytes: number): Promise<Record<string, unknown>> {
  const task = JSON.stringify({ folder, filename: "video.mp4", ifExists: "rename", bytes });
  const line = `${prepare} || exit 9; shift; "$@"; ls -A "$0"`;
  const command = [process.execPath, ...process.execArgv, child, task];
  const { stdout } = await promisify(execFile)("unshare", [
    ...unshare,
    "sh",
    "-c",
    line,
    folder,
    folder,
    ...command,
  ]);
  const [result = "", ...left] = stdout.trim().split("\n");
  const answer: unknown = JSON.parse(result);
  assert.ok(typeof answer === "object" && answer !== null);
  return { ...answer, left };
}

describe("real faults of a disk", () => {
  before(function () {
    if (process.platform !== "linux") {
      this.skip();
    }
  });

  it("full in mid-download: says so and leaves nothing", async function () {
    if (!canMount) {
      this.skip();
    } // The kernel allows no mounts here; the injected ENOSPC below still runs.
    await withFolder(async (folder) => {
      const result = await saveBehind(`mount -t tmpfs -o size=3m none "$1"`, folder, 16 * megabyte);
      assert.deepEqual([result["code"], result["sentence"], result["left"]], ["ERR_FILE", "fileFull", []]);
      assert.match(String(result["message"]), /full.*video\.mp4/);
    });
  });

  it("full in the last few bytes: says so and leaves nothing", async function () {
    if (!canMount) {
      this.skip();
    } // As above.
    await withFolder(async (folder) => {
      const result = await saveBehind(`mount -t tmpfs -o size=1m none "$1"`, folder, megabyte + 10);
      assert.deepEqual([result["sentence"], result["left"]], ["fileFull", []]);
    });
  });

  it("just large enough: the file is there", async function () {
    if (!canMount) {
      this.skip();
    } // As above.
    await withFolder(async (folder) => {
      const result = await saveBehind(`mount -t tmpfs -o size=1m none "$1"`, folder, megabyte);
      assert.deepEqual([result["bytes"], result["left"]], [megabyte, ["video.mp4"]]);
    });
  });

  it("read-only: says that it may not be written", async function () {
    if (!canMount) {
      this.skip();
    } // As above.
    await withFolder(async (folder) => {
      const readOnly = `mount --bind "$1" "$1" && mount -o remount,bind,ro "$1"`;
      const result = await saveBehind(readOnly, folder, megabyte);
      assert.deepEqual([result["code"], result["sentence"], result["left"]], ["ERR_FILE", "fileDenied", []]);
    });
  });

  it("no permission: says that it may not be written", async function () {
    const isRoot = process.getuid?.() === 0;
    await withFolder(async (folder) => {
      await chmod(folder, 0o555);
      // Root may write everywhere, so nobody tries.
      const user = isRoot ? { uid: 65_534, gid: 65_534 } : {};
      const task = JSON.stringify({ folder, filename: "video.mp4", ifExists: "rename", bytes: megabyte });
      const { stdout } = spawnSync(process.execPath, [...process.execArgv, child, task], {
        ...user,
        encoding: "utf8",
      });
      if (isRoot && stdout === "") {
        this.skip();
      } // This checkout can't be read by anybody but root.
      assert.match(stdout, /"code":"ERR_FILE","sentence":"fileDenied"/);
      assert.deepEqual(await listAll(folder), []);
    });
  });

  it("the folder is taken away in mid-download", async () => {
    await withFolder(async (folder) => {
      const disk = watchedDisk((call) => {
        if (call === "link") {
          throw systemError("ENOENT");
        }
      });
      const error = await rejectsWith(save(folder, "error", { disk }), "ERR_FILE", "fileNoFolder");
      assert.equal(error.details.hint, folder);
    });
  });
});

describe("a process that is killed in mid-download", () => {
  it("leaves no final name, only a part, and the next one saves the whole", async () => {
    await withFolder(async (folder) => {
      const task = { folder, filename: "video.mp4", ifExists: "error", bytes: 0, stallAfter: 20 * megabyte };
      const running = spawn(process.execPath, [...process.execArgv, child, JSON.stringify(task)], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const ended = once(running, "exit");
      await once(running.stdout, "data");
      // What was buffered when it stalled is still on its way.
      const [part = ""] = await listAll(folder);
      while ((await stat(join(folder, part))).size < 10 * megabyte) {
        await delay(5);
      }
      running.kill("SIGKILL");
      assert.deepEqual(await ended, [null, "SIGKILL"]);
      assert.match(part, /^\.dimensioner-[0-9a-f-]{36}\.part$/);
      assert.deepEqual(await listAll(folder), [part]);
      const saved = await save(folder, "error");
      assert.deepEqual(await listAll(folder), [part, "video.mp4"]);
      assert.equal((await stat(saved.path)).size, saved.bytes);
    });
  });
});

const bodyBytes = 70_003;

function save(
  folder: string,
  ifExists: IfExists,
  more: Partial<Parameters<typeof saveToFile>[2]> = {},
  filename = "video.mp4",
): ReturnType<typeof saveToFile> {
  return saveToFile(
    sending(blocks(bodyBytes)),
    { folder, filename, suggestedBase: "x", ifExists },
    { ...facts, ...more },
  );
}

describe("the error of each fault of the disk", () => {
  const names: [code: string, sentence: SentenceKey, retryable: boolean][] = [
    ["ENOSPC", "fileFull", true],
    ["EDQUOT", "fileFull", true],
    ["EACCES", "fileDenied", false],
    ["EPERM", "fileDenied", false],
    ["EROFS", "fileDenied", false],
    ["ENOENT", "fileNoFolder", true],
    ["ENOTDIR", "fileNotFolder", false],
    ["EIO", "fileOther", true],
    ["EFBIG", "fileOther", true],
  ];
  for (const step of ["open", "file.writev", "file.sync"]) {
    for (const [code, sentence, retryable] of names) {
      it(`${code} at ${step}: ${sentence}, and nothing is left`, async () => {
        await withFolder(async (folder) => {
          let failed = false;
          const disk = watchedDisk((call, [path]) => {
            if (call !== step || (step === "open" && !String(path).endsWith(".part"))) {
              return;
            }
            failed = true;
            throw systemError(code);
          });
          const error = await rejectsWith(save(folder, "rename", { disk }), "ERR_FILE", sentence);
          assert.ok(failed);
          assert.deepEqual(
            [error.details.surface, error.details.outcome, error.details.retryable],
            ["disk", null, retryable],
          );
          assert.ok(error.details.hint.startsWith(folder) && error.message.includes(folder), error.message);
          assert.deepEqual(await listAll(folder), []);
        });
      });
    }
  }

  it("a fault of the disk wins over the transport's own error", async () => {
    await withFolder(async (folder) => {
      const disk = watchedDisk((call) => {
        if (call === "file.writev") {
          throw systemError("ENOSPC");
        }
      });
      const endless = (function* () {
        for (;;) {
          yield Buffer.alloc(65_536);
        }
      })();
      const work = saveToFile(
        sending(endless),
        { folder, suggestedBase: "x", ifExists: "error" },
        { ...facts, disk },
      );
      await rejectsWith(work, "ERR_FILE", "fileFull");
      assert.deepEqual(await listAll(folder), []);
    });
  });
});

/**
 * For each k the k-th call to the disk fails. What must hold every time: one end; what stands under its final name is
 * whole; what stood there before is untouched unless it was to be replaced; an ERR_FILE or the file.
 */
describe("the sweep over every call to the disk", () => {
  const whole = Buffer.concat([...blocks(bodyBytes)]);
  for (const links of [true, false]) {
    for (const ifExists of ["rename", "replace", "error"] as const) {
      for (const before of ["nothing", "other", "same"] as const) {
        for (const code of ["EIO", "ENOSPC"]) {
          const name = `${links ? "links" : "no links"}, ${ifExists}, ${before} there before, ${code}`;
          it(name, async () => {
            const calls = await failAtEach((points) =>
              saveWithFailingCall(points, code, links, ifExists, before),
            );
            assert.ok(calls > 10, `${calls} calls`);
          });
        }
      }
    }
  }

  async function saveWithFailingCall(
    points: PointCounter,
    code: string,
    links: boolean,
    ifExists: IfExists,
    before: "nothing" | "other" | "same",
  ): Promise<void> {
    const opened: FileHandle[] = [];
    const watched = watchedDisk((call) => {
      if (points.pass(call)) {
        throw systemError(code);
      }
      if (call === "link" && !links) {
        throw systemError("EPERM");
      }
    });
    const disk = {
      ...watched,
      open: async (...args: Parameters<typeof watched.open>) => {
        const file = await watched.open(...args);
        opened.push(file);
        return file;
      },
    };
    await withFolder(async (folder) => {
      const path = join(folder, "deep", "video.mp4");
      const old = before === "same" ? whole : Buffer.from("old");
      if (before !== "nothing") {
        await mkdir(join(folder, "deep"));
        await writeFile(path, old);
      }
      const result = await save(folder, ifExists, { disk }, "deep/video.mp4").catch(
        (error: unknown) => error,
      );
      const where = `call ${points.at}, ${points.reached}: ${String(result)}`;
      assert.ok(
        opened.every(({ fd }) => fd === -1),
        `${where}: a file is still open`,
      );
      const files = (await listAll(folder)).filter((file) => file !== "deep");
      for (const file of files.filter((found) => found.endsWith(".mp4"))) {
        const content = await readFile(join(folder, file));
        const untouched = before !== "nothing" && file === "deep/video.mp4" && content.equals(old);
        assert.ok(untouched || content.equals(whole), where);
        if (before === "other" && ifExists !== "replace" && file === "deep/video.mp4") {
          assert.ok(untouched, where);
        }
      }
      // A hidden name can stay only where it was its removal that failed.
      const hidden = files.filter((file) => file.includes("/.dimensioner-"));
      assert.ok(hidden.length === 0 || points.reached === "unlink", `${where} ${hidden.join()}`);
      if (before !== "nothing") {
        assert.ok(files.includes("deep/video.mp4"), where);
      }
      if (result instanceof Error) {
        assert.ok(result instanceof DimensionerError && result.code === "ERR_FILE", where);
      }
    });
  }
});
