import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { phrase, type Phrase } from "../../errors/interpolation.ts";
import { diskFacts } from "../archive-disk.ts";
import type { Intent } from "../packages/intent.ts";
import type { OpenJob } from "./open-job.ts";

/** What the open jobs of one archive may take. */
export interface OpenJobLimits {
  readonly jobs: number;
  /** Of measurements, exact answers and kept message properties, in the database. */
  readonly bytes: number;
}

const openJobLimits: OpenJobLimits = { jobs: 10_000, bytes: 256_000_000 };

/** How many jobs of an archive are open, and which of them no node works on. */
export class OpenJobs {
  /** After a restart, or when their node went away. */
  readonly idle = new Map<string, OpenJob>();
  readonly #folder: string;
  readonly #limits: OpenJobLimits;
  #count = 0;
  #bytes = 0;

  /** `folder`: of the archive, for errors. */
  constructor(folder: string, limits = openJobLimits) {
    this.#folder = folder;
    this.#limits = limits;
  }

  /**
   * Throws ERR_QUEUE_FULL where the archive has as many open jobs, or as much of them to keep, as it may have. Returns how much this one
   * is.
   */
  checkRoom(intent: Intent): number {
    const refuse = (limit: number | Phrase): never => {
      throw new DimensionerError("archiveFull", diskFacts, { path: this.#folder, limit });
    };
    if (this.#count >= this.#limits.jobs) {
      refuse(this.#limits.jobs);
    }
    const textBytes = textBytesOf(intent);
    if (this.#bytes + textBytes > this.#limits.bytes) {
      refuse(phrase("megabytes", { count: this.#limits.bytes / 1e6 }));
    }
    return textBytes;
  }

  /** Counts one that is open from now on. */
  add(textBytes: number): void {
    this.#count += 1;
    this.#bytes += textBytes;
  }

  /** It has ended, or was not accepted. */
  remove(textBytes: number): void {
    this.#count -= 1;
    this.#bytes -= textBytes;
  }
}

/** Roughly: two bytes a character, and what a job takes beside its texts. */
export function textBytesOf({ measurement, raw, keep }: Intent): number {
  const characters = (measurement?.length ?? 0) + (raw?.length ?? 0) + JSON.stringify(keep).length;
  return 2 * characters + 1_000;
}
