import assert from "node:assert/strict";
import { join } from "node:path";
import type { DatabaseLocation } from "../../src/database/database.ts";
import { StoreDatabases } from "../../src/database/store-databases.ts";
import { Archives } from "../../src/jobs/archive.ts";
import { Store } from "../../src/vault/store.ts";
import { postgresOptions } from "../database/databases.ts";
import { rejectsWith, withFolder } from "../media/support.ts";
import { verify } from "./packages.ts";
import { simulatedCloudOfSuite } from "./simulated-cloud.ts";
import { type Opened, intentOf, mediumOf, openArchive, pictureOf, readPackages, until } from "./support.ts";

/** A process with the archive of a store on PostgreSQL, which a deploy closes and opens again. */
interface Process {
  readonly store: Store;
  open(): Promise<Opened>;
}

describe("archive: a deploy of one of several workers on a PostgreSQL database", () => {
  const cloud = simulatedCloudOfSuite();
  const taker = { node: "node", isMine: () => true };

  const startProcess = (root: string, location: DatabaseLocation, giveBackMs?: number): Process => {
    const archives = new Archives(giveBackMs === undefined ? {} : { giveBackMs });
    const store = new Store(location, { kind: "folder", path: root }, new StoreDatabases());
    return { store, open: () => openArchive(root, cloud.client, { store, archives }) };
  };

  async function withProcesses(
    act: (start: (giveBackMs?: number) => Process, root: string, url: string) => Promise<void>,
  ): Promise<void> {
    const { address } = await postgresOptions();
    await withFolder((root) =>
      act((giveBackMs) => startProcess(root, { kind: "postgres", address }, giveBackMs), root, address.url),
    );
  }

  /** One of the two parts of a message. */
  function submitPart({ runner }: Opened, index: 0 | 1): ReturnType<Opened["runner"]["submitMedia"]> {
    const part = { id: "sequence", index, count: 2 };
    const intent = intentOf("parts", {
      origin: null,
      sequence: part.id,
      waitMs: 60_000,
      onIncomplete: "keep",
    });
    return runner.submitMedia(intent, [mediumOf(index === 0 ? "first part" : "second part")], part);
  }

  /** The first part of a message that waits for its second one: its medium is nowhere else. */
  async function beginSequence(opened: Opened): Promise<{ readonly kept: Promise<unknown> }> {
    const submission = await submitPart(opened, 0);
    return { kept: rejectsWith(submission.end(), "ERR_CANCELLED", "cancelledKept") };
  }

  async function endPart(opened: Opened): Promise<void> {
    const submission = await submitPart(opened, 1);
    await submission.end();
    submission.messageSent();
  }

  it("keeps its jobs, which it goes on with as the same worker, and in the same chain", async () => {
    await withProcesses(async (start, root, url) => {
      const [first, second] = [start(), start()];
      const [before, other] = [await first.open(), await second.open()];
      const alone = await before.runner.submitMedia(
        intentOf("alone", { origin: null }),
        [mediumOf("1")],
        null,
      );
      await alone.end();
      alone.messageSent();
      const waiting = await before.runner.submit(
        intentOf("waiting", { origin: cloud.client.peer.origin, waitMs: 60_000 }),
      );
      const kept = rejectsWith(waiting.end(), "ERR_CANCELLED", "cancelledKept");
      const sequence = await beginSequence(before);
      await before.close();
      await Promise.all([kept, sequence.kept]);
      assert.deepEqual(await other.archive.takeOver(taker), {
        count: 0,
        mayHaveMore: false,
        damagedJobs: [],
        elsewhere: [],
      });

      const after = await first.open();
      assert.deepEqual(after.findings, {
        movedAside: [],
        damagedJobs: [],
        elsewhere: [],
        unknownMedia: null,
      });
      cloud.sim.cloud.addMedia("waiting", { contentType: "image/jpeg", bytes: pictureOf("waiting") });
      const resumed = [...after.runner.resume(() => true)];
      assert.equal(resumed.length, 2);
      await endPart(after);
      for (const submission of resumed) {
        await submission.end();
        submission.messageSent();
      }
      await Promise.all([after.close(), other.close()]);
      const packages = [...(await readPackages(root)).values()];
      assert.equal(packages.length, 3);
      assert.equal(new Set(packages.map(({ store }) => store)).size, 1);
      assert.equal((await verify(root, url)).report.verdict, "ok");
    });
  });

  it("leaves alone the media of a job that another worker has taken, because the deploy took too long", async () => {
    await withProcesses(async (start, root, url) => {
      const [first, second] = [start(), start()];
      const [before, other] = [await first.open(), await second.open()];
      const sequence = await beginSequence(before);
      await before.close();
      await sequence.kept;
      const connection = await second.store.connect();
      const sql = "UPDATE workers SET lease_until = '' WHERE worker_id <> ?";
      await connection.database.transaction([{ sql, values: [connection.worker.id] }]);
      assert.equal((await other.archive.takeOver(taker)).count, 1);

      // The other worker has the job, and the first one still its folder.
      const after = await first.open();
      assert.deepEqual(after.findings, {
        movedAside: [],
        damagedJobs: [],
        elsewhere: [],
        unknownMedia: null,
      });
      assert.deepEqual([...after.runner.resume(() => true)], []);
      assert.equal([...other.runner.resume(() => true)].length, 1);
      await endPart(other);
      await Promise.all([after.close(), other.close(), connection.release()]);
      const packages = [...(await readPackages(root)).values()];
      assert.deepEqual(
        packages.map(({ items }) => items.length),
        [2],
      );
      assert.equal((await verify(root, url)).report.verdict, "ok");
    });
  });

  it("that removes the archive leaves its jobs to the others, also if other nodes keep the database open", async () => {
    await withProcesses(async (start) => {
      const [first, second] = [start(50), start()];
      const [before, other] = [await first.open(), await second.open()];
      const connection = await first.store.connect();
      const sequence = await beginSequence(before);
      await before.close();
      await sequence.kept;
      await until(async () => (await other.archive.takeOver(taker)).count === 1, "the job was given back");
      await Promise.all([other.close(), connection.release()]);
    });
  });

  it("that cannot open the archive again, because its folder is missing, leaves its jobs to the others", async () => {
    const { address } = await postgresOptions();
    const location = { kind: "postgres", address } as const;
    await withFolder(async (root) => {
      const [archives, databases] = [new Archives({ giveBackMs: 50 }), new StoreDatabases()];
      const before = await openArchive(root, cloud.client, {
        store: new Store(location, { kind: "folder", path: root }, databases),
        archives,
      });
      const other = await startProcess(root, location).open();
      // Other nodes keep the database open, and so its lease.
      const connection = await databases.open(location);
      const sequence = await beginSequence(before);
      await before.close();
      await sequence.kept;

      // It is being opened when the time to give the jobs back has come.
      const opened = Promise.withResolvers<void>();
      const slow = { open: (at: DatabaseLocation) => opened.promise.then(() => databases.open(at)) };
      const opening = archives.open(
        new Store(location, { kind: "folder", path: join(root, "not-mounted") }, slow),
      );
      const closedAt = performance.now();
      await until(() => performance.now() - closedAt > 200, "the time to give back has passed");
      assert.equal((await other.archive.takeOver(taker)).count, 0);
      opened.resolve();
      await rejectsWith(opening, "ERR_FILE", "fileNoFolder");
      await until(async () => (await other.archive.takeOver(taker)).count === 1, "the job was given back");
      await Promise.all([other.close(), connection.release()]);
    });
  });

  it("that gives a second store the same database with another folder is refused, and the first one goes on", async () => {
    const { address } = await postgresOptions();
    const location = { kind: "postgres", address } as const;
    await withFolder((root) =>
      withFolder(async (other) => {
        const [archives, databases] = [new Archives(), new StoreDatabases()];
        const store = new Store(location, { kind: "folder", path: root }, databases);
        const opened = await openArchive(root, cloud.client, { store, archives });
        const second = new Store(location, { kind: "folder", path: other }, databases);
        const { values } = await rejectsWith(archives.open(second), "ERR_CONFIG", "storeTwoFolders");
        assert.deepEqual([values.name, values.value], [root, other]);
        const same = await archives.open(
          new Store(location, { kind: "folder", path: `${root}/` }, databases),
        );
        assert.equal(same.archive, opened.archive);
        await Promise.all([same.release(), opened.close()]);
      }),
    );
  });

  it("that opens the archive again takes no jobs away from it later", async () => {
    await withProcesses(async (start) => {
      const process = start(50);
      const before = await process.open();
      const sequence = await beginSequence(before);
      await before.close();
      await sequence.kept;
      const after = await process.open();
      const connection = await process.store.connect();
      const jobs = [{ sql: "SELECT worker_id FROM jobs" }];
      const openedAt = performance.now();
      await until(async () => {
        assert.deepEqual(await connection.database.transaction(jobs), [
          [{ worker_id: connection.worker.id }],
        ]);
        return performance.now() - openedAt > 200;
      }, "the time to give back has passed");
      await Promise.all([after.close(), connection.release()]);
    });
  });
});
