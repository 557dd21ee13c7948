import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { stateFolderName } from "../../src/archive/archive-disk.ts";
import { Archives } from "../../src/archive/jobs/archives.ts";
import type { JobRunner } from "../../src/archive/jobs/job-runner.ts";
import type { Submission } from "../../src/archive/jobs/submission.ts";
import { isDimensionerError } from "../../src/errors/dimensioner-error.ts";
import { DiskGuard } from "../../src/media/disk-guard.ts";
import type { Database } from "../../src/store/database.ts";
import { diskAround, systemError, withFolder, type DiskCall } from "../media/support.ts";
import type { Counter } from "../sweep/fault-points.ts";
import { ArchiveLife } from "./archive-life.ts";
import { cloudInTurns, cloudOrigin } from "./cloud-in-turns.ts";
import { MemoryDatabases } from "./memory-databases.ts";
import { storeIn } from "./store.ts";
import { intentOf, mediumOf, readPackages, workFolders } from "./support.ts";
import { nameOf, Turns } from "./turns.ts";
import { VirtualClock } from "./virtual-clock.ts";

/** The three ways in which a call hangs: until after the next start, until the close, or for a minute without a close. */
export const hangs = ["hangs", "hangs until the close", "hangs for a minute"] as const;

/** Codes that say that the disk cannot do it now. */
export const codes = ["EIO", "ENOSPC", "EACCES", "EROFS"] as const;

/** What happens to the one call: it hangs, or fails with a code of the system. */
export type Effect = (typeof hangs)[number] | `E${string}`;

/** At which call to the disk the process was killed whose jobs an archive goes on with; null where it begins anew. */
export const beginnings = {
  new: null,
  "killed in the middle of sealing": ({ name, args: [, target] }: DiskCall) =>
    name === "rename" && String(target).endsWith("package/item-2.jpg"),
  // Its folder is synced right after it has got its name.
  "killed before the package is in the index": ({ name, args: [path] }: DiskCall) =>
    name === "open" && existsSync(join(String(path), "ORDER-1-killed")),
} as const;

export type Beginning = keyof typeof beginnings;

const newIds = ["cloud", "message"];
const killedIds = ["cloud", "killed"];
const minuteMs = 60_000;
/** As in a process: at most so many calls hang, and one that hangs counts as hung after half a minute. */
const guardRules = { threads: 4, hungAfterMs: 30_000, syncHungAfterMs: 600_000 };
/** Node-RED waits 15 s for a node to close. */
const closeLimitMs = 14_000;

/**
 * Runs an archive from this beginning, with one call to its disk struck. Throws where anything is lost, left over or held up. `others`
 * are the calls for which another store has been seen to go on while they hang.
 */
export async function strikeDisk(
  beginning: Beginning,
  effect: Effect,
  points: Counter,
  others = new Set<string>(),
): Promise<void> {
  const clock = new VirtualClock(Number.POSITIVE_INFINITY);
  const turns = new Turns(() => 0, clock);
  try {
    await withFolder(async (folder) => {
      const trial = new Trial(folder, turns, clock);
      await Promise.all([mkdir(trial.root), mkdir(trial.otherRoot)]);
      await turns.until(trial.run(beginning, effect, points, others));
      await trial.check(beginning, effect);
    });
  } catch (error) {
    const where = `call ${points.at}, ${points.struck}, ${effect}, ${beginning}`;
    throw new Error(`${where}: ${String(error)}\n${turns.log.join("\n")}`, { cause: error });
  } finally {
    clock.close();
  }
}

class Trial {
  readonly root: string;
  readonly otherRoot: string;
  readonly #turns: Turns;
  readonly #clock: VirtualClock;
  readonly #databases = new MemoryDatabases();
  #guard = new DiskGuard(guardRules);
  readonly #files: FileHandle[] = [];

  constructor(folder: string, turns: Turns, clock: VirtualClock) {
    this.root = join(folder, "struck");
    this.otherRoot = join(folder, "other");
    this.#turns = turns;
    this.#clock = clock;
  }

  async run(beginning: Beginning, effect: Effect, points: Counter, others: Set<string>): Promise<void> {
    const isMoment = beginnings[beginning];
    const sent = isMoment === null ? newIds : await this.#liveUntilKilled(isMoment);
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
    const struck = this.#live(this.root, archives);
    void struck.begin();
    const unsent = Promise.all(sent.map(async (id) => ((await this.#send(struck, id)) ? [] : id)));
    const ended = unsent.then(() => this.#untilNoneIsOpen(struck));
    await Promise.race([isHang(effect) ? reached.promise : ended, ended]);
    if (isHang(effect) && points.struck !== undefined && !others.has(points.struck)) {
      others.add(points.struck);
      await this.#otherGoesOn();
    }
    if (effect === "hangs for a minute") {
      await sleep(minuteMs);
      answers.resolve();
      await ended;
    }
    await closeInTime(struck);
    isOver = true;
    if (effect === "hangs until the close") {
      answers.resolve();
    }
    // As after a deploy: in the same process. It also removes what a disk that failed did not let the first one remove.
    const last = this.#live(this.root, archives);
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

  /** Each job has one package, which is whole, and nothing else is there. */
  async check(beginning: Beginning, effect: Effect): Promise<void> {
    const packages = [...(await readPackages(this.root)).values()];
    const ids = beginning === "new" ? newIds : killedIds;
    assert.deepEqual(packages.map(({ transactionId }) => transactionId).sort(), ids);
    assert.ok(packages.every(({ complete, items }) => complete && items.length === 2));
    assert.deepEqual(await workFolders(this.root), []);
    // What a hung disk did not let a message remove that was not accepted is moved aside at the next start.
    const left = (await readdir(join(this.root, stateFolderName))).filter(
      (name) => name !== "aside" || !isHang(effect),
    );
    assert.deepEqual(left, ["work"]);
    assert.deepEqual(
      this.#files.filter(({ fd }) => fd !== -1),
      [],
      "files that are open for ever",
    );
  }

  #live(
    root: string,
    archives: Archives,
    databases: Pick<MemoryDatabases, "open"> = this.#databases,
  ): ArchiveLife {
    const cloud = cloudInTurns(this.#turns);
    return new ArchiveLife(archives, storeIn(root, databases, root), () => cloud);
  }

  /** The archives of a process, on a disk of which each call is made once `strike` lets it. */
  #archivesIn(root: string, strike: (call: DiskCall) => unknown = () => undefined): Archives {
    const disk = diskAround(async (call) => {
      if (call.name === "file.sync") {
        // What is not written out lasts as long as this process.
        await strike(call);
        await this.#turns.take(nameOf(call), () => undefined);
        return;
      }
      if (call.name === "file.close") {
        // One that fails or hangs has closed the file all the same.
        await this.#turns.take(nameOf(call), call.run);
        await strike(call);
        return;
      }
      await strike(call);
      const result = await this.#turns.take(nameOf(call), call.run);
      if (call.name === "open") {
        this.#files.push(result as FileHandle);
      }
      return result;
    });
    return new Archives({ disk: this.#guard.guard(disk, root) });
  }

  /** Works on two jobs, and is killed while it seals the first one. Returns the jobs that it has not accepted. */
  async #liveUntilKilled(isMoment: (call: DiskCall) => boolean): Promise<readonly string[]> {
    const never = new Promise<never>(() => undefined);
    const killed = Promise.withResolvers<void>();
    const accepted = Promise.withResolvers<void>();
    let isDead = false;
    const databases = {
      open: async (file: string) => {
        const { database, ...lease } = await this.#databases.open(file);
        const transaction: Database["transaction"] = async (statements) => {
          const rows = await (isDead ? never : database.transaction(statements));
          if (this.#databases.openJobs(this.root).length > 0) {
            accepted.resolve();
          }
          return rows;
        };
        return { ...lease, database: { ...database, transaction } };
      },
    };
    const die = async (call: DiskCall): Promise<void> => {
      if (isDead || isMoment(call)) {
        isDead = true;
        killed.resolve();
        await never;
      }
    };
    const life = this.#live(this.root, this.#archivesIn(this.root, die), databases);
    void this.#send(life, "killed");
    await accepted.promise;
    void this.#send(life, "cloud");
    await killed.promise;
    this.#turns.forget();
    this.#clock.forget();
    this.#guard = new DiskGuard(guardRules);
    const files = this.#files.splice(0);
    await this.#turns.take("the system closes files", () => Promise.all(files.map((file) => file.close())));
    const open = this.#databases.openJobs(this.root);
    assert.ok(open.includes("killed"), "killed too late");
    return killedIds.filter((id) => !open.includes(id));
  }

  /** Sends a message until it is archived, or its job is kept for the next start; false when a close has ended it before. */
  async #send(life: ArchiveLife, id: string): Promise<boolean> {
    for (;;) {
      const end = await life.take((runner) => submit(runner, id));
      if (!isDimensionerError(end)) {
        return true;
      }
      if (life.isClosing) {
        return end.sentence === "cancelledKept";
      }
      assert.equal(end.code, "ERR_FILE", `${id}: ${end.message}`);
      await sleep(1_000);
    }
  }

  async #untilNoneIsOpen(life: ArchiveLife): Promise<void> {
    for (let tries = 0; !life.isClosing && this.#databases.openJobs(this.root).length > 0; tries += 1) {
      assert.ok(tries < 1_000, "jobs stay open");
      await sleep(1_000);
    }
  }

  /** Another store archives a message as if nothing were wrong. */
  async #otherGoesOn(): Promise<void> {
    const other = this.#live(this.otherRoot, this.#archivesIn(this.otherRoot));
    const startedMs = performance.now();
    const end = await other.take((runner) => submit(runner, "message"));
    assert.ok(!isDimensionerError(end), end instanceof Error ? end.message : "");
    await other.close();
    const tookMs = performance.now() - startedMs;
    assert.ok(tookMs < 1_000, `another store took ${tookMs} ms`);
  }
}

async function closeInTime(life: ArchiveLife): Promise<void> {
  const startedMs = performance.now();
  await life.close();
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
