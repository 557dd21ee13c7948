import assert from "node:assert/strict";
import { existsSync, mkdirSync, renameSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { JobRunner, Submission } from "../../src/jobs/runner.ts";
import type { Archive } from "../../src/jobs/archive.ts";
import { isDimensionerError, type DimensionerError } from "../../src/errors/dimensioner-error.ts";
import { MemoryDatabase } from "./memory-databases.ts";
import { openScheduled, runInOrder } from "./scheduled-process.ts";
import { cloudOrigin } from "./scheduled-sources.ts";
import type { Choose, Scheduler, SimulatedProcess } from "./scheduler.ts";
import { BucketDisk } from "../../src/vault/bucket/bucket-disk.ts";
import { BucketVault } from "../../src/vault/bucket/bucket-vault.ts";
import type { Statement } from "../../src/database/database.ts";
import { assertLogged, eventsOf, readLogged } from "./logged.ts";
import { tidyBucket } from "./tidy-bucket.ts";
import { readObjects, ScheduledBucket, type MemoryObjects } from "./memory-bucket.ts";
import { intentOf, mediumOf, readPackages } from "./support.ts";

const workerStates = ["goes on", "is suspended", "is killed"] as const;
const mostTurns = 60;

/** Where the packages of two workers are. */
type WorkersPlace = "bucket" | "folder" | "folder that is away for a while";

interface Process {
  readonly simulated: SimulatedProcess;
  readonly archive: Archive;
  readonly runner: JobRunner;
  close(): Promise<void>;
}

/**
 * Runs one order of what two workers of one database do in one folder, or with one bucket and a
 * disk each. A folder may be away when messages come: then what is only on the disk of the first one is left to processes that are started
 * on its computer, of which the next one is killed as well. The lease of the first one ends at any moment,
 * whatever it does then: it goes on, or is suspended until the other one has finished, or was killed. Throws if a job
 * has not ended in one whole package with one row, or one worker has disturbed the other.
 */
export async function runWorkerOrder(
  choose: Choose,
  place: WorkersPlace = "folder",
): Promise<readonly string[]> {
  return runInOrder(choose, (root, scheduler) => new WorkerRun(root, scheduler, { choose, place }).run());
}

class WorkerRun {
  readonly #root: string;
  readonly #scheduler: Scheduler;
  readonly #choose: Choose;
  readonly #database = new MemoryDatabase();
  /** Of the bucket of packages; undefined if they are in the folder. */
  readonly #objects: MemoryObjects | undefined;
  readonly #isAway: boolean;
  /** How the messages of the first worker ended. */
  readonly #ends: ("archived" | DimensionerError)[] = [];

  constructor(
    root: string,
    scheduler: Scheduler,
    { choose, place }: { readonly choose: Choose; readonly place: WorkersPlace },
  ) {
    this.#root = root;
    this.#scheduler = scheduler;
    this.#choose = choose;
    this.#objects = place === "bucket" ? new Map() : undefined;
    this.#isAway = place === "folder that is away for a while";
  }

  /** The folder of packages, if they are in one. */
  get #packages(): string {
    return join(this.#root, "packages");
  }

  get #awayFolder(): string {
    return join(this.#root, "away");
  }

  async run(): Promise<void> {
    const workerState = workerStates[this.#choose(workerStates.length)] ?? "goes on";
    const opening = [this.#begin("first"), this.#begin("second")] as const;
    const [first, second] = await this.#scheduler.runUntil(Promise.all(opening));
    if (this.#isAway) {
      renameSync(this.#packages, this.#awayFolder);
    }
    const submitted = this.#submitAll(first.runner);
    await this.#scheduler.runUntil(this.#race(first, second, { submitted, workerState }));
    this.#endLease("first");
    this.#endLease("second");
    const killed = this.#isAway ? await this.#scheduler.runUntil(this.#killTaker()) : undefined;
    const third = await this.#scheduler.runUntil(this.#begin("third", this.#isAway ? "first" : "third"));
    await this.#scheduler.runUntil(this.#takeOver(third));
    await this.#scheduler.runUntil(third.close());
    // Whoever opens the archive next tidies up, also two at the same time.
    const last = [this.#begin("fourth"), this.#begin("fifth")];
    const opened = await this.#scheduler.runUntil(Promise.all(last));
    await this.#scheduler.runUntil(Promise.all(opened.map((one) => one.close())));
    if (this.#objects !== undefined) {
      await this.#scheduler.runUntil(this.#tidy(this.#objects));
      if (workerState === "is killed") {
        this.#prune(this.#objects);
      }
    }
    await this.#check(workerState);
    // So that nothing stays open: what a killed process had begun.
    first.simulated.isStopped = false;
    await this.#scheduler.runUntil(submitted);
    await this.#scheduler.runUntil(killed?.resume() ?? Promise.resolve());
    this.#database.close();
  }

  async #begin(id: string, computerName = id): Promise<Process> {
    this.#sql(`INSERT INTO workers VALUES ('${id}', 'test', '', '9999')`);
    const simulated: SimulatedProcess = { hasEnded: false };
    const [packages, computer] = [this.#packages, join(this.#root, computerName)];
    mkdirSync(packages, { recursive: true });
    mkdirSync(computer, { recursive: true });
    const { archive, runner } = await openScheduled({
      root: this.#objects === undefined ? packages : computer,
      workFolder: computer,
      objects: this.#objects,
      database: this.#database,
      scheduler: this.#scheduler,
      simulated,
      worker: { id, isAlone: false },
    });
    const close = async (): Promise<void> => {
      await runner.close();
      await archive.release();
    };
    return { simulated, archive, runner, close };
  }

  async #race(
    first: Process,
    second: Process,
    {
      submitted,
      workerState,
    }: { readonly submitted: Promise<void>; readonly workerState: (typeof workerStates)[number] },
  ): Promise<void> {
    const isBack = this.#isAway && this.#choose(2) === 0;
    await this.#wait();
    if (isBack) {
      this.#mount();
      await this.#wait();
    }
    first.simulated.isStopped = workerState !== "goes on";
    this.#endLease("first");
    if (this.#isAway && !isBack) {
      this.#mount();
    }
    await this.#takeOver(second);
    if (workerState !== "is killed") {
      first.simulated.isStopped = false;
      await submitted;
      await first.close();
    }
    await second.close();
  }

  async #wait(): Promise<void> {
    for (let turns = this.#choose(mostTurns); turns >= 0; turns -= 1) {
      await this.#scheduler.schedule("wait", () => undefined);
    }
  }

  #mount(): void {
    this.#scheduler.log.push("the folder is back");
    renameSync(this.#awayFolder, this.#packages);
  }

  async #submitAll(runner: JobRunner): Promise<void> {
    const cloud = intentOf("transaction", { origin: cloudOrigin, raw: "{}" });
    const alone = intentOf("alone", { origin: null });
    const submissions = [
      () => runner.submit(cloud),
      () => runner.submitMedia(alone, [mediumOf("alone 1"), mediumOf("alone 2")], null),
    ];
    await Promise.all(
      submissions.map(async (submit) => {
        this.#ends.push(await endOf(submit()));
      }),
    );
  }

  async #takeOver({ archive, runner, simulated }: Process): Promise<void> {
    await archive.takeOver({ node: "node", isMine: () => true });
    for (const submission of runner.resume(() => true)) {
      const end = await endOf(Promise.resolve(submission));
      assert.ok(end === "archived" || (simulated.isStopped === false && end.sentence === "cancelledTaken"));
    }
  }

  /** Kills a process on the computer of the first one at any moment while it takes over what that one has left. */
  async #killTaker(): Promise<{ readonly resume: () => Promise<void> }> {
    const taker = await this.#begin("taker", "first");
    const { simulated } = taker;
    const taking = this.#takeOver(taker);
    await this.#wait();
    simulated.isStopped = true;
    this.#endLease("taker");
    return {
      resume: () => {
        simulated.isStopped = false;
        return taking;
      },
    };
  }

  #endLease(id: string): void {
    this.#scheduler.log.push(`the lease of ${id} ends`);
    this.#sql(`UPDATE workers SET lease_until = '' WHERE worker_id = '${id}'`);
  }

  #sql(sql: string): readonly Readonly<Record<string, unknown>>[] {
    return this.#database.run([{ sql }])[0] ?? [];
  }

  #locations(): readonly string[] {
    return this.#sql("SELECT location FROM packages").map((row) => String(row["location"]));
  }

  async #tidy(objects: MemoryObjects): Promise<void> {
    const bucket = new ScheduledBucket(objects, this.#scheduler, { hasEnded: false });
    const database = {
      transaction: async (statements: readonly Statement[]) => this.#database.run(statements),
    };
    await tidyBucket(new BucketVault(new BucketDisk(bucket), "/"), database);
  }

  /** As `dimensioner prune`: nobody else removes what a process has staged that was killed before it accepted the job. */
  #prune(objects: MemoryObjects): void {
    const jobs = this.#sql("SELECT job_id FROM jobs").map((row) => String(row["job_id"]));
    const isStaged = (key: string): boolean => key.startsWith(".dimensioner-archive/work/");
    [...objects.keys()]
      .filter((key) => isStaged(key) && !jobs.some((job) => key.includes(job)))
      .forEach((key) => objects.delete(key));
  }

  async #check(workerState: (typeof workerStates)[number]): Promise<void> {
    assert.deepEqual(this.#database.openJobs(), []);
    const packages =
      this.#objects === undefined
        ? await readPackages(this.#packages)
        : readObjects(this.#objects, this.#locations());
    const ids = [...packages.values()].map(({ transactionId }) => transactionId);
    const accepted = this.#sql("SELECT transaction_id FROM jobs").map((row) => row["transaction_id"]);
    assert.deepEqual(ids.toSorted(), accepted.toSorted(), "one package of each job");
    if (workerState !== "is killed") {
      assert.deepEqual(accepted.toSorted(), ["alone", "transaction"]);
      assert.equal(this.#ends.length, 2);
    }
    for (const { transactionId, items, complete } of packages.values()) {
      assert.deepEqual([complete, items.length], [true, 2], transactionId ?? "");
    }
    for (const end of this.#ends) {
      assert.ok(end === "archived" || end.sentence === "cancelledTaken", String(end));
    }
    assert.deepEqual(
      this.#locations().toSorted(),
      [...packages.keys()].toSorted(),
      "one row of each package",
    );
    const objects = [...(this.#objects ?? [])].filter(([key]) => key.startsWith(".dimensioner-archive/log/"));
    const events =
      this.#objects === undefined
        ? await readLogged(this.#packages)
        : eventsOf(objects.map(([, { body }]) => String(body)));
    assertLogged(events, packages.keys());
    if (this.#objects === undefined) {
      await this.#checkWork();
    }
  }

  /** What is left for other workers belongs to messages of a killed worker that were not accepted; its disk is another computer's. */
  async #checkWork(): Promise<void> {
    const known = new Set(this.#sql("SELECT job_id FROM jobs").map((row) => row["job_id"]));
    const staged = join(this.#packages, ".dimensioner-archive", "work");
    const left = (existsSync(staged) ? await readdir(staged) : []).filter((job) => known.has(job));
    assert.deepEqual(left, [], "left with the packages");
  }
}

/** Ends a message as the node does. */
async function endOf(submitted: Promise<Submission>): Promise<"archived" | DimensionerError> {
  const submission = await submitted;
  try {
    await submission.end();
    submission.messageSent();
    return "archived";
  } catch (error) {
    assert.ok(isDimensionerError(error), String(error));
    submission.messageSent(error);
    return error;
  }
}
