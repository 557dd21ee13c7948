import type { NodeAPI } from "node-red";
import type { RunningJob, RunningState } from "../../jobs/run/running-job.ts";
import type { DimensionerError } from "../../errors/dimensioner-error.ts";
import { interpolate } from "../../errors/interpolation.ts";
import type { NodeStatus } from "../status/node-status.ts";
import { failedKeyOf } from "../status/status-texts.ts";
import { formatSizes, lookUp, translateStatus, type StatusValues } from "../status/translate.ts";

/** The texts in English; the catalog of the archive node has them under `status.<key>`. */
export const archiveTexts = {
  open: "__count__ open",
  downloading: "__count__ open, __done__ of __total__",
  downloadingUnknown: "__count__ open, __done__",
  waiting: "__count__ open, awaiting media",
  trouble: "__cause__ (__count__)",
  archived: "archived __size__",
  archivedWithoutMedia: "archived",
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

/** Shows how many jobs are open and how they are, at most four times a second however many there are. */
export class ArchiveStatus {
  readonly #RED: NodeAPI;
  readonly #jobs: () => Iterable<RunningJob>;
  #nodeStatus: NodeStatus | undefined;
  #timer: NodeJS.Timeout | undefined;
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
    this.#nodeStatus = undefined;
  }

  #show(): void {
    const nodeStatus = this.#nodeStatus;
    const { count, working: first, troubled } = this.#count();
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
      nodeStatus.show("failed", () => this.say("trouble", { count, cause: this.causeOf(troubled.trouble) }));
    } else if (working !== undefined) {
      nodeStatus.show("working", () => this.say("open", { count }));
    } else {
      nodeStatus.show("waiting", () => this.say("waiting", { count }));
    }
  }

  /** How many jobs are open, and the first one in a state; without a list of them, since there may be thousands. */
  #count(): { count: number; working: RunningJob | undefined; troubled: RunningJob | undefined } {
    let count = 0;
    const first = new Map<RunningState, RunningJob>();
    for (const running of this.#jobs()) {
      if (running.hasEnded) {
        continue;
      }
      count += 1;
      if (!first.has(running.state)) {
        first.set(running.state, running);
      }
    }
    return { count, working: first.get("working"), troubled: first.get("trouble") };
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
