import assert from "node:assert/strict";
import { join } from "node:path";
import type { Database } from "../../src/database/database.ts";
import type { SharedDatabase } from "../../src/database/store-databases.ts";
import { postgresOptions } from "../database/databases.ts";
import { rejectsWith, withFolder } from "../media/support.ts";
import { type BucketStub, startStub } from "../support/s3-stub.ts";
import { bucketOf, openSharedStore } from "./shared-store.ts";
import { type Opened, intentOf, mediumOf, openArchive } from "./support.ts";

type Transaction = Database["transaction"];

describe("archive: workers on a PostgreSQL database whose settings name different buckets", () => {
  let stub: BucketStub;

  beforeEach(async () => {
    stub = await startStub();
  });
  afterEach(() => stub.close());

  /** Opens stores on the same empty database; `change` stands between a worker and the database. */
  async function withWorkers(
    act: (
      open: (prefix: string, change?: (real: Transaction) => Transaction) => Promise<Opened>,
    ) => Promise<void>,
  ): Promise<void> {
    const options = await postgresOptions();
    await withFolder(async (folder) => {
      const databases: SharedDatabase[] = [];
      const opened: Opened[] = [];
      try {
        await act(async (prefix, change = (real) => real) => {
          const vault = bucketOf(stub.url(prefix), join(folder, `work ${databases.length}`));
          const { store, database } = await openSharedStore(vault, options, (real) => ({
            transaction: change((statements) => real.transaction(statements)),
            close: () => real.close(),
          }));
          databases.push(database);
          const one = await openArchive(folder, undefined, { store });
          opened.push(one);
          return one;
        });
      } finally {
        await Promise.all(opened.map((one) => one.close()));
        await Promise.all(databases.map((database) => database.close()));
      }
    });
  }

  const refused = (opening: Promise<Opened>) => rejectsWith(opening, "ERR_CONFIG", "storeTwoFolders");

  async function archiveOne({ runner }: Opened): Promise<void> {
    const submission = await runner.submitMedia(intentOf("1", { origin: null }), [mediumOf("1")], null);
    await submission.end();
    submission.messageSent();
  }

  it("refuses the second one, also while nothing is archived yet, and the first one goes on", async () => {
    await withWorkers(async (open) => {
      const first = await open("one");
      const { values } = await refused(open("other"));
      assert.match(String(values.name), /evidence\/one$/);
      assert.equal(values.value, "s3://evidence/other");
      await archiveOne(first);
      await (await open("one")).close();
    });
  });

  it("says to wait while jobs are open, which no copy of the bucket brings along", async () => {
    await withWorkers(async (open) => {
      const first = await open("one");
      const intent = intentOf("1", { origin: null, sequence: "s", waitMs: 60_000 });
      await first.runner.submitMedia(intent, [mediumOf("1")], { id: "s", index: 0, count: 2 });
      await first.close();
      const refusal = await rejectsWith(open("other"), "ERR_STORE", "storeJobsOpen");
      assert.match(refusal.message, /jobs are still open.+Set \S+evidence\/one again/);
    });
  });

  it("refuses one of two that look at the same moment", async () => {
    await withWorkers(async (open) => {
      const looked = Promise.withResolvers<void>();
      let looking = 0;
      // Both have read that no bucket is noted before either notes its own.
      const together =
        (real: Transaction): Transaction =>
        async (statements) => {
          const rows = await real(statements);
          if (statements[0]?.sql === "SELECT folder FROM store") {
            looking += 1;
            if (looking === 2) {
              looked.resolve();
            }
            await looked.promise;
          }
          return rows;
        };
      const ends = await Promise.allSettled([open("one", together), open("other", together)]);
      const rejected = ends.filter((end) => end.status === "rejected");
      assert.equal(rejected.length, 1);
      await refused(Promise.reject(rejected[0]?.reason as Error));
    });
  });
});
