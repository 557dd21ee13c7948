import type { ReadDisk } from "../archive-disk.ts";
import { PruneLogReader } from "./prune-log.ts";
import type { SeenPackages } from "./seen-packages.ts";

/**
 * The packages that were deleted because of their age. The log is read when the first missing package is looked up, and its
 * new lines at each further one: each line is read once, however many packages are missing.
 */
export class PrunedPackages {
  readonly #log: PruneLogReader;
  readonly #seen: SeenPackages;
  #reading: Promise<void> = Promise.resolve();

  constructor(root: string, disk: ReadDisk, seen: SeenPackages) {
    this.#log = new PruneLogReader(root, disk);
    this.#seen = seen;
  }

  /** Whether the package with this SHA-256 of its manifest was deleted. */
  async has(sha256: string): Promise<boolean> {
    return await this.#isNoted(() => this.#seen.isPruned(sha256));
  }

  /** Whether a package at this path was deleted. */
  async hasPath(path: string): Promise<boolean> {
    return await this.#isNoted(() => this.#seen.isPrunedPath(path));
  }

  /** Whether this is a copy that has kept the package, which was deleted in the folder that was copied. */
  async isKeptCopy(sha256: string): Promise<boolean> {
    return await this.#isNoted(() => this.#seen.isKeptCopy(sha256));
  }

  async #isNoted(look: () => Promise<boolean>): Promise<boolean> {
    if (await look()) {
      return true;
    }
    // One after the other: who comes second must not look before the lines of the first one are noted.
    const read = this.#reading.then(() => this.#readOn());
    this.#reading = read.catch(() => undefined);
    await read;
    return await look();
  }

  async #readOn(): Promise<void> {
    for await (const entries of this.#log.read()) {
      for (const { sha256, path, kept, copy } of entries) {
        await (kept === true ? this.#seen.removePruned(sha256) : this.#seen.addPruned(sha256, path));
        if (copy === true) {
          await this.#seen.addKeptCopy(sha256);
        }
      }
    }
  }
}
