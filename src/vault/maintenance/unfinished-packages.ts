import { dirname } from "node:path/posix";
import type { ArchiveNote } from "../../model/archive-reports.ts";
import type { PrunedPackages } from "./pruned-packages.ts";
import { isUploadLocation } from "./upload-location.ts";

/**
 * Tells what is not a package in a bucket, and not wrong: what is being uploaded, before its manifest is there, and what is
 * being deleted, after it. A package of a folder gets and loses its name in one step.
 */
export class UnfinishedPackages {
  readonly #kind: "folder" | "s3";
  readonly #pruned: Pick<PrunedPackages, "hasPath"> | undefined;
  #first: string | undefined;
  #count = 0;
  /** The last folder that was looked up: its objects come one after the other. */
  #last: { readonly folder: string; readonly isPruned: boolean } | undefined;

  constructor(kind: "folder" | "s3", pruned: Pick<PrunedPackages, "hasPath"> | undefined) {
    this.#kind = kind;
    this.#pruned = pruned;
  }

  /** Whether an object that is in no package is in such a folder. */
  async has(path: string): Promise<boolean> {
    const folder = dirname(path);
    if (this.#kind === "folder" || folder === ".") {
      return false;
    }
    if (isUploadLocation(folder) || (await this.#isPruned(folder))) {
      this.#first ??= folder;
      this.#count += 1;
      return true;
    }
    return false;
  }

  get notes(): readonly ArchiveNote[] {
    if (this.#first === undefined) {
      return [];
    }
    const [count, verb] = this.#count === 1 ? ["1 object", "belongs"] : [`${this.#count} objects`, "belong"];
    const text = `${count} ${verb} to packages that are being uploaded or deleted, or were never completed: dimensioner prune removes what is older than a day`;
    return [{ kind: "uploads", path: this.#first, text }];
  }

  async #isPruned(folder: string): Promise<boolean> {
    if (this.#last?.folder !== folder) {
      this.#last = { folder, isPruned: (await this.#pruned?.hasPath(folder)) === true };
    }
    return this.#last.isPruned;
  }
}
