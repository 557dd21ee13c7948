import type { ArchiveDisk } from "../archive-disk.ts";
import { PruneLog } from "./prune-log.ts";
import type { SeenPackages } from "./seen-packages.ts";

/**
 * Which packages were deleted for their age. The log is read when the first one is missed, and what has been added to it since
 * when another one is: each line is read once, however many packages are missed.
 */
export class PrunedPackages {
  readonly #log: PruneLog;
  readonly #seen: SeenPackages;
  #readTo = 0;

  constructor(stateFolder: string, disk: ArchiveDisk, seen: SeenPackages) {
    this.#log = new PruneLog(stateFolder, disk);
    this.#seen = seen;
  }

  /** By the SHA-256 of its manifest. */
  async has(sha256: string): Promise<boolean> {
    if (await this.#seen.isPruned(sha256)) {
      return true;
    }
    const before = this.#readTo;
    for await (const { entries, end } of this.#log.read(before)) {
      this.#readTo = end;
      for (const entry of entries) {
        await this.#seen.addPruned(entry.sha256);
      }
    }
    return this.#readTo > before && (await this.#seen.isPruned(sha256));
  }
}
