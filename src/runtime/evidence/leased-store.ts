import { openFiles } from "../../vault/files/open-files.ts";
import type { ArchiveFiles } from "../../vault/files/archive-files.ts";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { guardedDisk } from "../../media/disk-guard.ts";
import type { BucketLocation, FilesLocation } from "../../vault/files-location.ts";
import type { DatabaseLease } from "../../database/store-databases.ts";
import type { Store } from "../../vault/store.ts";

/**
 * The database and the packages of a store as one node uses them, from its first message to its close: opening the database
 * for each message would check the whole file each time, and opening a bucket would ask for credentials and connect each time.
 */
export class LeasedStore {
  readonly #store: () => Store;
  readonly #closing = new AbortController();
  #lease: Promise<DatabaseLease> | undefined;
  #bucket: Promise<ArchiveFiles> | undefined;

  constructor(store: () => Store) {
    this.#store = store;
  }

  /** Rejects with ERR_STORE or ERR_CONFIG; the next call tries it again. */
  async open(): Promise<DatabaseLease> {
    const opening = (this.#lease ??= this.#store().lease());
    try {
      return await opening;
    } catch (error) {
      if (this.#lease === opening) {
        this.#lease = undefined;
      }
      throw error;
    } finally {
      if (this.#closing.signal.aborted) {
        void this.close();
      }
    }
  }

  /** Opens the packages of the store. Nobody else closes them. A folder is looked for each time; rejects with ERR_FILE. */
  async openFiles(location: FilesLocation): Promise<ArchiveFiles> {
    return location.kind === "folder"
      ? await openFiles(location, { disk: guardedDisk(location.path) })
      : await this.#openBucket(location);
  }

  /** Ends all requests to a bucket with ERR_CANCELLED. */
  async close(): Promise<void> {
    this.#closing.abort(new DimensionerError("cancelledClose", { surface: "store", operation: "evidence" }));
    const [openedLease, openedBucket] = [this.#lease, this.#bucket];
    this.#lease = undefined;
    this.#bucket = undefined;
    const bucket = await openedBucket?.catch(() => undefined);
    await bucket?.close();
    const lease = await openedLease?.catch(() => undefined);
    await lease?.release();
  }

  async #openBucket(location: BucketLocation): Promise<ArchiveFiles> {
    const { signal } = this.#closing;
    const opening = (this.#bucket ??= openFiles(location, { signal }));
    try {
      return await opening;
    } catch (error) {
      if (this.#bucket === opening) {
        this.#bucket = undefined;
      }
      throw error;
    } finally {
      if (signal.aborted) {
        void this.close();
      }
    }
  }
}
