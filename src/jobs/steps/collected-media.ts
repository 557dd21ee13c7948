import type { DimensionerError } from "../../errors/dimensioner-error.ts";
import type { MediaItem } from "../../model/shapes.ts";
import type { NotFound, Search } from "../find/transaction-finder.ts";
import type { Collected } from "./completeness.ts";
import type { ExistingPackage } from "../seal/existing-packages.ts";
import type { JobStore } from "./job-store.ts";
import { keysOfJob } from "../table/job-keys.ts";
import type { OpenJob } from "../table/open-job.ts";

const none: ReadonlySet<string> = new Set();

/** A job, and what its rounds have found on the device, in the cloud and in existing packages so far. */
export class CollectedMedia implements Collected {
  readonly job: OpenJob;
  listed: readonly MediaItem[] = [];
  quietMs = 0;
  notFound: NotFound | undefined;
  /** Undefined until they were searched for. */
  packages: readonly ExistingPackage[] | undefined;
  otherParcels: ReadonlySet<string> = none;
  /** The cloud's error if it does not know the transaction (yet). */
  unknown: DimensionerError | undefined;
  /** The first failure of a round, which does not prevent the other requests. */
  failure: { readonly error: unknown } | undefined;
  #endWatch: (() => void) | undefined;

  constructor(job: OpenJob, packages: readonly ExistingPackage[] | undefined) {
    this.job = job;
    this.packages = packages;
  }

  /** The packages that an earlier job for the same measurement has made. */
  get existing(): readonly ExistingPackage[] {
    return this.packages ?? [];
  }

  /** Searches for the packages. Rejects with ERR_FILE or ERR_STORE. */
  async lookForPackages({ sealing }: JobStore, onDamaged: (path: string) => void): Promise<void> {
    const { packages } = await sealing.find(keysOfJob(this.job), this.job.answer, onDamaged);
    this.packages = packages;
  }

  /** Calls back when a webhook's record arrives that may belong to the measurement. */
  watchFor({ local }: Search, { finder }: JobStore, onRecord: () => void): void {
    this.stopWatching();
    this.#endWatch = finder.watch(local, onRecord);
  }

  stopWatching(): void {
    this.#endWatch?.();
    this.#endWatch = undefined;
  }
}
