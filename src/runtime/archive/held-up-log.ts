import type { NodeAPI, Node } from "node-red";
import type { RunningJob } from "../../jobs/run/running-job.ts";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { translateError } from "../status/translate.ts";
import type { ArchiveStatus } from "./archive-status.ts";

/** What is needed of a job. */
type HeldUpJob = Pick<RunningJob, "trouble" | "hasEnded">;

/** A cause that holds up jobs. */
interface Cause {
  readonly sinceMs: number;
  loggedMs: number;
  readonly jobs: Set<HeldUpJob>;
}

const reminderMs = 3_600_000;

/**
 * Writes to the log why jobs cannot go on: once for each cause, again every hour, and when they go on. A job is tried
 * again for days, and nobody watches a node's status for that long.
 */
export class HeldUpLog {
  readonly #RED: NodeAPI;
  readonly #node: Pick<Node, "warn" | "log">;
  readonly #status: ArchiveStatus;
  readonly #openJobs: () => number;
  readonly #nowMs: () => number;
  /** By sentence, because the same cause has another path or host with each job. */
  readonly #causes = new Map<string, Cause>();

  constructor(
    RED: NodeAPI,
    node: Pick<Node, "warn" | "log">,
    status: ArchiveStatus,
    openJobs: () => number,
    nowMs = (): number => performance.now(),
  ) {
    this.#RED = RED;
    this.#node = node;
    this.#status = status;
    this.#openJobs = openJobs;
    this.#nowMs = nowMs;
  }

  /** To be called when a job has changed. */
  update(running: HeldUpJob): void {
    const { trouble, hasEnded } = running;
    const current = hasEnded ? undefined : trouble;
    for (const [sentence, cause] of this.#causes) {
      if (sentence !== current?.sentence && cause.jobs.delete(running) && cause.jobs.size === 0) {
        // A job that was stopped or given up does not count as going on.
        this.#end(sentence, cause, trouble === undefined);
      }
    }
    if (current !== undefined) {
      this.#heldUp(current).jobs.add(running);
    }
  }

  /** Notes that the archive cannot be opened. How many jobs are open in it is not known. */
  cannotOpen(error: unknown): void {
    if (!(error instanceof DimensionerError)) {
      return;
    }
    if (error.code === "ERR_CONFIG") {
      // A setting is not tried again: the next deploy corrects it.
      this.#node.warn(translateError(this.#RED, error).message);
    } else {
      this.#heldUp(error, "storeUnusable");
    }
  }

  opened(): void {
    for (const [sentence, cause] of this.#causes) {
      if (cause.jobs.size === 0) {
        this.#end(sentence, cause, true);
      }
    }
  }

  #end(sentence: string, { sinceMs }: Cause, goesOn: boolean): void {
    this.#causes.delete(sentence);
    if (goesOn) {
      const minutes = Math.max(1, Math.round((this.#nowMs() - sinceMs) / 60_000));
      this.#node.log(this.#status.say("resumedAfter", { minutes, count: this.#openJobs() }));
    }
  }

  #heldUp(error: DimensionerError, key: "heldUp" | "storeUnusable" = "heldUp"): Cause {
    const nowMs = this.#nowMs();
    const known = this.#causes.get(error.sentence);
    const cause = known ?? { sinceMs: nowMs, loggedMs: nowMs, jobs: new Set() };
    if (known === undefined || nowMs - known.loggedMs >= reminderMs) {
      cause.loggedMs = nowMs;
      this.#causes.set(error.sentence, cause);
      const { message } = translateError(this.#RED, error);
      this.#node.warn(this.#status.say(key, { count: this.#openJobs(), cause: message }));
    }
    return cause;
  }
}
