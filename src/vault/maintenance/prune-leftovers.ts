import { isDimensionerError } from "../../errors/dimensioner-error.ts";
import type { PrunedPackage } from "../../model/archive-reports.ts";
import type { Database } from "../../database/database.ts";
import type { ToolThread } from "../../database/tool-database.ts";
import type { BucketFiles } from "../files/bucket-files.ts";
import { removeUploads } from "./bucket-leftovers.ts";
import { findDatabases } from "./find-databases.ts";
import { hasUploads, openForTool } from "./index-source.ts";
import { removeInterrupted } from "./interrupted-requests.ts";
import type { LeftoverDatabase } from "./leftover-rows.ts";
import { ListedLeftovers } from "./listed-leftovers.ts";
import type { OpenedPlace } from "./open-place.ts";
import type { LeftoverOptions } from "./remove-leftover.ts";

interface LeftoverPruningOptions extends LeftoverOptions {
  /** The database of the store, or the folder that contains those of all stores that use the bucket. */
  readonly database: string | undefined;
  /** Files are opened in it. */
  readonly thread: ToolThread;
}

/**
 * Removes what is left in a bucket and belongs to no package. Without a database, only what is left of deleted packages is
 * removed: it does not show from the bucket alone what else is needed.
 */
export class LeftoverPruning {
  readonly #place: OpenedPlace;
  readonly #files: BucketFiles;
  readonly #options: LeftoverPruningOptions;
  #problem: string | null = null;

  constructor(place: OpenedPlace, files: BucketFiles, options: LeftoverPruningOptions) {
    this.#place = place;
    this.#files = files;
    this.#options = options;
  }

  /** Why it has ended early; null if it has not. */
  get problem(): string | null {
    return this.#problem;
  }

  async *run(): AsyncGenerator<PrunedPackage> {
    const opened: Database[] = [];
    try {
      yield* this.#remove(await this.#open(opened));
    } catch (error) {
      this.#options.signal?.throwIfAborted();
      if (!isDimensionerError(error)) {
        throw error;
      }
      this.#problem = error.message;
    } finally {
      await Promise.all(opened.map((one) => one.close()));
    }
  }

  async *#remove(databases: readonly LeftoverDatabase[]): AsyncGenerator<PrunedPackage> {
    const { root, start } = this.#place;
    if (start === root) {
      for (const { database } of databases.filter((one) => one.hasUploads)) {
        yield* removeUploads({ files: this.#files, database }, this.#options);
      }
    }
    yield* new ListedLeftovers({ files: this.#files, start }, databases, this.#options).run();
    if (start === root && this.#options.isDryRun !== true) {
      await removeInterrupted(this.#files, this.#options.beforeMs);
    }
  }

  async #open(opened: Database[]): Promise<readonly LeftoverDatabase[]> {
    const { database: given, isDryRun, thread } = this.#options;
    const { key, location } = this.#place;
    const databases: LeftoverDatabase[] = [];
    for (const one of given === undefined
      ? []
      : await findDatabases(given, { key, name: location }, thread)) {
      const database = await openForTool(one, isDryRun === true ? "read" : "write", thread);
      opened.push(database);
      databases.push({ database, hasUploads: await hasUploads(one, database) });
    }
    return databases;
  }
}
