import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { databaseText } from "../../src/database/database.ts";
import { StoreDatabases } from "../../src/database/store-databases.ts";
import { isDimensionerError } from "../../src/errors/dimensioner-error.ts";
import { Archives } from "../../src/jobs/archive.ts";
import type { JobRunner, Submission } from "../../src/jobs/runner.ts";
import { testThreads } from "../database/support.ts";
import { withFolder } from "../media/support.ts";
import type { PointCounter } from "../sweep/fault-points.ts";
import { DeployedArchive } from "./deployed-archive.ts";
import { storeIn } from "./store.ts";
import { intentOf, mediumOf, readPackages, until, workFolders } from "./support.ts";

const closeLimitMs = 14_000;

/**
 * A database that counts its transactions. From the chosen one on, the store's thread hangs in SQLite until `answer` is
 * called.
 */
class HangingDatabase {
  readonly databases = new StoreDatabases({
    threads: testThreads,
    answerWithinMs: 1_000,
    closeWithinMs: 1_000,
    // The database waits for another program that never stops writing, as it would for a disk that does not answer.
    busyTimeoutMs: 60_000,
  });
  readonly hung = Promise.withResolvers<void>();
  readonly #points: PointCounter;
  #other: DatabaseSync | undefined;
  /** From then on no transaction hangs, also if none has. */
  #hasAnswered = false;

  constructor(points: PointCounter) {
    this.#points = points;
  }

  readonly open: StoreDatabases["open"] = async (location) => {
    const connection = await this.databases.open(location);
    const { database } = connection;
    return {
      ...connection,
      database: {
        transaction: (statements) => {
          if (!this.#hasAnswered && this.#points.pass("transaction")) {
            this.#other = new DatabaseSync(databaseText(location), { timeout: 5_000 });
            this.#other.exec("BEGIN IMMEDIATE");
            this.hung.resolve();
          }
          return database.transaction(statements);
        },
        close: () => database.close(),
      },
    };
  };

  answer(): void {
    this.#hasAnswered = true;
    this.#other?.close();
  }
}

function submit(runner: JobRunner): Promise<Submission> {
  const media = ["first", "second"].map(mediumOf);
  return runner.submitMedia(intentOf("message", { origin: null, raw: "{}" }), media, null);
}

/** Asserts that a message is archived as if nothing were wrong. */
async function archiveOne(folder: string): Promise<void> {
  const root = join(folder, "other");
  await mkdir(root);
  const store = storeIn(root, new StoreDatabases({ threads: testThreads }), join(folder, "other.sqlite"));
  const deployed = new DeployedArchive(new Archives(), store, noCloud);
  const end = await deployed.take(submit);
  assert.equal(isDimensionerError(end), false);
  await deployed.close();
}

const noCloud = (): never => assert.fail("no job asks a cloud");

/**
 * Archives one message while one transaction of the database hangs until a deploy has closed the archive. Asserts that
 * another store works meanwhile, that the close ends in time, and that the message has one package afterwards.
 */
export async function hangInDatabase(points: PointCounter): Promise<void> {
  await withFolder(async (folder) => {
    const root = join(folder, "packages");
    await mkdir(root);
    const hanging = new HangingDatabase(points);
    const store = storeIn(root, hanging, join(folder, "store.sqlite"));
    const archives = new Archives();
    const deployed = new DeployedArchive(archives, store, noCloud);
    const end = deployed.take(submit);
    await Promise.race([hanging.hung.promise, end]);
    await archiveOne(folder);
    const startedMs = performance.now();
    await deployed.close();
    const tookMs = performance.now() - startedMs;
    assert.ok(tookMs < closeLimitMs, `the close took ${tookMs} ms at transaction ${points.at}`);
    hanging.answer();
    const last = new DeployedArchive(archives, store, noCloud);
    await last.begin();
    const ended = await end;
    if (isDimensionerError(ended) && ended.sentence !== "cancelledKept") {
      let again = await last.take(submit);
      while (isDimensionerError(again) && again.code === "ERR_STORE") {
        // The computer was slower than the limit: nothing was accepted, and the message is sent again.
        again = await last.take(submit);
      }
      assert.equal(isDimensionerError(again), false);
    }
    await until(async () => (await workFolders(root)).length === 0, `the job has ended: ${points.at}`);
    await last.close();
    assert.equal((await readPackages(root)).size, 1, `transaction ${points.at}`);
  });
}
