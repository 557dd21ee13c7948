import type { MediaFolders } from "../../media/media-folders.ts";
import type { ArchiveDisk } from "../archive-disk.ts";
import type { OpenJob } from "../journal/open-job.ts";
import type { Packages } from "../packages/packages.ts";
import type { StoredItem } from "../packages/records.ts";
import type { WorkFolders } from "./work-folders.ts";

/** What the work on a job needs of its archive. */
export interface JobStore {
  readonly disk: ArchiveDisk;
  readonly folders: MediaFolders;
  readonly work: WorkFolders;
  readonly packages: Packages;
  /** Remembers a medium that is whole on the disk; `isPromise` for one that nobody can fetch again. */
  addItem(job: OpenJob, slot: string, item: StoredItem, isPromise: boolean): Promise<void>;
  /** Remembers how long a job has waited, so that a restart does not begin the wait anew. */
  saveWait(job: OpenJob): void;
}
