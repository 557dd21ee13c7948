import type { ReadDisk } from "../archive-disk.ts";
import { readPruneLog } from "./prune-log.ts";
import type { SeenPackages } from "./seen-packages.ts";

/**
 * The packages that were deleted because of their age. The log is read when the first missing package is looked up, and its
 * new lines at each further one: each line is read once, however many packages are missing.
 */
export class PrunedPackages {
  readonly #stateFolder: string;
  readonly #disk: ReadDisk;
  readonly #seen: SeenPackages;
  #readTo = 0;

  constructor(stateFolder: string, disk: ReadDisk, seen: SeenPackages) {
    this.#stateFolder = stateFolder;
    this.#disk = disk;
    this.#seen = seen;
  }

  /** Whether the package with this SHA-256 of its manifest was deleted. */
  async has(sha256: string): Promise<boolean> {
    if (await this.#seen.isPruned(sha256)) {
      return true;
    }
    const before = this.#readTo;
    for await (const { entries, end } of readPruneLog(this.#stateFolder, this.#disk, before)) {
      this.#readTo = end;
      for (const entry of entries) {
        await this.#seen.addPruned(entry.sha256);
      }
    }
    return this.#readTo > before && (await this.#seen.isPruned(sha256));
  }
}
