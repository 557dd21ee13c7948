import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { stateFolderName } from "../../src/vault/archive-disk.ts";
import { BucketDisk } from "../../src/vault/bucket/bucket-disk.ts";
import { BucketVault } from "../../src/vault/bucket/bucket-vault.ts";
import { Archives } from "../../src/jobs/archive.ts";
import type { JobRunner, Submission } from "../../src/jobs/runner.ts";
import type { Manifest } from "../../src/vault/packages/manifest.ts";
import { openPackages, type OpenedPackages } from "../../src/vault/open-packages.ts";
import { isDimensionerError } from "../../src/errors/dimensioner-error.ts";
import type { Database } from "../../src/database/database.ts";
import { Inbox } from "../../src/database/inbox.ts";
import { resultCodes } from "../../src/database/sqlite-errors.ts";
import { failureError, unansweredError } from "../../src/database/sqlite-failures.ts";
import type { PointCounter } from "../sweep/fault-points.ts";
import { DeployedArchive } from "./deployed-archive.ts";
import { measured, received, tag } from "./find/support.ts";
import { assertLogged, readLogged } from "./logged.ts";
import { readObjects, ScheduledBucket, type MemoryObjects } from "./memory-bucket.ts";
import { MemoryDatabases } from "./memory-databases.ts";
import { inBucket, runInOrder } from "./scheduled-process.ts";
import { cloudOrigin, scheduledCloud } from "./scheduled-sources.ts";
import { scheduledDisk, type Scheduler } from "./scheduler.ts";
import { storeIn } from "./store.ts";
import { intentOf, mediumOf, readPackages, workFolders } from "./support.ts";
import { tidyBucket } from "./tidy-bucket.ts";

/**
 * What happens to the chosen transaction: it is not executed because the disk is full, once or with all that follow, or
 * it is executed, and the answer does not arrive in time, once or followed by such failures.
 */
export const databaseEffects = [
  "fails once",
  "fails for a minute",
  "fails until the close",
  "is executed without an answer",
  "is executed without an answer, and the next ones fail for a minute",
] as const;

export type DatabaseEffect = (typeof databaseEffects)[number];

/** Whether the messages are new, or their jobs were accepted by a process that has ended since. */
type DatabaseBeginning = "new" | "resumed";

/** Where the packages are. */
type Place = "bucket" | "folder";

/** The transactions of all messages; that of the local measurement is found by the webhook's record. */
const transactions = ["cloud", "local", "message", "sequence"];
const minuteMs = 60_000;

/** Sends a message to the archive. */
type Send = (runner: JobRunner) => Promise<Submission>;

/** The two parts of the sequence have one transaction. */
const messages: readonly Send[] = [
  (runner) => runner.submit(intentOf("cloud", { origin: cloudOrigin, measurement: "{}\n", raw: "{}" })),
  (runner) => {
    const { local: sought } = measured("A", 0, { tag, customReference2: tag });
    const measuredBy = {
      id: "dock",
      name: "Dock 4",
      imageIdentifier: "A",
      images: [],
      videoAt: null,
    };
    const facts = { origin: cloudOrigin, raw: "{}", waitMs: 10 * minuteMs, sought, measuredBy };
    return runner.submit({ ...intentOf("local", facts), transactionId: null });
  },
  (runner) => {
    const media = ["first", "second"].map(mediumOf);
    return runner.submitMedia(intentOf("message", { origin: null, raw: "{}" }), media, null);
  },
  ...[0, 1].map((index) => (runner: JobRunner) => {
    const intent = intentOf("sequence", { origin: null, waitMs: 10 * minuteMs, sequence: "S" });
    return runner.submitMedia(intent, [mediumOf(`part ${index}`)], { id: "S", index, count: 2 });
  }),
];

interface FailingDatabase {
  readonly beginning: DatabaseBeginning;
  readonly effect: DatabaseEffect;
  readonly place?: Place;
}

/**
 * Archives these messages while the transaction that `points` chooses fails; a message that ends in an error is sent
 * again. Then the archive is closed and opened again, as by a deploy. Throws if anything is lost, archived twice or left
 * behind.
 */
export async function runWithFailingDatabase(
  { beginning, effect, place = "folder" }: FailingDatabase,
  points: PointCounter,
): Promise<void> {
  try {
    await runInOrder(
      () => 0,
      (root, scheduler) => new FailingDatabaseRun(root, scheduler, place).run(beginning, effect, points),
      Number.POSITIVE_INFINITY,
    );
  } catch (error) {
    throw new Error(
      `transaction ${points.at}, ${points.reached}, ${effect}, ${beginning}, ${place}: ${String(error)}`,
      {
        cause: error,
      },
    );
  }
}

/** Executes a transaction, or not. */
type Around = (
  name: string,
  execute: () => ReturnType<Database["transaction"]>,
) => ReturnType<Database["transaction"]>;

class FailingDatabaseRun {
  readonly #root: string;
  readonly #scheduler: Scheduler;
  readonly #databases = new MemoryDatabases();
  /** Of the bucket of packages; undefined if they are in the folder. */
  readonly #objects: MemoryObjects | undefined;

  constructor(root: string, scheduler: Scheduler, place: Place) {
    this.#root = root;
    this.#scheduler = scheduler;
    this.#objects = place === "bucket" ? new Map() : undefined;
  }

  async run(beginning: DatabaseBeginning, effect: DatabaseEffect, points: PointCounter): Promise<void> {
    const { database } = await this.#databases.open({ kind: "file", file: this.#root });
    const inbox = new Inbox(database, { nodeId: "records", runId: "run" });
    await inbox.add(received("local", 1, { customReference2: tag }).record, 0);
    await inbox.add(received("cloud", 1).record, 0);
    await this.#scheduler.runUntil(this.#archiveAll(beginning, effect, points));
    await this.#check(database);
  }

  async #archiveAll(
    beginning: DatabaseBeginning,
    effect: DatabaseEffect,
    points: PointCounter,
  ): Promise<void> {
    const archives = new Archives({
      disk: scheduledDisk(this.#scheduler),
      openPackages: (location, connection, disk) => this.#openPackages(location, connection, disk),
    });
    const given = beginning === "new" ? messages : await this.#runUntilAccepted(archives);
    const unsent = await this.#runWithFault(archives, given, effect, points);
    const last = this.#deploy(archives, (_name, execute) => execute());
    await last.begin();
    await this.#sendAll(last, unsent);
    await this.#untilNoneIsOpen(last);
    await last.close();
  }

  async #openPackages(...given: Parameters<typeof openPackages>): Promise<OpenedPackages> {
    if (this.#objects === undefined) {
      return await openPackages(...given);
    }
    const [, connection, diskOf] = given;
    const bucket = new ScheduledBucket(this.#objects, this.#scheduler, { hasEnded: false });
    return inBucket(bucket, this.#root, { ...connection, disk: diskOf(this.#root) });
  }

  /** Runs a process that is closed when all jobs are accepted. Returns the messages that are not part of a job. */
  async #runUntilAccepted(archives: Archives): Promise<readonly Send[]> {
    const accepted = Promise.withResolvers<void>();
    let jobs = 0;
    const deployed = this.#deploy(archives, async (name, execute) => {
      const rows = await execute();
      jobs += name.startsWith("INSERT INTO jobs") ? 1 : 0;
      if (jobs === transactions.length) {
        accepted.resolve();
      }
      return rows;
    });
    const unsent = this.#sendAll(deployed, messages);
    await accepted.promise;
    await deployed.close();
    return await unsent;
  }

  /** Runs a process with the chosen fault. Returns the messages that are not part of a job. */
  async #runWithFault(
    archives: Archives,
    given: readonly Send[],
    effect: DatabaseEffect,
    points: PointCounter,
  ): Promise<readonly Send[]> {
    let isFailing = false;
    const failed = Promise.withResolvers<void>();
    const deployed = this.#deploy(archives, async (name, execute) => {
      const isChosen = points.pass(name);
      if (isChosen) {
        failed.resolve();
        isFailing = effect !== "fails once" && effect !== "is executed without an answer";
        if (isFailing && effect !== "fails until the close") {
          void sleep(minuteMs).then(() => (isFailing = false));
        }
      }
      if (isChosen && effect.startsWith("is executed")) {
        await execute();
        throw unansweredError("store.sqlite", 30_000);
      }
      if (isChosen || isFailing) {
        const message = "database or disk is full";
        throw failureError("store.sqlite", { reason: "failed", resultCode: resultCodes.full, message });
      }
      return await execute();
    });
    void deployed.begin();
    const unsent = this.#sendAll(deployed, given);
    const ended = unsent.then(() => this.#untilNoneIsOpen(deployed));
    await (effect === "fails until the close" ? Promise.race([failed.promise, ended]) : ended);
    await deployed.close();
    return await unsent;
  }

  /** An archive whose transactions are executed by `around`, or not. */
  #deploy(archives: Archives, around: Around): DeployedArchive {
    const open: MemoryDatabases["open"] = async (location) => {
      const { database, ...connection } = await this.#databases.open(location);
      const transaction: Database["transaction"] = (statements) => {
        const name = statements[0]?.sql.trim().replaceAll(/\s+/g, " ").slice(0, 60) ?? "";
        return around(name, () => database.transaction(statements));
      };
      return { ...connection, database: { ...database, transaction } };
    };
    const cloud = scheduledCloud(this.#scheduler);
    return new DeployedArchive(archives, storeIn(this.#root, { open }, this.#root), () => cloud);
  }

  /**
   * Sends each message until it is archived or its job is kept for the next start. Returns those that a close ended
   * before.
   */
  async #sendAll(deployed: DeployedArchive, given: readonly Send[]): Promise<readonly Send[]> {
    const unsent = given.map(async (send) => ((await this.#send(deployed, send)) ? [] : [send]));
    return (await Promise.all(unsent)).flat();
  }

  async #send(deployed: DeployedArchive, send: Send): Promise<boolean> {
    for (;;) {
      const end = await deployed.take(send);
      if (!isDimensionerError(end)) {
        return true;
      }
      if (deployed.isClosing) {
        return end.sentence === "cancelledKept";
      }
      assert.equal(end.code, "ERR_STORE", end.message);
      await sleep(10_000);
    }
  }

  async #untilNoneIsOpen(deployed: DeployedArchive): Promise<void> {
    for (let tries = 0; !deployed.isClosing && this.#databases.openJobs(this.#root).length > 0; tries += 1) {
      assert.ok(tries < 1_000, "jobs stay open");
      await sleep(1_000);
    }
  }

  async #packages(database: Database): Promise<readonly Manifest[]> {
    if (this.#objects === undefined) {
      return [...(await readPackages(this.#root)).values()];
    }
    const bucket = new ScheduledBucket(this.#objects, this.#scheduler, { hasEnded: false });
    await this.#scheduler.runUntil(tidyBucket(new BucketVault(new BucketDisk(bucket), "/"), database));
    const [rows = []] = await database.transaction([{ sql: "SELECT location FROM packages" }]);
    return [
      ...readObjects(
        this.#objects,
        rows.map((row) => String(row["location"])),
      ).values(),
    ];
  }

  async #check(database: Database): Promise<void> {
    const packages = await this.#packages(database);
    assert.deepEqual(packages.map(({ transactionId }) => transactionId).sort(), transactions);
    const incomplete = packages.filter(({ complete, items }) => !complete || items.length !== 2);
    assert.deepEqual(incomplete, []);
    const sql =
      "SELECT packages.transaction_id AS id FROM records JOIN packages ON handled_by = package_id ORDER BY id";
    const [handled] = await database.transaction([{ sql }]);
    assert.deepEqual(
      handled?.map((row) => row["id"]),
      ["cloud", "local"],
      "records",
    );
    assert.deepEqual(await workFolders(this.#root), []);
    const inFolder = this.#objects === undefined;
    assert.deepEqual(
      (await readdir(join(this.#root, stateFolderName))).toSorted(),
      inFolder ? ["log", "work"] : ["work"],
    );
    if (inFolder) {
      assertLogged(await readLogged(this.#root), (await readPackages(this.#root)).keys());
    }
  }
}
