import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { lookup } from "node:dns/promises";
import { closeSync, constants, mkdirSync, openSync } from "node:fs";
import * as fsPromises from "node:fs/promises";
import { mkdir, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { Archives } from "../../src/jobs/archive.ts";
import { DiskGuard } from "../../src/media/disk-guard.ts";
import { storeIn } from "../archive/store.ts";
import { intentOf, openArchive, pictureOf, readPackages, until } from "../archive/support.ts";
import { rejectsWith, watchedDisk, withFolder } from "../media/support.ts";

const run = promisify(execFile);

/**
 * A pipe that nobody writes to: opening it keeps a thread of Node's pool for as long as the test wants, exactly as a share does
 * that does not answer.
 */
class HangingPipe {
  readonly path: string;
  #opened = 0;
  /** Of a writer, as soon as nothing is to hang any more. */
  #writer: number | undefined;

  private constructor(path: string) {
    this.path = path;
  }

  /** A test that fails leaves no thread hanging in the pipe either: the next ones need them. */
  static async use(folder: string, body: (pipe: HangingPipe) => Promise<void>): Promise<void> {
    const path = join(folder, "pipe");
    await run("mkfifo", [path]);
    const pipe = new HangingPipe(path);
    try {
      await body(pipe);
    } finally {
      await pipe.release();
      pipe.#close();
    }
  }

  /** Hangs until `release`. */
  async hang(): Promise<void> {
    this.#opened += 1;
    const file = await open(this.path, "r");
    this.#opened -= 1;
    await file.close();
  }

  /** Lets every call go that hangs, and every one that comes later. */
  async release(): Promise<void> {
    this.#writer ??= openSync(this.path, constants.O_RDWR | constants.O_NONBLOCK);
    await until(() => this.#opened === 0, "no call hangs");
  }

  #close(): void {
    if (this.#writer !== undefined) {
      closeSync(this.#writer);
    }
  }
}

const rules = { threads: 4, hungAfterMs: 500, syncHungAfterMs: 500 };
/** For a test in which nothing is to be taken for hung: a busy computer can need as long for a healthy folder. */
const patientRules = { ...rules, hungAfterMs: 600_000, syncHungAfterMs: 600_000 };

describe("A8: a disk or share that hangs", () => {
  before(function () {
    if (process.platform === "win32") {
      this.skip();
    }
  });

  /** Two folders, the first of which has hung calls: as many as the guard lets through, and more that wait. */
  async function withHungFolder(
    body: (given: {
      guard: DiskGuard;
      hung: typeof fsPromises;
      healthy: string;
      calls: Promise<unknown>[];
      pipe: HangingPipe;
    }) => Promise<void>,
    guardRules = rules,
  ): Promise<void> {
    await withFolder(async (folder) => {
      const [bad, healthy] = [join(folder, "bad"), join(folder, "healthy")];
      await Promise.all([mkdir(bad), mkdir(healthy)]);
      await HangingPipe.use(folder, async (pipe) => {
        const guard = new DiskGuard(guardRules);
        const slow = watchedDisk(async (call) => {
          if (call === "lstat") {
            await pipe.hang();
          }
        });
        const hung = guard.guard(slow, bad);
        const calls = Array.from({ length: 10 }, () => hung.lstat(bad).then(String, String));
        try {
          await body({ guard, hung, healthy, calls, pipe });
        } finally {
          await pipe.release();
          await Promise.all(calls);
        }
      });
    });
  }

  it("leaves threads for host names, and a place for other folders", async () => {
    await withHungFolder(async ({ guard, healthy }) => {
      await Promise.all(Array.from({ length: 5 }, () => lookup("localhost")));
      const { runner, close } = await openArchive(healthy, undefined, {
        archives: new Archives({ disk: guard.guard(fsPromises, healthy) }),
      });
      const media = [
        { content: pictureOf("1"), contentType: null, contentId: null, description: null, filename: null },
      ];
      const submission = await runner.submitMedia(intentOf("1", { origin: null }), media, null);
      await submission.end();
      submission.messageSent();
      await close();
      assert.equal((await readPackages(healthy)).size, 1);
    }, patientRules);
  });

  it("fails every further call to it at once, and works again when it answers", async () => {
    await withHungFolder(async ({ hung, healthy, calls, pipe }) => {
      assert.match(String(await calls[0]), /ETIMEDOUT/);
      // Before a timer that would let none of them wait for its own time; on a busy computer both come later.
      const late = delay(rules.hungAfterMs - 100, "late");
      const further = [...calls, hung.readdir(healthy).then(String, String)];
      const failed = String(await Promise.race([Promise.all(further), late]));
      assert.match(failed, /^(?:Error: ETIMEDOUT[^,]*, lstat,){10}Error: ETIMEDOUT/);
      await pipe.release();
      await until(
        () =>
          hung.readdir(healthy).then(
            () => true,
            () => false,
          ),
        "it is used again",
      );
    });
  });

  it("closes the files that were opened too late for whoever asked", async () => {
    await withFolder(async (folder) => {
      await HangingPipe.use(folder, async (pipe) => {
        const guard = new DiskGuard({ ...rules, hungAfterMs: 50 });
        const handles: fsPromises.FileHandle[] = [];
        const slow = {
          open: async (path: string): Promise<fsPromises.FileHandle> => {
            const file = await open(path, "r");
            await pipe.hang();
            handles.push(file);
            return file;
          },
        };
        await run("touch", [join(folder, "file")]);
        await assert.rejects(guard.guard(slow, folder).open(join(folder, "file")), { code: "ETIMEDOUT" });
        await pipe.release();
        await until(() => handles.length === 1 && handles[0]?.fd === -1, "the file is closed");
      });
    });
  });

  it("is told at once where the calls that hang leave no thread for any folder", async () => {
    await withFolder(async (folder) => {
      await HangingPipe.use(folder, async (pipe) => {
        const guard = new DiskGuard({ ...rules, hungAfterMs: 50 });
        const calls = ["a", "b"].flatMap((name) => {
          const disk = guard.guard({ hang: () => pipe.hang() }, join(folder, name));
          return [disk.hang().then(String, String), disk.hang().then(String, String)];
        });
        await Promise.all(calls);
        await assert.rejects(guard.guard(fsPromises, folder).readdir(folder), { code: "ETIMEDOUT" });
        await lookup("localhost");
        await pipe.release();
      });
    });
  });

  it("ends an archive job's message in ERR_FILE fileHung, which may be sent again", async () => {
    await withFolder(async (root) => {
      mkdirSync(join(root, ".dimensioner-archive"));
      await HangingPipe.use(root, async (pipe) => {
        const guard = new DiskGuard({ ...rules, hungAfterMs: 100 });
        const disk = watchedDisk(async (call) => {
          if (call === "readdir") {
            await pipe.hang();
          }
        });
        const archives = new Archives({ disk: guard.guard(disk, root) });
        const error = await rejectsWith(archives.open(storeIn(root)), "ERR_FILE", "fileHung");
        assert.equal(error.details.retryable, true);
        await pipe.release();
        assert.ok((await readdir(root)).length > 0);
      });
    });
  });
});
