import type { DatabaseLease } from "../../store/store-databases.ts";
import type { Store } from "../../store/store.ts";

/**
 * The database of a store as one node uses it, from its first message to its close: opening it for each message would
 * check the whole file each time.
 */
export class LeasedStore {
  readonly #store: () => Store;
  #lease: Promise<DatabaseLease> | undefined;
  #isClosed = false;

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
      if (this.#isClosed) {
        void this.close();
      }
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const opened = this.#lease;
    this.#lease = undefined;
    const lease = await opened?.catch(() => undefined);
    await lease?.release();
  }
}
