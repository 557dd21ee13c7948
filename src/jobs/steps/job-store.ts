import type { ArchiveDisk } from "../../vault/archive-disk.ts";
import type { TransactionFinder } from "../find/transaction-finder.ts";
import type { StoredItem } from "../../vault/packages/intent.ts";
import type { JobTable } from "../table/job-table.ts";
import type { OpenJob } from "../table/open-job.ts";
import type { Sealing } from "../seal/sealing.ts";
import type { WorkFolders } from "../seal/work-folders.ts";

/** The part of an archive that jobs need. */
export interface JobStore {
  /** The folder below which the work folders are. */
  readonly folder: string;
  readonly disk: ArchiveDisk;
  readonly work: WorkFolders;
  readonly jobs: JobTable;
  readonly sealing: Sealing;
  /** Finds the transactions of local measurements. */
  readonly finder: TransactionFinder;
  readonly intake: MediaIntake;
  /** Where the media of a job are kept that fails, for people. */
  asideOf(job: OpenJob): string;
  /** Notes that a job waits for its media, if that is not known yet. */
  noteWaiting(job: OpenJob): void;
  /** Notes how long a job has waited and been open, so that a restart restarts neither time. */
  saveTimes(job: OpenJob): void;
}

/** Takes in the media of a job. */
export interface MediaIntake {
  /** Adds stored media to a job; returns false if it accepts none any more. Rejects with ERR_STORE. */
  addItems(job: OpenJob, items: ReadonlyMap<string, StoredItem>): Promise<boolean>;
  /** Brings a medium from where it was stored for other workers. Returns false if it was not. Rejects with ERR_STORE. */
  fetchStaged(job: OpenJob, item: StoredItem): Promise<boolean>;
}
