import assert from "node:assert/strict";
import { assertLogged, readLogged } from "./logged.ts";
import { mkdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { missingMedia } from "../../src/cloud/expected-media.ts";
import { readPostgresUrl } from "../../src/database/postgres-address.ts";
import { Archives } from "../../src/jobs/archive.ts";
import type { Submission } from "../../src/jobs/runner.ts";
import { ArchiveSession } from "../../src/runtime/archive/session.ts";
import { postgresOptions } from "../database/databases.ts";
import { rejectsWith, withFolder } from "../media/support.ts";
import { verify } from "./packages.ts";
import { ScriptedDevice } from "./scripted-sources.ts";
import { openSharedStore } from "./shared-store.ts";
import { simulatedCloudOfSuite } from "./simulated-cloud.ts";
import {
  type Opened,
  intentOf,
  mediumOf,
  openArchive,
  pictureOf,
  readPackages,
  sha256Of,
  until,
  workFolders,
} from "./support.ts";

interface Worker extends Opened {
  readonly id: string;
  query(sql: string): Promise<readonly unknown[]>;
  /** Ends its lease, as if it had not been renewed for a minute. */
  endLease(): Promise<void>;
}

describe("archive: several workers on one PostgreSQL database and one folder", () => {
  const cloud = simulatedCloudOfSuite();
  const isMine = () => true;

  /** Takes over so many jobs. What their worker notes at the same moment is locked, and left out. */
  async function takeAll({ archive }: Worker, count: number): Promise<void> {
    let taken = 0;
    await until(async () => {
      taken += (await archive.takeOver({ node: "node", isMine })).count;
      return taken >= count;
    }, "the jobs are taken over");
    assert.equal(taken, count);
  }

  async function withWorkers(
    act: (open: (device?: ScriptedDevice) => Promise<Worker>, root: string, url: string) => Promise<void>,
  ): Promise<void> {
    // No lease is renewed after a test has ended it, and a worker that is closed has ended its own, however long that takes.
    const options = { ...(await postgresOptions()), leaseSeconds: 3_600, closeWithinMs: 60_000 };
    const workers: Worker[] = [];
    await withFolder(async (root) => {
      const open = async (device = new ScriptedDevice()): Promise<Worker> => {
        const { store, database } = await openSharedStore(root, options);
        const { worker } = database;
        const opened = {
          ...(await openArchive(root, cloud.client, { store, device: () => device })),
          id: worker.id,
          query: async (sql: string) => (await database.transaction([{ sql }]))[0] ?? [],
          async endLease() {
            const sql = "UPDATE workers SET lease_until = '' WHERE worker_id = ?";
            await database.transaction([{ sql, values: [worker.id] }]);
          },
        };
        workers.push(opened);
        return opened;
      };
      try {
        await act(open, root, options.address.url);
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
      const begun = intentOf("parts", { origin: null, sequence: part.id, waitMs: 60_000 });
      const sequence = await first.runner.submitMedia(begun, [mediumOf("first part")], part);
      assert.deepEqual(await second.archive.takeOver({ node: "node", isMine }), {
        count: 0,
        mayHaveMore: false,
        damagedJobs: [],
      });
      await first.endLease();
      await takeAll(second, 2);
      // The same part once more, which says now that it is the only one: the sequence waits for nothing any more.
      await first.runner.submitMedia(begun, [mediumOf("first part")], { ...part, count: 1 });
      sequence.messageSent(await rejectsWith(sequence.end(), "ERR_CANCELLED", "cancelledTaken"));
      cloud.sim.cloud.addMedia("waiting", { contentType: "image/jpeg", bytes: pictureOf("waiting") });
      const taken = [...second.runner.resume(isMine)];
      assert.deepEqual(
        taken.map(({ isResumed }) => isResumed),
        [true, true],
      );
      const last = { ...part, index: 1 };
      taken.push(await second.runner.submitMedia(begun, [mediumOf("last part")], last));
      for (const submission of taken) {
        assert.equal((await submission.end()).wasThere, false);
        submission.messageSent();
      }
      waiting.messageSent(await rejectsWith(waiting.end(), "ERR_CANCELLED", "cancelledTaken"));
      const packages = [...(await readPackages(root)).values()];
      assert.deepEqual(packages.map(({ transactionId, items }) => [transactionId, items.length]).toSorted(), [
        ["parts", 2],
        ["waiting", 1],
      ]);
    });
  });

  it("one takes over what another one has stored of a device and could not note", async () => {
    await withWorkers(async (open, root) => {
      const [first, second] = [await open(new ScriptedDevice("color")), await open()];
      await first.query("ALTER TABLE job_media ADD CONSTRAINT none CHECK (false) NOT VALID");
      const begun = await first.runner.submit({
        ...intentOf("1", { origin: null, media: "none", raw: "{}", waitMs: 60_000 }),
        measuredBy: { id: "dock", name: "Dock", imageIdentifier: "i-1", images: ["color"], videoAt: null },
      });
      await until(() => begun.running?.state === "trouble", "it cannot be noted");
      await first.endLease();
      await takeAll(second, 1);
      await first.query("ALTER TABLE job_media DROP CONSTRAINT none");
      begun.messageSent(await rejectsWith(begun.end(), "ERR_CANCELLED", "cancelledTaken"));
      const [resumed] = second.runner.resume(isMine);
      const { manifest } = await (resumed ?? assert.fail("no job")).end();
      resumed?.messageSent();
      assert.deepEqual(
        manifest.items.map(({ description, sha256 }) => [description, sha256]),
        [["color", sha256Of(pictureOf("color of i-1"))]],
      );
      assert.equal((await readPackages(root)).size, 1);
      await second.close();
      const left = join(root, ".dimensioner-archive", "work", first.id, begun.running?.job.id ?? "", "media");
      const old = new Date(Date.now() - 25 * 3_600_000);
      /** Leaves a medium as the first worker does if it goes on for a moment. */
      const leave = async (picture: Buffer): Promise<void> => {
        await mkdir(left, { recursive: true });
        await writeFile(join(left, "color.jpg"), picture);
        await writeFile(join(left, "color.jpg.item"), "{}");
        await utimes(dirname(left), old, old);
      };
      await leave(pictureOf("color of i-1"));
      const third = await open();
      assert.deepEqual(third.findings.movedAside, []);
      assert.deepEqual(await workFolders(root), []);
      await third.close();
      await leave(pictureOf("what the package does not have"));
      const [aside = assert.fail("it is gone"), ...more] = (await open()).findings.movedAside;
      assert.deepEqual(more, []);
      assert.deepEqual(
        await readFile(join(aside, "media", "color.jpg")),
        pictureOf("what the package does not have"),
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

  it("write one log", async () => {
    await withWorkers(async (open, root, url) => {
      const [first, second] = [await open(), await open()];
      const paths: string[] = [];
      for (const [index, { runner }] of [first, second, first, second].entries()) {
        const intent = intentOf(`m${index}`, { origin: null });
        const submission = await runner.submitMedia(intent, [mediumOf(`m${index}`)], null);
        paths.push((await submission.end()).path);
        submission.messageSent();
      }
      const stores = [...(await readPackages(root)).values()].map(({ store }) => store);
      assert.equal(new Set(stores).size, 1, "the ID of the store");
      assertLogged(await readLogged(root), paths);
      const { report, said } = await verify(root, url);
      assert.deepEqual([report.verdict, said], ["ok", []]);
      await first.query(`DELETE FROM packages WHERE location = '${paths[0]}'`);
      await rm(join(root, paths[3] ?? ""), { recursive: true });
      assert.deepEqual((await verify(root, url)).said.toSorted(), [
        `missing-package ${paths[3]}`,
        `unlisted ${paths[0]}`,
      ]);
    });
  });

  it("one takes over some jobs at once, so that others take some as well, and knows whether there are more", async () => {
    await withWorkers(async (open) => {
      const [first, second] = [await open(), await open()];
      const { origin } = cloud.client.peer;
      await Promise.all(
        Array.from({ length: 51 }, (_, index) =>
          first.runner.submit(intentOf(`waiting ${index}`, { origin, waitMs: 60_000 })),
        ),
      );
      // A row that is being written while others are taken is left out.
      const begun = () => first.query("SELECT job_id FROM jobs WHERE state = 'accepted'");
      await until(async () => (await begun()).length === 0, "all of them wait");
      await first.endLease();
      const take = async () => {
        const { count, mayHaveMore } = await second.archive.takeOver({ node: "node", isMine });
        return [count, mayHaveMore];
      };
      assert.deepEqual(
        [await take(), await take()],
        [
          [50, true],
          [1, false],
        ],
      );
    });
  });

  it("a node takes over its jobs by itself, and says which rows were changed", async () => {
    await withWorkers(async (open, root, url) => {
      const first = await open();
      cloud.sim.cloud.addMedia("taken", { contentType: "image/jpeg", bytes: pictureOf("taken") });
      const { origin } = cloud.client.peer;
      const ids = ["damaged", "taken"];
      await Promise.all(
        ids.map((id) => first.runner.submit(intentOf(id, { origin, waitMs: 60_000, settleMs: 60_000 }))),
      );
      await first.query("UPDATE jobs SET intent = '' WHERE transaction_id = 'damaged'");
      await first.endLease();
      const { store } = await openSharedStore(root, { address: readPostgresUrl(url) });
      const resumed = Promise.withResolvers<Submission>();
      const damaged = Promise.withResolvers<readonly string[]>();
      const session = new ArchiveSession(new Archives(), {
        node: "node",
        store: () => store,
        concurrency: () => 1,
        cloud: () => cloud.client,
        device: () => assert.fail("no device was given"),
        findMissing: missingMedia,
        isMine,
        onResumed: async (submission) => resumed.resolve(submission),
        onResumeError: (error) => resumed.reject(error),
        onAway: () => undefined,
        onFindings: ({ damagedJobs }) => {
          if (damagedJobs.length > 0) {
            damaged.resolve(damagedJobs);
          }
        },
      });
      await session.open();
      assert.equal((await resumed.promise).running?.job.transactionId, "taken");
      assert.equal((await damaged.promise).length, 1);
      await session.close();
    });
  });

  it("tidy up together what one has left, and leave alone what is less than a day old", async () => {
    await withWorkers(async (open, root) => {
      const first = await open();
      const folderOf = (job: string) => join(root, ".dimensioner-archive", "work", first.id, job);
      const old = new Date(Date.now() - 25 * 3_600_000);
      const jobs = Array.from({ length: 20 }, (_, number) => `old-${number}`);
      for (const job of ["new", ...jobs]) {
        await mkdir(join(folderOf(job), "media"), { recursive: true });
        await writeFile(join(folderOf(job), "media", "item.jpg"), job);
        await (job === "new" ? undefined : utimes(folderOf(job), old, old));
      }
      await first.endLease();
      const others = await Promise.all([open(), open(), open()]);
      const aside = others.flatMap(({ findings }) => findings.movedAside.map((path) => basename(path)));
      assert.deepEqual(aside.toSorted(), jobs.toSorted());
      assert.deepEqual(await workFolders(root), ["new"]);
    });
  });
});
