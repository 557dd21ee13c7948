import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { phrase, type Phrase } from "../../errors/interpolation.ts";
import { diskFacts } from "../../vault/archive-disk.ts";
import type { Intent } from "../../vault/packages/intent.ts";
import { textBytesOf, type OpenJob } from "./open-job.ts";

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

  /** How many more jobs there may be. */
  get room(): number {
    return this.#bytes < this.#limits.bytes ? Math.max(0, this.#limits.jobs - this.#count) : 0;
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

interface Idle {
  readonly job: OpenJob;
  /** The key that it had when it was added: a hung disk can let it get another one later. */
  readonly key: string | null;
}

/** The open jobs without a node: after a restart, or after their node was closed or deleted. There may be thousands. */
export class IdleJobs {
  readonly #byId = new Map<string, Idle>();
  readonly #byKey = new Map<string, Set<OpenJob>>();

  get ids(): Iterable<string> {
    return this.#byId.keys();
  }

  get all(): OpenJob[] {
    return [...this.#byId.values()].map(({ job }) => job);
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  ofKey(key: string): OpenJob[] {
    return [...(this.#byKey.get(key) ?? [])];
  }

  add(job: OpenJob): void {
    this.delete(job);
    const { key } = job;
    this.#byId.set(job.id, { job, key });
    if (key !== null) {
      this.#byKey.set(key, (this.#byKey.get(key) ?? new Set()).add(job));
    }
  }

  delete({ id }: OpenJob): void {
    const idle = this.#byId.get(id);
    this.#byId.delete(id);
    if (idle === undefined || idle.key === null) {
      return;
    }
    const sameKey = this.#byKey.get(idle.key);
    sameKey?.delete(idle.job);
    if (sameKey?.size === 0) {
      this.#byKey.delete(idle.key);
    }
  }
}
