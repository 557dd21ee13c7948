import type { ArchiveDisk } from "../archive-disk.ts";
import type { TransactionFinder } from "../find/transaction-finder.ts";
import type { StoredItem } from "../packages/intent.ts";
import type { JobTable } from "./job-table.ts";
import type { OpenJob } from "./open-job.ts";
import type { Sealing } from "./sealing.ts";
import type { WorkFolders } from "./work-folders.ts";

/** What the work on a job needs of its archive. */
export interface JobStore {
  /** The store's folder. */
  readonly folder: string;
  readonly disk: ArchiveDisk;
  readonly work: WorkFolders;
  readonly jobs: JobTable;
  readonly sealing: Sealing;
  /** Finds the transactions of local measurements. */
  readonly finder: TransactionFinder;
  /** Makes media that are whole on the disk part of a job; false where it takes none any more. Rejects with ERR_STORE. */
  addItems(job: OpenJob, items: ReadonlyMap<string, StoredItem>): Promise<boolean>;
  /** Notes that a job waits for its media, if that is not known yet. */
  noteWaiting(job: OpenJob): void;
  /** Remembers how long a job has waited and been open, so that a restart begins neither anew. */
  saveTimes(job: OpenJob): void;
}
