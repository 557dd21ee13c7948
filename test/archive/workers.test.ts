import assert from "node:assert/strict";
import { SharedDatabase } from "../../src/store/shared-database.ts";
import { RecordArrivals } from "../../src/store/record-arrivals.ts";
import { Store } from "../../src/store/store.ts";
import { rejectsWith, withFolder } from "../media/support.ts";
import { postgresOptions } from "../store/databases.ts";
import { simulatedCloudOfSuite } from "./simulated-cloud.ts";
import {
  intentOf,
  mediumOf,
  openArchive,
  pictureOf,
  readPackages,
  workFolders,
  type Opened,
} from "./support.ts";

interface Worker extends Opened {
  readonly id: string;
  /** Ends its lease, as if it had not been renewed for a minute. */
  endLease(): Promise<void>;
}

describe("archive: several workers on one PostgreSQL database and one folder", () => {
  const cloud = simulatedCloudOfSuite();
  const isMine = () => true;

  async function withWorkers(
    act: (open: () => Promise<Worker>, root: string) => Promise<void>,
  ): Promise<void> {
    const options = await postgresOptions();
    const workers: Worker[] = [];
    await withFolder(async (root) => {
      const open = async (): Promise<Worker> => {
        const database = await SharedDatabase.open(options);
        const { worker } = database;
        const lease = { database, worker, arrivals: new RecordArrivals(), release: () => database.close() };
        const store = new Store(options.address.name, { path: root }, { open: async () => lease });
        const opened = {
          ...(await openArchive(root, cloud.client, { store })),
          id: worker.id,
          async endLease() {
            const sql = "UPDATE workers SET lease_until = '' WHERE worker_id = ?";
            await database.transaction([{ sql, values: [worker.id] }]);
          },
        };
        workers.push(opened);
        return opened;
      };
      try {
        await act(open, root);
      } finally {
        await Promise.all(workers.map((one) => one.close()));
      }
    });
  }

  it("one takes over what another one has begun, and that one disturbs nothing when it goes on", async () => {
    await withWorkers(async (open, root) => {
      const [first, second] = [await open(), await open()];
      const waiting = await first.runner.submit(
        intentOf("waiting", { origin: cloud.client.peer.origin, waitMs: 60_000 }),
      );
      const part = { id: "sequence", index: 0, count: 2 };
      const begun = intentOf("parts", { origin: null, sequence: part.id, waitMs: 100, onIncomplete: "keep" });
      const sequence = await first.runner.submitMedia(begun, [mediumOf("first part")], part);
      assert.deepEqual(await second.archive.takeOver({ node: "node", isMine }), {
        count: 0,
        damagedJobs: [],
      });
      await first.endLease();
      assert.equal((await second.archive.takeOver({ node: "node", isMine })).count, 2);
      cloud.sim.cloud.addMedia("waiting", { contentType: "image/jpeg", bytes: pictureOf("waiting") });
      const taken = [...second.runner.resume(isMine)];
      assert.deepEqual(
        taken.map(({ isResumed }) => isResumed),
        [true, true],
      );
      for (const submission of taken) {
        assert.equal((await submission.end()).wasThere, false);
        submission.messageSent();
      }
      for (const submission of [waiting, sequence]) {
        const error = await rejectsWith(submission.end(), "ERR_CANCELLED", "cancelledTaken");
        submission.messageSent(error);
      }
      const packages = [...(await readPackages(root)).values()];
      assert.deepEqual(
        packages.map(({ transactionId, items, store }) => [transactionId, items.length, store]).toSorted(),
        [
          ["parts", 1, second.id],
          ["waiting", 1, second.id],
        ],
      );
    });
  });

  it("one that is stopped leaves its jobs to the others at once", async () => {
    await withWorkers(async (open, root) => {
      const [first, second] = [await open(), await open()];
      cloud.sim.cloud.addMedia("left", { contentType: "image/jpeg", bytes: pictureOf("left") });
      const submission = await first.runner.submit(
        intentOf("left", { origin: cloud.client.peer.origin, settleMs: 60_000 }),
      );
      await submission.running?.firstTry;
      const kept = rejectsWith(submission.end(), "ERR_CANCELLED", "cancelledKept");
      await first.close();
      await kept;
      assert.equal((await second.archive.takeOver({ node: "node", isMine })).count, 1);
      const [resumed] = second.runner.resume(isMine);
      assert.deepEqual([...(resumed?.running?.job.items.values() ?? [])].length, 1);
      resumed?.running?.drop();
      const error = await rejectsWith(resumed?.end() ?? assert.fail(), "ERR_CANCELLED", "cancelledReset");
      resumed?.messageSent(error);
      await second.close();
      assert.deepEqual(await workFolders(root), []);
    });
  });
});
