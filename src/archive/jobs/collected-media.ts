import type { DimensionerError } from "../../errors/dimensioner-error.ts";
import type { MediaItem } from "../../model/shapes.ts";
import type { NotFound } from "../find/transaction-finder.ts";
import type { Collected } from "./completeness.ts";
import type { ExistingPackage } from "./existing.ts";
import type { JobStore } from "./job-store.ts";
import { keysOfJob } from "./keys.ts";
import type { OpenJob } from "./open-job.ts";

const none: ReadonlySet<string> = new Set();

/** A job with what its looks at the device, the cloud and the packages have shown so far. */
export class CollectedMedia implements Collected {
  readonly job: OpenJob;
  listed: readonly MediaItem[] = [];
  quietMs = 0;
  notFound: NotFound | undefined;
  /** Undefined until they have been looked for. */
  packages: readonly ExistingPackage[] | undefined;
  foreign: ReadonlySet<string> = none;
  lost: readonly string[] = [];
  /** The cloud's error where it does not know the transaction (yet). */
  unknown: DimensionerError | undefined;
  /** The first failure of a look: the others are asked all the same. */
  failure: { readonly error: unknown } | undefined;

  constructor(job: OpenJob, packages: readonly ExistingPackage[] | undefined) {
    this.job = job;
    this.packages = packages;
  }

  /** The packages that an earlier job for the same has made. */
  get existing(): readonly ExistingPackage[] {
    return this.packages ?? [];
  }

  /** Looks which packages there are. Rejects with ERR_FILE or ERR_STORE. */
  async lookForPackages({ sealing }: JobStore, onDamaged: (path: string) => void): Promise<void> {
    const { packages } = await sealing.find(keysOfJob(this.job), this.job.answer, onDamaged);
    this.packages = packages;
  }
}
