import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { phrase, type Phrase } from "../../errors/interpolation.ts";
import { diskFacts } from "../archive-disk.ts";
import type { Intent } from "../packages/intent.ts";
import { IdleJobs } from "./idle-jobs.ts";

/** Limits of the open jobs of one archive. */
export interface OpenJobLimits {
  readonly jobs: number;
  /** The size of measurements, exact answers and kept message properties in the database. */
  readonly bytes: number;
}

const openJobLimits: OpenJobLimits = { jobs: 10_000, bytes: 256_000_000 };

/** The number of an archive's open jobs, and the open jobs without a node. */
export class OpenJobs {
  readonly idle = new IdleJobs();
  readonly #folder: string;
  readonly #limits: OpenJobLimits;
  #count = 0;
  #bytes = 0;

  /** `folder`: the archive's folder, for errors. */
  constructor(folder: string, limits = openJobLimits) {
    this.#folder = folder;
    this.#limits = limits;
  }

  /** Throws ERR_QUEUE_FULL if a limit would be exceeded. Returns the size of this job. */
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

  /** Counts a new open job. */
  add(textBytes: number): void {
    this.#count += 1;
    this.#bytes += textBytes;
  }

  /** Removes a job that has ended or was not accepted. */
  remove(textBytes: number): void {
    this.#count -= 1;
    this.#bytes -= textBytes;
  }
}

/** Estimates the size of a job: two bytes per character, and a fixed amount. */
export function textBytesOf({ measurement, raw, keep }: Intent): number {
  const characters = (measurement?.length ?? 0) + (raw?.length ?? 0) + JSON.stringify(keep).length;
  return 2 * characters + 1_000;
}
