import assert from "node:assert/strict";
import { assertLogged, readLogged } from "./logged.ts";
import { cp, mkdir, readFile, readdir, rename, rm, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { missingMedia } from "../../src/cloud/expected-media.ts";
import { readPostgresUrl } from "../../src/database/postgres-address.ts";
import { isDimensionerError } from "../../src/errors/dimensioner-error.ts";
import { Archives, type OpeningFindings } from "../../src/jobs/archive.ts";
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

  const computerOf = (root: string, computer: number): string => join(root, "..", `computer ${computer}`);
  /** What is left with the packages for other workers. */
  const staged = async (root: string): Promise<readonly string[]> =>
    readdir(join(root, ".dimensioner-archive", "work")).catch(() => []);

  async function withWorkers(
    act: (
      open: (device?: ScriptedDevice, computer?: number) => Promise<Worker>,
      root: string,
      url: string,
    ) => Promise<void>,
  ): Promise<void> {
    // No lease is renewed after a test has ended it, and a worker that is closed has ended its own, however long that takes.
    const options = { ...(await postgresOptions()), leaseSeconds: 3_600, closeWithinMs: 60_000 };
    const workers: Worker[] = [];
    await withFolder(async (folder) => {
      const root = join(folder, "packages");
      await mkdir(root);
      // Unless it is said, each is another computer, which does not have the disk of the others.
      const open = async (device = new ScriptedDevice(), computer = workers.length): Promise<Worker> => {
        const workFolder = computerOf(root, computer);
        const { store, database } = await openSharedStore(
          { kind: "folder", path: root, workFolder },
          options,
        );
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
        elsewhere: [],
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
      assert.deepEqual(await staged(root), []);
      const computer = computerOf(root, 0);
      const left = join(
        computer,
        ".dimensioner-archive",
        "work",
        first.id,
        begun.running?.job.id ?? "",
        "media",
      );
      const old = new Date(Date.now() - 25 * 3_600_000);
      /** Leaves a medium as the first worker does if it goes on for a moment. */
      const leave = async (picture: Buffer): Promise<void> => {
        await mkdir(left, { recursive: true });
        await writeFile(join(left, "color.jpg"), picture);
        await writeFile(join(left, "color.jpg.item"), "{}");
        await utimes(dirname(left), old, old);
      };
      await leave(pictureOf("color of i-1"));
      const third = await open(undefined, 0);
      assert.deepEqual(third.findings.movedAside, []);
      assert.deepEqual(await workFolders(computer), []);
      await third.close();
      await leave(pictureOf("what the package does not have"));
      const [aside = assert.fail("it is gone"), ...more] = (await open(undefined, 0)).findings.movedAside;
      assert.deepEqual(more, []);
      assert.deepEqual(
        await readFile(join(aside, "media", "color.jpg")),
        pictureOf("what the package does not have"),
      );
    });
  });

  it("collect while the folder is away, and bring what they have to the others as soon as it is back", async () => {
    await withWorkers(async (open, root) => {
      const device = new ScriptedDevice("color");
      const [first, second] = [await open(device), await open()];
      // The share is there and has been used, and then it is not.
      const begin = await first.runner.submitMedia(intentOf("0", { origin: null }), [mediumOf("0")], null);
      await begin.end();
      begin.messageSent();
      await rename(root, `${root} away`);
      const begun = await first.runner.submit({
        ...intentOf("1", { origin: null, media: "none", raw: "{}", waitMs: 60_000, expect: ["video/mp4"] }),
        measuredBy: { id: "dock", name: "Dock", imageIdentifier: "i-1", images: ["color"], videoAt: null },
      });
      const asked = (): number =>
        (begun.running?.job.unnoted.size ?? 0) + (begun.running?.job.items.size ?? 0);
      await until(() => asked() === 1, "the picture is on the disk of the first one");
      await rename(`${root} away`, root);
      await until(async () => (await staged(root)).length === 1, "the others have it");
      await until(() => begun.running?.job.items.size === 1, "the database knows it");
      await first.endLease();
      // The device does not have it any more, and neither has the computer.
      await takeAll(second, 1);
      const ended = rejectsWith(begun.end(), "ERR_CANCELLED", "cancelledKept");
      await first.close();
      begun.messageSent(await ended);
      await rm(computerOf(root, 0), { recursive: true });
      const [resumed] = second.runner.resume(isMine);
      await until(() => (resumed?.running?.job.items.size ?? 0) === 1, "it is there");
      const [item] = resumed?.running?.job.items.values() ?? [];
      assert.equal(item?.sha256, sha256Of(pictureOf("color of i-1")));
      resumed?.running?.drop();
      resumed?.messageSent(await rejectsWith(resumed.end(), "ERR_CANCELLED", "cancelledReset"));
    });
  });

  it("collect for a job that they take over while the folder is away, and what it has there when it is back", async () => {
    await withWorkers(async (open, root) => {
      const [first, second] = [
        await open(new ScriptedDevice("color")),
        await open(new ScriptedDevice("depth")),
      ];
      await begin(first, root);
      const begun = await first.runner.submit({
        ...intentOf("1", { origin: null, media: "none", raw: "{}", waitMs: 60_000 }),
        measuredBy: {
          id: "dock",
          name: "Dock",
          imageIdentifier: "i-1",
          images: ["color", "depth"],
          videoAt: null,
        },
      });
      await until(async () => (await staged(root)).length === 1, "the others have the first picture");
      cloud.sim.cloud.addMedia("left", { contentType: "image/jpeg", bytes: pictureOf("left") });
      const unblock = await blockLog(first, root);
      const left = await first.runner.submit(intentOf("left", { origin: cloud.client.peer.origin }));
      await until(() => left.running?.state === "trouble", "it cannot put its line beside the packages");
      await first.endLease();
      await rename(root, `${root} away`);
      await takeAll(second, 2);
      const ended = [begun, left].map(async (one) => {
        // It may have heard already that the other one has it.
        const reason: unknown = await one.end().catch((error: unknown) => error);
        assert.ok(isDimensionerError(reason) && reason.code === "ERR_CANCELLED", String(reason));
        one.messageSent(reason);
      });
      await first.close();
      await Promise.all(ended);
      // The computer that had the picture is gone.
      await rm(computerOf(root, 0), { recursive: true });
      const resumed = [...second.runner.resume(isMine)];
      const pictures = resumed.find(({ running }) => running?.job.transactionId === "1");
      await until(() => pictures?.running?.job.unnoted.size === 1, "the device has given the other picture");
      await rename(`${root} away`, root);
      await unblock();
      const archived = await Promise.all(resumed.map((one) => one.end()));
      assertLogged(await readLogged(root), (await readPackages(root)).keys());
      const manifest = archived.find((one) => one.manifest.transactionId === "1")?.manifest;
      assert.deepEqual(
        manifest?.items.map(({ sha256 }) => sha256).toSorted(),
        ["color", "depth"].map((image) => sha256Of(pictureOf(`${image} of i-1`))).toSorted(),
      );
    });
  });

  /** Lets a worker put no line beside the packages any more; returns what ends that. */
  async function blockLog({ id }: Worker, root: string): Promise<() => Promise<void>> {
    const logs = join(root, ".dimensioner-archive", "log");
    const path = join(logs, (await readdir(logs))[0] ?? assert.fail("no log"), `${id}.log`);
    await rename(path, `${path} away`);
    await mkdir(path);
    return async () => {
      await rm(path, { recursive: true });
      await rename(`${path} away`, path);
    };
  }

  it("say that a parcel is archived only when the log beside the packages says so, whoever has archived it", async () => {
    await withWorkers(async (open, root) => {
      const [first, second] = [await open(), await open()];
      await begin(first, root);
      await begin(second, root);
      cloud.sim.cloud.addMedia("1", { contentType: "image/jpeg", bytes: pictureOf("1") });
      const intent = intentOf("1", { origin: cloud.client.peer.origin });
      const unblock = [await blockLog(first, root), await blockLog(second, root)];
      const submissions: Submission[] = [];
      for (const { runner } of [first, second]) {
        const submission = await runner.submit(intent);
        await until(() => submission.running?.state === "trouble", "its line cannot be put there");
        submissions.push(submission);
      }
      await unblock[1]?.();
      const again = await (submissions[1] ?? assert.fail()).end();
      assert.equal(again.wasThere, true);
      submissions[1]?.messageSent();
      await unblock[0]?.();
      assertLogged(await readLogged(root), (await readPackages(root)).keys());
      assert.equal((await (submissions[0] ?? assert.fail()).end()).path, again.path);
      submissions[0]?.messageSent();
    });
  });

  /** Jobs with media that are nowhere else than in a spool. */
  const pinned = (worker: Worker): Promise<readonly unknown[]> =>
    worker.query("SELECT DISTINCT job_id, spool_host FROM job_media WHERE spool_id IS NOT NULL");

  /** Accepts a message with its media while the folder is away. */
  async function pin({ runner }: Worker, root: string, id: string): Promise<Submission> {
    await rename(root, `${root} away`);
    const submission = await runner.submitMedia(intentOf(id, { origin: null }), [mediumOf(id)], null);
    await until(
      () =>
        submission.running?.isUndelivered === true && submission.running.trouble?.sentence === "fileNoFolder",
      "it is held up",
    );
    return submission;
  }

  async function finish(submission: Submission | undefined, id: string): Promise<void> {
    const { manifest } = await (submission ?? assert.fail("no job")).end();
    submission?.messageSent();
    assert.deepEqual(
      manifest.items.map(({ sha256 }) => sha256),
      [sha256Of(pictureOf(id))],
    );
  }

  /** Waits until so many jobs are open: that the message of one has gone out is noted behind it. */
  async function untilOpen(worker: Worker, count: number): Promise<void> {
    const sql = "SELECT 1 FROM jobs WHERE state NOT IN ('reported', 'failed')";
    await until(async () => (await worker.query(sql)).length === count, `${count} jobs are open`);
  }

  /** The first package, so that the share has been used. */
  async function begin(worker: Worker, root: string): Promise<void> {
    const intent = intentOf("0", { origin: null });
    await finish(await worker.runner.submitMedia(intent, [mediumOf("0")], null), "0");
    await untilOpen(worker, 0);
    await until(async () => (await staged(root)).length === 0, "nothing is left of it");
  }

  it("accept media of a message while the folder is away, and leave the job to any of them once it is back", async () => {
    await withWorkers(async (open, root) => {
      const [first, second] = [await open(), await open()];
      await begin(first, root);
      const part = (index: number) => ({ id: "sequence", index, count: 3 });
      const parts = intentOf("parts", { origin: null, sequence: "sequence", waitMs: 60_000 });
      const sequence = await first.runner.submitMedia(parts, [mediumOf("first part")], part(0));
      const alone = await pin(first, root, "1");
      const further = await first.runner.submitMedia(parts, [mediumOf("second part")], part(1));
      assert.equal((await pinned(first)).length, 2);
      assert.deepEqual([...(sequence.running?.job.unstaged ?? [])], ["message:1"]);
      await rename(`${root} away`, root);
      await finish(alone, "1");
      await untilOpen(first, 1);
      await until(async () => (await pinned(first)).length === 0, "nothing is only on one computer");
      await first.endLease();
      await takeAll(second, 1);
      const ended = rejectsWith(further.end(), "ERR_CANCELLED", "cancelledKept");
      await first.close();
      further.messageSent(await ended);
      await rm(computerOf(root, 0), { recursive: true });
      const [resumed] = second.runner.resume(isMine);
      await second.runner.submitMedia(parts, [mediumOf("last part")], part(2));
      const { manifest } = await (resumed ?? assert.fail("no job")).end();
      assert.deepEqual([manifest.complete, manifest.items.length], [true, 3]);
    });
  });

  it("take over no job whose media are only on another computer, and say so; that one goes on with it after a restart", async () => {
    await withWorkers(async (open, root) => {
      const [first, second] = [await open(), await open()];
      await begin(first, root);
      const submission = await pin(first, root, "1");
      const kept = rejectsWith(submission.end(), "ERR_CANCELLED", "cancelledKept");
      await first.close();
      submission.messageSent(await kept);
      const row = { job_id: submission.running?.job.id, spool_host: hostname() };
      assert.deepEqual(await pinned(second), [row]);
      await second.query(`UPDATE workers SET lease_until = '' WHERE worker_id = '${first.id}'`);
      await rename(`${root} away`, root);
      const take = async ({ archive }: Worker) => {
        const { count, elsewhere } = await archive.takeOver({ node: "node", isMine });
        return { count, elsewhere };
      };
      assert.deepEqual(await take(second), { count: 0, elsewhere: [{ host: hostname(), count: 1 }] });
      assert.deepEqual(await take(second), { count: 0, elsewhere: [] }, "it is said once");
      // A node of another flow does not take it either.
      const other = await second.archive.takeOver({ node: "other", isMine });
      assert.equal(other.count, 0);
      // The disk of another computer may be a copy of this one, from before it had the media.
      const spool = (computer: number): string =>
        join(computerOf(root, computer), ".dimensioner-archive", "spool");
      await cp(spool(0), spool(2), { recursive: true });
      const copy = await open(undefined, 2);
      assert.deepEqual(await copy.archive.work.spoolIds(), await readdir(spool(0)));
      assert.equal((await take(copy)).count, 0);
      // A process that is killed before it has moved the media to its own folder leaves them to the next one.
      const killed = await open(undefined, 0);
      await takeAll(killed, 1);
      await killed.close();
      await second.query(`UPDATE workers SET lease_until = '' WHERE worker_id = '${killed.id}'`);
      assert.equal((await take(second)).count, 0);
      const third = await open(undefined, 0);
      await takeAll(third, 1);
      await finish([...third.runner.resume(isMine)][0], "1");
      assert.equal((await readPackages(root)).size, 2);
      await third.close();
      assert.deepEqual(await staged(root), []);
      assert.deepEqual(await workFolders(computerOf(root, 0)), []);
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
      assert.deepEqual(await staged(root), []);
      assert.deepEqual(await workFolders(computerOf(root, 1)), []);
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

  /** As a node opens the archive on another computer. */
  async function openSession(
    root: string,
    url: string,
    on: {
      readonly resumed: (submission: Submission) => void;
      readonly failed: (error: unknown) => void;
      readonly found: (findings: OpeningFindings) => void;
    },
  ): Promise<ArchiveSession> {
    const { store } = await openSharedStore(root, { address: readPostgresUrl(url) });
    const session = new ArchiveSession(new Archives(), {
      node: "node",
      store: () => store,
      concurrency: () => 1,
      cloud: () => cloud.client,
      device: () => assert.fail("no device was given"),
      findMissing: missingMedia,
      isMine,
      onResumed: async (submission) => on.resumed(submission),
      onResumeError: on.failed,
      onAway: () => undefined,
      onFindings: on.found,
    });
    await session.open();
    return session;
  }

  it("a node says which jobs wait for another computer", async () => {
    await withWorkers(async (open, root, url) => {
      const first = await open();
      const part = { id: "sequence", index: 0, count: 2 };
      const begun = intentOf("parts", { origin: null, sequence: part.id, waitMs: 60_000 });
      await first.runner.submitMedia(begun, [mediumOf("first part")], part);
      await first.query("UPDATE job_media SET spool_id = 'another', spool_host = 'packing-2'");
      await first.endLease();
      const found = Promise.withResolvers<OpeningFindings["elsewhere"]>();
      const session = await openSession(root, url, {
        resumed: () => found.reject(new Error("it was taken")),
        failed: found.reject,
        found: ({ elsewhere }) => (elsewhere.length > 0 ? found.resolve(elsewhere) : undefined),
      });
      assert.deepEqual(await found.promise, [{ host: "packing-2", count: 1 }]);
      await session.close();
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
      const resumed = Promise.withResolvers<Submission>();
      const damaged = Promise.withResolvers<readonly string[]>();
      const session = await openSession(root, url, {
        resumed: resumed.resolve,
        failed: resumed.reject,
        found: ({ damagedJobs }) => (damagedJobs.length > 0 ? damaged.resolve(damagedJobs) : undefined),
      });
      assert.equal((await resumed.promise).running?.job.transactionId, "taken");
      assert.equal((await damaged.promise).length, 1);
      await session.close();
    });
  });

  it("tidy up together what one has left, and leave alone what is less than a day old", async () => {
    await withWorkers(async (open, root) => {
      const first = await open();
      const computer = computerOf(root, 0);
      const folderOf = (job: string) => join(computer, ".dimensioner-archive", "work", first.id, job);
      const old = new Date(Date.now() - 25 * 3_600_000);
      const jobs = Array.from({ length: 20 }, (_, number) => `old-${number}`);
      for (const job of ["new", ...jobs]) {
        await mkdir(join(folderOf(job), "media"), { recursive: true });
        await writeFile(join(folderOf(job), "media", "item.jpg"), job);
        await (job === "new" ? undefined : utimes(folderOf(job), old, old));
      }
      await first.endLease();
      const others = await Promise.all([0, 0, 0].map((same) => open(undefined, same)));
      const aside = others.flatMap(({ findings }) => findings.movedAside.map((path) => basename(path)));
      assert.deepEqual(aside.toSorted(), jobs.toSorted());
      assert.deepEqual(await workFolders(computer), ["new"]);
    });
  });
});
