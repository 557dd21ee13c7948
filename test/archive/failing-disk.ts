import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { type FileHandle, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Database, DatabaseLocation } from "../../src/database/database.ts";
import { isDimensionerError } from "../../src/errors/dimensioner-error.ts";
import { Archives } from "../../src/jobs/archive.ts";
import type { JobRunner, Submission } from "../../src/jobs/runner.ts";
import { DiskGuard } from "../../src/media/disk-guard.ts";
import { stateFolderName } from "../../src/vault/archive-disk.ts";
import { type DiskCall, diskAround, systemError, withFolder } from "../media/support.ts";
import type { PointCounter } from "../sweep/fault-points.ts";
import { DeployedArchive } from "./deployed-archive.ts";
import { MemoryDatabases } from "./memory-databases.ts";
import { cloudOrigin, scheduledCloud } from "./scheduled-sources.ts";
import { Scheduler, callName } from "./scheduler.ts";
import { storeIn } from "./store.ts";
import { assertLogged, readLogged } from "./logged.ts";
import { intentOf, mediumOf, readPackages, workFolders } from "./support.ts";
import { VirtualClock } from "./virtual-clock.ts";

/** How long a call hangs: until after the next start, until the close, or for a minute without a close. */
export const hangs = ["hangs", "hangs until the close", "hangs for a minute"] as const;

/** Error codes of a disk that cannot do something at the moment. */
export const codes = ["EIO", "ENOSPC", "EACCES", "EROFS"] as const;

/** What happens to the chosen call: it hangs, or it fails with an error code of the system. */
export type Effect = (typeof hangs)[number] | `E${string}`;

/** Whether the archive is a new one, or the call to the disk at which the process before it was killed. */
export const beginnings = {
  new: null,
  "killed in the middle of sealing": ({ name, args: [path] }: DiskCall) =>
    name === "open" && String(path).endsWith("package/manifest.json"),
  // The parent folder is synced right after the package has got its name.
  "killed before the package is in the index": ({ name, args: [path] }: DiskCall) =>
    name === "open" && existsSync(join(String(path), "ORDER-1-killed")),
} as const;

export type Beginning = keyof typeof beginnings;

const newIds = ["cloud", "message"];
const killedIds = ["cloud", "killed"];
/** Sent when a disk that has hung for a minute answers. */
const lateId = "late";
const minuteMs = 60_000;
/** The limits of a real process: how many calls may hang, and after how long a call counts as hung. */
const guardRules = { threads: 4, hungAfterMs: 30_000, syncHungAfterMs: 600_000 };
/** Node-RED waits 15 s for a node to close. */
const closeLimitMs = 14_000;

/**
 * Runs an archive from this beginning while the call to its disk that `points` chooses fails or hangs. Throws if
 * anything is lost, left behind or held up. `others` collects the names of the calls during which another store was
 * seen to work normally.
 */
export async function runWithFailingCall(
  beginning: Beginning,
  effect: Effect,
  points: PointCounter,
  others = new Set<string>(),
): Promise<void> {
  const clock = new VirtualClock(Number.POSITIVE_INFINITY);
  const scheduler = new Scheduler(() => 0, clock);
  try {
    await withFolder(async (folder) => {
      const run = new FailingDiskRun(folder, scheduler, clock);
      await Promise.all([mkdir(run.root), mkdir(run.otherRoot)]);
      await scheduler.runUntil(run.run(beginning, effect, points, others));
      await run.check(beginning, effect);
    });
  } catch (error) {
    const where = `call ${points.at}, ${points.reached}, ${effect}, ${beginning}`;
    throw new Error(`${where}: ${String(error)}\n${scheduler.log.join("\n")}`, { cause: error });
  } finally {
    clock.close();
  }
}

class FailingDiskRun {
  readonly root: string;
  readonly otherRoot: string;
  readonly #scheduler: Scheduler;
  readonly #clock: VirtualClock;
  readonly #databases = new MemoryDatabases();
  #guard = new DiskGuard(guardRules);
  readonly #files: FileHandle[] = [];

  constructor(folder: string, scheduler: Scheduler, clock: VirtualClock) {
    this.root = join(folder, "failing");
    this.otherRoot = join(folder, "other");
    this.#scheduler = scheduler;
    this.#clock = clock;
  }

  async run(beginning: Beginning, effect: Effect, points: PointCounter, others: Set<string>): Promise<void> {
    const isMoment = beginnings[beginning];
    const sent = isMoment === null ? newIds : await this.#runUntilKilled(isMoment);
    const answers = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    let isOver = false;
    const archives = this.#archivesIn(this.root, async ({ name }) => {
      if (!isOver && points.pass(name)) {
        reached.resolve();
        if (!isHang(effect)) {
          throw systemError(effect);
        }
        await answers.promise;
      }
    });
    const failing = this.#deploy(this.root, archives);
    void failing.begin();
    const unsent = Promise.all(sent.map(async (id) => ((await this.#send(failing, id)) ? [] : id)));
    const ended = unsent.then(() => this.#untilNoneIsOpen(failing));
    await Promise.race([isHang(effect) ? reached.promise : ended, ended]);
    if (isHang(effect) && points.reached !== undefined && !others.has(points.reached)) {
      others.add(points.reached);
      await this.#otherGoesOn();
    }
    if (effect === "hangs for a minute") {
      await sleep(minuteMs);
      answers.resolve();
      // What was delayed until now must not be forgotten in the chain.
      assert.ok(await this.#send(failing, lateId));
      await ended;
    }
    await closeInTime(failing);
    isOver = true;
    if (effect === "hangs until the close") {
      answers.resolve();
    }
    // As after a deploy, in the same process. This one also removes what the failing disk did not let the first one
    // remove.
    const last = this.#deploy(this.root, archives);
    const opened = last.begin();
    const again = (await unsent).flat().map((id) => this.#send(last, id));
    if (effect === "hangs") {
      await sleep(minuteMs);
      answers.resolve();
    }
    await Promise.all([opened, ...again]);
    await this.#untilNoneIsOpen(last);
    await last.close();
  }

  /** Asserts that each job has exactly one package, that it is whole, and that nothing else is there. */
  async check(beginning: Beginning, effect: Effect): Promise<void> {
    const found = await readPackages(this.root);
    const packages = [...found.values()];
    assertLogged(await readLogged(this.root), found.keys());
    const sent = beginning === "new" ? newIds : killedIds;
    const ids = effect === "hangs for a minute" ? [...sent, lateId] : sent;
    assert.deepEqual(packages.map(({ transactionId }) => transactionId).sort(), ids.toSorted());
    assert.ok(packages.every(({ complete, items }) => complete && items.length === 2));
    assert.deepEqual(await workFolders(this.root), []);
    // Files of a message that was not accepted may stay on a disk that hangs; the next start moves them aside.
    const left = (await readdir(join(this.root, stateFolderName))).filter(
      (name) => name !== "aside" || !isHang(effect),
    );
    assert.deepEqual(left.toSorted(), ["log", "work"]);
    assert.deepEqual(
      this.#files.filter(({ fd }) => fd !== -1),
      [],
      "files that were never closed",
    );
  }

  #deploy(
    root: string,
    archives: Archives,
    databases: Pick<MemoryDatabases, "open"> = this.#databases,
  ): DeployedArchive {
    const cloud = scheduledCloud(this.#scheduler);
    return new DeployedArchive(archives, storeIn(root, databases, root), () => cloud);
  }

  /** The archives of one process. Each call to their disk first waits for `beforeCall`. */
  #archivesIn(root: string, beforeCall: (call: DiskCall) => unknown = () => undefined): Archives {
    const disk = diskAround(async (call) => {
      if (call.name === "file.sync") {
        // A missed sync loses nothing as long as this process runs.
        await beforeCall(call);
        await this.#scheduler.schedule(callName(call), () => undefined);
        return;
      }
      if (call.name === "file.close") {
        // A close that fails or hangs has closed the file nevertheless.
        await this.#scheduler.schedule(callName(call), call.run);
        await beforeCall(call);
        return;
      }
      await beforeCall(call);
      const result = await this.#scheduler.schedule(callName(call), call.run);
      if (call.name === "open") {
        this.#files.push(result as FileHandle);
      }
      return result;
    });
    return new Archives({ disk: this.#guard.guard(disk, root) });
  }

  /**
   * Works on two jobs until the process is killed while it seals the first one. Returns the ids of the jobs that were
   * not accepted.
   */
  async #runUntilKilled(isMoment: (call: DiskCall) => boolean): Promise<readonly string[]> {
    const never = new Promise<never>(() => undefined);
    const killed = Promise.withResolvers<void>();
    const accepted = Promise.withResolvers<void>();
    let isDead = false;
    const databases = {
      open: async (location: DatabaseLocation) => {
        const { database, ...connection } = await this.#databases.open(location);
        const transaction: Database["transaction"] = async (statements) => {
          const rows = await (isDead ? never : database.transaction(statements));
          if (this.#databases.openJobs(this.root).length > 0) {
            accepted.resolve();
          }
          return rows;
        };
        return { ...connection, database: { ...database, transaction } };
      },
    };
    const stopIfKilled = async (call: DiskCall): Promise<void> => {
      if (isDead || isMoment(call)) {
        isDead = true;
        killed.resolve();
        await never;
      }
    };
    const deployed = this.#deploy(this.root, this.#archivesIn(this.root, stopIfKilled), databases);
    void this.#send(deployed, "killed");
    await accepted.promise;
    void this.#send(deployed, "cloud");
    await killed.promise;
    this.#scheduler.dropWaiting();
    this.#clock.forget();
    this.#guard = new DiskGuard(guardRules);
    const files = this.#files.splice(0);
    await this.#scheduler.schedule("the system closes files", () =>
      Promise.all(files.map((file) => file.close())),
    );
    const open = this.#databases.openJobs(this.root);
    assert.ok(open.includes("killed"), "killed too late");
    return killedIds.filter((id) => !open.includes(id));
  }

  /**
   * Sends a message until it is archived or its job is kept for the next start. Returns false if a close ended it
   * before.
   */
  async #send(deployed: DeployedArchive, id: string): Promise<boolean> {
    for (;;) {
      const end = await deployed.take((runner) => submit(runner, id));
      if (!isDimensionerError(end)) {
        return true;
      }
      if (deployed.isClosing) {
        return end.sentence === "cancelledKept";
      }
      assert.equal(end.code, "ERR_FILE", `${id}: ${end.message}`);
      await sleep(1_000);
    }
  }

  async #untilNoneIsOpen(deployed: DeployedArchive): Promise<void> {
    for (let tries = 0; !deployed.isClosing && this.#databases.openJobs(this.root).length > 0; tries += 1) {
      assert.ok(tries < 1_000, "jobs stay open");
      await sleep(1_000);
    }
  }

  /** Asserts that another store archives a message as if nothing were wrong. */
  async #otherGoesOn(): Promise<void> {
    const other = this.#deploy(this.otherRoot, this.#archivesIn(this.otherRoot));
    const startedMs = performance.now();
    const end = await other.take((runner) => submit(runner, "message"));
    assert.ok(!isDimensionerError(end), end instanceof Error ? end.message : "");
    await other.close();
    const tookMs = performance.now() - startedMs;
    assert.ok(tookMs < 1_000, `another store took ${tookMs} ms`);
  }
}

async function closeInTime(deployed: DeployedArchive): Promise<void> {
  const startedMs = performance.now();
  await deployed.close();
  const tookMs = performance.now() - startedMs;
  assert.ok(tookMs <= closeLimitMs, `the close took ${tookMs} ms`);
}

function isHang(effect: Effect): effect is (typeof hangs)[number] {
  return hangs.some((hang) => hang === effect);
}

function submit(runner: JobRunner, id: string): Promise<Submission> {
  if (id === "cloud") {
    return runner.submit(intentOf(id, { origin: cloudOrigin, measurement: "{}\n", raw: "{}" }));
  }
  const media = ["first", "second"].map((text) => mediumOf(`${id} ${text}`));
  return runner.submitMedia(intentOf(id, { origin: null, raw: "{}" }), media, null);
}
