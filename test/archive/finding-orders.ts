import assert from "node:assert/strict";
import type { JobRunner, Submission } from "../../src/jobs/runner.ts";
import type { MediaSource } from "../../src/jobs/collect.ts";
import { isDimensionerError } from "../../src/errors/dimensioner-error.ts";
import { Inbox } from "../../src/database/inbox.ts";
import { measured, received, tag } from "./find/support.ts";
import { MemoryDatabase } from "./memory-databases.ts";
import { cloudOrigin } from "./scheduled-sources.ts";
import { openScheduled, runInOrder } from "./scheduled-process.ts";
import type { Choose, Scheduler, SimulatedProcess } from "./scheduler.ts";
import { intentOf } from "./support.ts";

/** The transaction has two ids, and a record may have either or both. */
const [guid, integer] = ["6f9619ff-8b86-d011-b42d-00c04fc964ff", "905865"];

/**
 * Runs one order of everything that can happen at once while two local measurements search for their transaction and the only record
 * that can be of either arrives, once or twice. The archive may be closed in the middle; a second process then goes on with it. Throws if
 * the transaction was given to both. Returns how many measurements were given it.
 */
export async function runFindingOrder(choose: Choose): Promise<number> {
  let given = 0;
  await runInOrder(choose, async (root, scheduler) => {
    given = await new FindingRun(root, scheduler, choose).run();
  });
  return given;
}

class FindingRun {
  readonly #root: string;
  readonly #scheduler: Scheduler;
  readonly #choose: Choose;
  readonly #database = new MemoryDatabase();
  /** Jobs that have asked the cloud for the media of a transaction. */
  readonly #asked = new Set<string>();

  constructor(root: string, scheduler: Scheduler, choose: Choose) {
    this.#root = root;
    this.#scheduler = scheduler;
    this.#choose = choose;
  }

  async run(): Promise<number> {
    const isClosedEarly = this.#choose(2) === 1;
    // A flow that gives two measurements the same tag; without one, neither may take what can be the other's.
    const isTagged = this.#choose(2) === 1;
    await this.#scheduler.runUntil(this.#runProcess(isClosedEarly, isTagged, true));
    await this.#scheduler.runUntil(this.#runProcess(false, isTagged, false));
    assert.deepEqual(this.#database.openJobs(), [], "jobs that are open for ever");
    const sql = "SELECT job_id FROM measurements WHERE transaction_id IS NOT NULL";
    const given = (this.#database.run([{ sql }])[0] ?? []).length;
    const found = "SELECT job_id FROM jobs WHERE transaction_id IS NOT NULL";
    const jobs = (this.#database.run([{ sql: found }])[0] ?? []).length;
    this.#database.close();
    assert.ok(
      given <= 1 && jobs <= 1 && this.#asked.size <= 1,
      `given to ${given} measurements, ${jobs} jobs`,
    );
    return given;
  }

  async #runProcess(isClosedEarly: boolean, isTagged: boolean, isFirst: boolean): Promise<void> {
    const simulated: SimulatedProcess = { hasEnded: false };
    const { database, arrivals, archive, runner } = await openScheduled({
      root: this.#root,
      database: this.#database,
      scheduler: this.#scheduler,
      simulated,
      cloud: ({ id }) => this.#cloudOf(id, simulated),
      device: () => assert.fail("the device is asked for nothing"),
      settleMs: 0,
    });
    const resumed = [...runner.resume(() => true)].map((submission) => this.#finish(submission));
    const inbox = new Inbox(database, { nodeId: "records", runId: String(isFirst), arrivals });
    const acted = isFirst ? this.#act(runner, inbox, isTagged) : Promise.resolve();
    if (isClosedEarly) {
      await this.#scheduler.schedule("close", () => undefined);
    } else {
      await Promise.all([acted, ...resumed]);
    }
    await runner.close();
    await archive.release();
    await Promise.all([acted, ...resumed]);
    simulated.hasEnded = true;
  }

  async #act(runner: JobRunner, inbox: Inbox, isTagged: boolean): Promise<void> {
    const references = isTagged ? { customReference1: tag } : {};
    const record = (id: string, legacyId?: string) =>
      received(id, 0, { ...references, ...(legacyId === undefined ? {} : { legacyId }) }).record;
    const records = [record(guid, integer), ...(this.#choose(2) === 1 ? [record(integer)] : [])];
    await Promise.all([
      ...["A", "B"].map(async (key) => {
        const { submitted } = await this.#scheduler.schedule(`flow: ${key}`, () => {
          const begun = runner.submit(this.#intentOf(key, isTagged));
          begun.catch(() => undefined);
          return { submitted: begun };
        });
        await this.#finish(submitted);
      }),
      ...records.map(async (one) => {
        const { added } = await this.#scheduler.schedule(`record: ${one.transactionId}`, () => ({
          added: inbox.add(one, 0),
        }));
        await added;
      }),
    ]);
  }

  #intentOf(key: string, isTagged: boolean) {
    const { local } = measured(key, 0, isTagged ? { tag, customReference1: tag } : {});
    const sought = { ...local, sentAt: new Date(Date.now() - 1_000).toISOString() };
    const raw = JSON.stringify({ imageIdentifier: key });
    const measuredBy = {
      id: "dock",
      name: "Dock 4",
      serialNumber: null,
      certificate: null,
      imageIdentifier: key,
      images: [],
      videoAt: null,
    };
    return {
      ...intentOf("", { origin: cloudOrigin, raw, waitMs: 40, sought, measuredBy }),
      transactionId: null,
    };
  }

  /** A cloud that has nothing, so that a job ends when its transaction is found and its wait is over. */
  #cloudOf(job: string, simulated: SimulatedProcess): MediaSource {
    return {
      peer: { host: "cloud.example", surface: "cloud" },
      waitForMedia: async () => {
        this.#asked.add(job);
        return this.#scheduler.schedule("cloud: list", () => ({ items: [], missing: [] }), simulated);
      },
      media: () => assert.fail("there is no medium"),
    };
  }

  async #finish(submitted: Submission | Promise<Submission>): Promise<void> {
    try {
      const submission = await submitted;
      try {
        await submission.end();
        assert.fail("it had no media");
      } catch (error) {
        assert.ok(isDimensionerError(error), String(error));
        if (error.sentence !== "cancelledKept") {
          assert.equal(error.code, "ERR_MEDIA_INCOMPLETE");
          submission.messageSent(error);
        }
      }
    } catch (error) {
      // The close came before it was accepted.
      if (!isDimensionerError(error) || error.code !== "ERR_CANCELLED") {
        throw error;
      }
    }
  }
}
