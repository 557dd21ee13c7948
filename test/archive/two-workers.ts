import { openSharedStore } from "./shared-store.ts";
import type { postgresOptions } from "../database/databases.ts";
import { intentOf, mediumOf, openArchive, until } from "./support.ts";

/** Two workers that share a store, each with a chain of its own. */
export interface TwoWorkers {
  /** Archives a package in the chain of one of them, and returns its path below the root. The clock has gone on afterwards. */
  archive(worker: 0 | 1, id: string): Promise<string>;
  close(): Promise<void>;
}

export async function openTwoWorkers(
  root: string,
  options: Awaited<ReturnType<typeof postgresOptions>>,
): Promise<TwoWorkers> {
  const open = async () => {
    const { store } = await openSharedStore(root, options);
    return await openArchive(root, undefined, { store });
  };
  const workers = [await open(), await open()] as const;
  return {
    archive: async (worker, id) => {
      const { runner } = workers[worker];
      const submission = await runner.submitMedia(intentOf(id, { origin: null }), [mediumOf(id)], null);
      const { path } = await submission.end();
      submission.messageSent();
      const archivedBy = Date.now();
      await until(() => Date.now() > archivedBy, "the clock goes on");
      return path;
    },
    close: async () => {
      await Promise.all(workers.map((one) => one.close()));
    },
  };
}
