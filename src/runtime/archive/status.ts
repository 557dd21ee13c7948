/** What a person sees of the jobs of an archive node: its status, the log, and a message for each job that takes too long. */
import type { Node, NodeAPI } from "node-red";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { interpolate } from "../../errors/interpolation.ts";
import { type FindMissing, missingFrom } from "../../jobs/completeness.ts";
import type { RunningJob, RunningState } from "../../jobs/job.ts";
import type { HeldUp } from "../../model/shapes.ts";
import {
  type NodeStatus,
  type StatusValues,
  failedKeyOf,
  formatSizes,
  lookUp,
  translateError,
  translateStatus,
} from "../status/node-status.ts";

/** The texts in English; the catalog of the archive node has them under `status.<key>`. */
export const archiveTexts = {
  open: "__count__ open",
  downloading: "__count__ open, __done__ of __total__",
  downloadingUnknown: "__count__ open, __done__",
  waiting: "__count__ open, awaiting media",
  waitingForRecord: "__count__ open, awaiting record",
  settling: "__count__ open, complete in __s__ s",
  trouble: "__cause__ (__count__)",
  undelivered: "__count__ not delivered: __cause__",
  archived: "archived __size__",
  archivedWithoutMedia: "archived",
  archivedWithoutVideo: "archived without the video",
  archivedIncomplete: "archived, not complete",
  alreadyArchived: "already archived",
  fileFull: "disk full",
  fileDenied: "no permission",
  fileNoFolder: "folder missing",
  fileHung: "disk does not respond",
  storeInUse: "database in use",
  storeDamaged: "database damaged",
  movedAside:
    "Found files of a job that is not in the store's database. They were moved to __path__; nothing was deleted.",
  unknownMedia: "__path__ contains media of jobs that are not in the store's database; nothing was deleted.",
  damagedJob:
    "The store's database has damaged data for job __id__. The job was not continued; its files were left as they are.",
  storeUnusable: "__cause__ This is checked again automatically; until then, nothing is archived.",
  packagesAway:
    "__cause__ This is checked again automatically; until then, media are collected and kept on this computer.",
  heldUp: "Archive jobs are delayed and retried automatically (open: __count__). __cause__",
  stillWaiting: "__id__ has not been archived after __minutes__ min. __cause__",
  resumedAfter: "Archive jobs continue after a delay of __minutes__ min (open: __count__).",
  damagedPackage:
    "The package __path__ is damaged. It was left as it is, and the transaction is archived again.",
  otherMeasurement:
    "__id__ has already been archived with another measurement. Both packages are kept; this one is new.",
  keptAside: "The media of a job that has ended in an error are kept in __path__; nothing was deleted.",
} as const;

type ArchiveText = keyof typeof archiveTexts;

const everyMs = 250;
const tickMs = 1_000;

/** Shows how many jobs are open and how they are, at most four times a second however many there are. */
export class ArchiveStatus {
  readonly #RED: NodeAPI;
  readonly #jobs: () => Iterable<RunningJob>;
  #nodeStatus: NodeStatus | undefined;
  #timer: NodeJS.Timeout | undefined;
  #ticking: NodeJS.Timeout | undefined;
  #current: RunningJob | undefined;
  #isDue = false;

  constructor(RED: NodeAPI, jobs: () => Iterable<RunningJob>) {
    this.#RED = RED;
    this.#jobs = jobs;
  }

  /** The status of the node, which arrives with its messages. */
  set nodeStatus(nodeStatus: NodeStatus) {
    this.#nodeStatus = nodeStatus;
  }

  say(key: ArchiveText, given: StatusValues = {}): string {
    const values = formatSizes(this.#RED, given);
    return interpolate(lookUp(this.#RED, `status.${key}`) ?? archiveTexts[key], values);
  }

  /** To be called when a job has changed. */
  update(running?: RunningJob): void {
    this.#current = running ?? this.#current;
    if (this.#timer !== undefined) {
      this.#isDue = true;
      return;
    }
    this.#show();
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#isDue) {
        this.#isDue = false;
        this.update();
      }
    }, everyMs).unref();
  }

  close(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#ticking);
    this.#nodeStatus = undefined;
  }

  #show(): void {
    const nodeStatus = this.#nodeStatus;
    const { count, working: first, waiting, troubled, undelivered, settlesInMs } = this.#count();
    if (nodeStatus === undefined || count === 0) {
      return;
    }
    const current = this.#current?.state === "working" && !this.#current.hasEnded ? this.#current : undefined;
    const working = current ?? first;
    if (working !== undefined && working.doneBytes > 0) {
      const { doneBytes, totalBytes } = working;
      const done = { bytes: doneBytes };
      const text =
        totalBytes === null
          ? this.say("downloadingUnknown", { count, done })
          : this.say("downloading", { count, done, total: { bytes: totalBytes } });
      nodeStatus.show("working", () => text);
    } else if (troubled !== undefined) {
      const cause = this.causeOf(troubled.trouble);
      const text = troubled.isUndelivered
        ? this.say("undelivered", { count: undelivered, cause })
        : this.say("trouble", { count, cause });
      nodeStatus.show("failed", () => text);
    } else if (working !== undefined) {
      nodeStatus.show("working", () => this.say("open", { count }));
    } else if (settlesInMs < Infinity) {
      const seconds = Math.max(1, Math.ceil(settlesInMs / 1000));
      nodeStatus.show("waiting", () => this.say("settling", { count, s: seconds }));
      this.#tick();
    } else {
      const key = waiting?.awaitsRecord === true ? "waitingForRecord" : "waiting";
      nodeStatus.show("waiting", () => this.say(key, { count }));
    }
  }

  /** Counts the seconds down. */
  #tick(): void {
    clearTimeout(this.#ticking);
    this.#ticking = setTimeout(() => this.update(), tickMs).unref();
  }

  /** How many jobs are open, and the first one in a state; without a list of them, since there may be thousands. */
  #count(): {
    count: number;
    undelivered: number;
    /** How long the one that is complete first still waits for something new; Infinity if none does. */
    settlesInMs: number;
    working: RunningJob | undefined;
    waiting: RunningJob | undefined;
    troubled: RunningJob | undefined;
  } {
    let count = 0;
    let undelivered = 0;
    let settlesInMs = Infinity;
    const first = new Map<RunningState, RunningJob>();
    for (const running of this.#jobs()) {
      if (running.hasEnded) {
        continue;
      }
      count += 1;
      undelivered += running.isUndelivered ? 1 : 0;
      settlesInMs = Math.min(settlesInMs, running.settlesInMs);
      if (!first.has(running.state)) {
        first.set(running.state, running);
      }
    }
    const [working, waiting, troubled] = (["working", "waiting", "trouble"] as const).map((one) =>
      first.get(one),
    );
    return { count, undelivered, settlesInMs, working, waiting, troubled };
  }

  /** How many jobs are open. */
  get open(): number {
    return this.#count().count;
  }

  /** The short text of a failure. */
  causeOf(error: DimensionerError | undefined): string {
    const own = (
      ["fileFull", "fileDenied", "fileNoFolder", "fileHung", "storeInUse", "storeDamaged"] as const
    ).find((key) => key === error?.sentence);
    return own === undefined
      ? translateStatus(this.#RED, error === undefined ? "failed.ERR_FILE" : failedKeyOf(error))
      : this.say(own);
  }
}

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

  /**
   * Notes that the archive cannot be opened, or that it is open and its packages cannot be delivered. How many jobs are open in it is not
   * known.
   */
  cannotOpen(error: unknown, key: "packagesAway" | "storeUnusable" = "storeUnusable"): void {
    if (!(error instanceof DimensionerError)) {
      return;
    }
    if (error.code === "ERR_CONFIG") {
      // A setting is not tried again: the next deploy corrects it.
      this.#node.warn(translateError(this.#RED, error).message);
    } else {
      this.#heldUp(error, key);
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

  #heldUp(error: DimensionerError, key: "heldUp" | "packagesAway" | "storeUnusable" = "heldUp"): Cause {
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

interface WarningOptions {
  readonly findMissing: FindMissing;
  /** The time after which a job is reported; 0: never. Throws ERR_CONFIG if that is not a number. */
  readonly afterMs: () => number;
  /** Reads the message properties that a job has kept. */
  readonly keptOf: (jobId: string) => Promise<Readonly<Record<string, unknown>>>;
  readonly say: ArchiveStatus["say"];
}

/**
 * Tells once, on the node's second output, of each job that is still not archived after a while: what keeps it from going on, or what it
 * waits for. A job that is just downloading is told of when it waits the next time. The parcel's own message still ends as every
 * message does.
 */
export class HeldUpWarnings {
  readonly #RED: NodeAPI;
  readonly #node: Pick<Node, "send" | "warn">;
  readonly #options: WarningOptions;
  /** The jobs to tell of: each is "waiting" until it is time, "due" until it waits for something, and "told" until it has ended. */
  readonly #jobs = new Map<RunningJob, "waiting" | "due" | "told">();
  /** One timer for all of them: thousands of jobs may be open. */
  #timer: NodeJS.Timeout | undefined;
  #timerAtMs = Infinity;
  #isClosed = false;

  constructor(RED: NodeAPI, node: Pick<Node, "send" | "warn">, options: WarningOptions) {
    this.#RED = RED;
    this.#node = node;
    this.#options = options;
  }

  /** Something about a job has changed. */
  update(running: RunningJob): void {
    const known = this.#jobs.get(running);
    if (running.hasEnded || this.#isClosed) {
      this.#jobs.delete(running);
    } else if (known === "due") {
      this.#tell(running);
    } else if (known === undefined && !running.job.isTold && this.#options.afterMs() > 0) {
      this.#jobs.set(running, "waiting");
      this.#setTimer(running.job.sinceMs + this.#options.afterMs());
    }
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#jobs.clear();
  }

  #setTimer(atMs: number): void {
    if (atMs < this.#timerAtMs) {
      clearTimeout(this.#timer);
      this.#timerAtMs = atMs;
      const leftMs = Math.max(soonestMs, atMs - performance.now());
      this.#timer = setTimeout(() => this.#onTime(), Math.min(leftMs, longestTimerMs));
    }
  }

  #onTime(): void {
    this.#timerAtMs = Infinity;
    const afterMs = this.#options.afterMs();
    let nextMs = Infinity;
    for (const [running, known] of this.#jobs) {
      const atMs = running.job.sinceMs + afterMs;
      if (known === "waiting" && atMs <= performance.now()) {
        this.#jobs.set(running, "due");
        this.#tell(running);
      } else if (known === "waiting") {
        nextMs = Math.min(nextMs, atMs);
      }
    }
    this.#setTimer(nextMs);
  }

  #tell(running: RunningJob): void {
    if (running.state === "working") {
      return;
    }
    this.#jobs.set(running, "told");
    running.job.isTold = true;
    const { transactionId, intent } = running.job;
    const heldUpFor = Math.round(openMsOf(running) / 1000);
    const error = running.trouble ?? this.#whatIsMissing(running, heldUpFor);
    const { code, message } = translateError(this.#RED, error);
    const { transactionReference } = intent.references;
    if (running.trouble === undefined) {
      // What holds jobs up is in the log already.
      const id = transactionReference ?? transactionId ?? "";
      const values = { id, minutes: Math.round(heldUpFor / 60), cause: message };
      this.#node.warn(this.#options.say("stillWaiting", values));
    }
    const heldUp = {
      transactionId,
      transactionReference,
      device: intent.device,
      reason: { code, message },
      heldUpFor,
    };
    // A timer calls this: nothing above would catch an error, and it would end Node-RED.
    this.#send(running, heldUp).catch((error: unknown) => this.#node.warn(String(error)));
  }

  async #send({ job, store }: RunningJob, payload: HeldUp): Promise<void> {
    // Told once more after a restart is better than never, if the database does not respond now.
    await store.jobs.setTold(job.id).catch(() => undefined);
    const kept = await this.#options.keptOf(job.id);
    if (!this.#isClosed) {
      this.#node.send([null, { _msgid: this.#RED.util.generateId(), ...kept, payload }]);
    }
  }

  #whatIsMissing(running: RunningJob, seconds: number): DimensionerError {
    const missing = missingFrom(running.seen, this.#options.findMissing);
    return new DimensionerError(
      "mediaIncomplete",
      { surface: "disk", operation: "archive" },
      { seconds, missing },
    );
  }
}

/** A timer cannot take longer. */
const longestTimerMs = 2 ** 31 - 1;
/** Jobs that are due at about the same time are told of together. */
const soonestMs = 10;

function openMsOf({ job }: RunningJob): number {
  return performance.now() - job.sinceMs;
}
