import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { JobRunner, Submission } from "../../src/jobs/runner.ts";
import type { Archived } from "../../src/jobs/seal.ts";
import type { MeasuredBy } from "../../src/vault/packages/intent.ts";
import type { Manifest } from "../../src/vault/packages/manifest.ts";
import { isDimensionerError, type DimensionerError } from "../../src/errors/dimensioner-error.ts";
import { intentOf, pictureOf, readPackages, sha256Of, workFolders } from "./support.ts";
import { cloudOrigin } from "./scheduled-sources.ts";
import { MemoryDatabase } from "./memory-databases.ts";
import { openScheduled, runInOrder } from "./scheduled-process.ts";
import type { Choose, Scheduler, SimulatedProcess } from "./scheduler.ts";

/** A message and how it ended. */
interface Message {
  readonly name: string;
  /** SHA-256 of each medium that the message brings; none for a job of the cloud. */
  readonly media: readonly string[];
  end?: Archived | DimensionerError;
}

const parts = 3;
const mostTurns = 20;

/**
 * Runs one order of everything that can happen at once while an archive takes the parts of a sequence, a single
 * message, one transaction of the cloud twice, and a local measurement of that transaction. A reset may drop what waits,
 * and the archive may be closed in the middle; a second process then goes on with it. Returns the order. Throws if a promise of the archive did not
 * hold.
 */
export async function runOrder(choose: Choose): Promise<readonly string[]> {
  return runInOrder(choose, (root, scheduler) => new OrderRun(root, scheduler, choose).run());
}

class OrderRun {
  readonly #root: string;
  readonly #scheduler: Scheduler;
  readonly #choose: Choose;
  readonly #database = new MemoryDatabase();
  readonly #messages: Message[] = [];
  readonly #resumed: Message[] = [];
  /** Where a warning says that media are. */
  readonly #keptAside: string[] = [];

  constructor(root: string, scheduler: Scheduler, choose: Choose) {
    this.#root = root;
    this.#scheduler = scheduler;
    this.#choose = choose;
  }

  async run(): Promise<void> {
    const isClosedEarly = this.#choose(2) === 1;
    const resets = this.#choose(4);
    const first = async (runner: JobRunner): Promise<void> => {
      await Promise.all([this.#submitAll(runner), resets === 1 ? this.#reset(runner) : undefined]);
    };
    const second = async (runner: JobRunner): Promise<void> => {
      await (resets === 2 ? this.#reset(runner) : undefined);
    };
    await this.#scheduler.runUntil(this.#runProcess(first, isClosedEarly));
    await this.#scheduler.runUntil(this.#runProcess(second, false));
    await this.#check();
    this.#database.close();
  }

  /**
   * Runs one process: it goes on with the open jobs, does what the flow does, and closes when all has ended, or at any
   * moment.
   */
  async #runProcess(act: (runner: JobRunner) => Promise<void>, isClosedEarly: boolean): Promise<void> {
    const simulated: SimulatedProcess = { hasEnded: false };
    const { archive, runner } = await openScheduled({
      root: this.#root,
      database: this.#database,
      scheduler: this.#scheduler,
      simulated,
      onWarning: ({ warning, values }) => {
        if (warning === "keptAside") {
          this.#keptAside.push(values.path);
        }
      },
    });
    const resumed = [...runner.resume(() => true)].map(async (submission) => {
      const message: Message = { name: "resumed", media: [] };
      this.#resumed.push(message);
      await this.#finish(message, submission);
    });
    const acted = act(runner);
    if (isClosedEarly) {
      await this.#sometime("close");
    } else {
      await Promise.all([acted, ...resumed]);
    }
    await runner.close();
    await archive.release();
    simulated.hasEnded = true;
    await Promise.all([acted, ...resumed]);
  }

  /** Drops the jobs that wait for something, as a message with msg.reset does. */
  async #reset(runner: JobRunner): Promise<void> {
    await this.#sometime("reset");
    [...runner.jobs].forEach((running) => running.drop());
  }

  /** Waits for so many turns that every step of the jobs may come before it. */
  async #sometime(name: string): Promise<void> {
    for (let turns = this.#choose(mostTurns); turns >= 0; turns -= 1) {
      await this.#scheduler.schedule(name, () => undefined);
    }
  }

  async #submitAll(runner: JobRunner): Promise<void> {
    const onIncomplete = this.#choose(2) === 1 ? "keep" : "error";
    const sequence = intentOf("sequence", { origin: null, sequence: "s", waitMs: 20, onIncomplete });
    const medium = (text: string) => ({
      content: pictureOf(text),
      contentType: "image/jpeg",
      contentId: null,
      description: null,
      filename: null,
    });
    const cloud = intentOf("transaction", { origin: cloudOrigin, raw: "{}" });
    const measuredBy: MeasuredBy = {
      id: "dock",
      name: "Dock 4",
      imageIdentifier: "i-1",
      images: ["annotated"],
      videoAt: null,
    };
    const local = intentOf("transaction", { origin: cloudOrigin, raw: "{}", measuredBy });
    const submits: [name: string, media: string[], submit: () => Promise<Submission>][] = [
      ...Array.from({ length: parts }, (_, index): [string, string[], () => Promise<Submission>] => {
        const text = `part ${index}`;
        const part = { id: "s", index, count: parts };
        return [text, [text], () => runner.submitMedia(sequence, [medium(text)], part)];
      }),
      [
        "alone",
        ["alone 1", "alone 2"],
        () =>
          runner.submitMedia(
            intentOf("alone", { origin: null }),
            [medium("alone 1"), medium("alone 2")],
            null,
          ),
      ],
      ["cloud", [], () => runner.submit(cloud)],
      ["local", [], () => runner.submit(local)],
      ["cloud again", [], () => runner.submit(cloud)],
    ];
    await Promise.all(
      submits.map(async ([name, media, submit]) => {
        const message: Message = { name, media: media.map((text) => sha256Of(pictureOf(text))) };
        this.#messages.push(message);
        // The step ends when the message is in the node, not when its job has ended.
        const { submitted } = await this.#scheduler.schedule(`flow: ${name}`, () => {
          const begun = submit();
          begun.catch(() => undefined);
          return { submitted: begun };
        });
        try {
          await this.#finish(message, await submitted);
        } catch (error) {
          this.#fail(message, error);
        }
      }),
    );
  }

  async #finish(message: Message, submission: Submission): Promise<void> {
    try {
      const archived = await submission.end();
      this.#endOnce(message, archived);
      if (submission.sendsMessage) {
        submission.messageSent();
      }
    } catch (error) {
      this.#fail(message, error);
      if (isDimensionerError(error) && error.sentence !== "cancelledKept" && submission.sendsMessage) {
        submission.messageSent(error);
      }
    }
  }

  #fail(message: Message, error: unknown): void {
    if (!isDimensionerError(error)) {
      throw error;
    }
    this.#endOnce(message, error);
  }

  #endOnce(message: Message, end: Archived | DimensionerError): void {
    assert.equal(message.end, undefined, `${message.name} ended twice`);
    message.end = end;
  }

  async #check(): Promise<void> {
    assert.deepEqual(this.#scheduler.tooLate, [], "asked for after the archive was closed");
    assert.deepEqual(await workFolders(this.#root), []);
    assert.deepEqual(this.#database.openJobs(), [], "jobs that are open for ever");
    const manifests = [...(await readPackages(this.#root)).values()];
    for (const message of this.#messages) {
      await this.#checkMessage(message, manifests);
    }
    const cloud = manifests.filter(({ transactionId }) => transactionId === "transaction");
    const supplements = cloud.filter((manifest) => manifest.supplements !== null);
    assert.equal(supplements.length, Math.max(0, cloud.length - 1), "one package, and what completes it");
    const hashes = cloud.flatMap(({ items }) => items.map(({ sha256 }) => sha256));
    assert.equal(new Set(hashes).size, hashes.length, "each medium of the transaction once");
    assert.ok(cloud.length <= 2, "no supplement without anything new");
  }

  async #checkMessage({ name, media, end }: Message, manifests: readonly Manifest[]): Promise<void> {
    assert.ok(end !== undefined, `${name} never ended`);
    const kept = isDimensionerError(end) ? end.sentence === "cancelledKept" : false;
    // A job that was open at the close ends in the next process.
    const ends = kept ? this.#resumed.flatMap((one) => one.end ?? []) : [end];
    const places = manifests.map(({ items }) => new Set(items.map(({ sha256 }) => sha256)));
    for (const sha256 of media) {
      const count = places.filter((one) => one.has(sha256)).length;
      if (!isDimensionerError(end)) {
        assert.ok(
          end.manifest.items.some((item) => item.sha256 === sha256),
          `${name} is not in its package`,
        );
      }
      const isKept = await this.#isKept(sha256, ends.filter(isDimensionerError));
      const isOnMessage: boolean = isDimensionerError(end) && !kept && end.sentence !== "partsIncomplete";
      const said = ends.map((one) => (isDimensionerError(one) ? one.sentence : "archived")).join(", ");
      const found: string = `${name} (${said}): in ${count} manifests, kept: ${isKept}, on the message: ${isOnMessage}`;
      assert.equal(count, isKept || isOnMessage ? 0 : 1, found);
    }
  }

  /** Whether a medium is at a path that one of these errors or a warning names. */
  async #isKept(sha256: string, errors: readonly DimensionerError[]): Promise<boolean> {
    const paths = [...errors.flatMap(({ values }) => values.path ?? []), ...this.#keptAside];
    for (const path of new Set(paths)) {
      const folder = join(path, "media");
      for (const file of await readdir(folder).catch(() => [])) {
        if (sha256Of(await readFile(join(folder, file))) === sha256) {
          return true;
        }
      }
    }
    return false;
  }
}
