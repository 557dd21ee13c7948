import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { Inbox } from "../../../src/database/inbox.ts";
import { Archives } from "../../../src/jobs/archive.ts";
import type { RunningJob } from "../../../src/jobs/job.ts";
import type { Submission } from "../../../src/jobs/runner.ts";
import { rebuildIndex } from "../../../src/vault/upkeep/upkeep.ts";
import { withFolder } from "../../media/support.ts";
import { changeDatabase, verify } from "../packages.ts";
import { simulatedCloudOfSuite } from "../simulated-cloud.ts";
import { databaseOf, newDatabases, storeIn } from "../store.ts";
import { type Opened, intentOf, openArchive, until } from "../support.ts";
import { box, measured, received } from "./support.ts";

const settleMs = 100;

/** Two parcels of one order, equal in all. */
const [first, second] = [measured("A", 0), measured("B", 0)];

describe("archive: jobs that seek their transaction", () => {
  const cloud = simulatedCloudOfSuite();
  /** Opens the store as a process does that has just started. */
  async function open(root: string) {
    const store = storeIn(root, newDatabases());
    const opened = await openArchive(root, cloud.client, { archives: new Archives({ settleMs }), store });
    const { database, arrivals, release } = await store.connect();
    const inbox = new Inbox(database, { nodeId: "records", runId: "run", arrivals });
    return {
      ...opened,
      /** A record that arrives now, of a transaction of which the cloud has a video. */
      async post(id: string, given: Parameters<typeof received>[2] = {}): Promise<void> {
        cloud.sim.cloud.addMedia(id, { contentType: "video/mp4", generateBytes: 20_000 });
        await inbox.add(received(id, 0, given).record, 0);
      },
      async close(): Promise<void> {
        await opened.close();
        await release();
      },
    };
  }

  function submit(
    { runner }: Opened,
    { key, local }: typeof first,
    { waitMs = 120_000, sentAt = new Date() } = {},
  ): Promise<Submission> {
    const raw = JSON.stringify({ imageIdentifier: key });
    return runner.submit({
      ...intentOf("", { origin: cloud.client.peer.origin, raw, waitMs }),
      transactionId: null,
      measuredBy: {
        id: "device",
        name: "Dock 4",
        imageIdentifier: key,
        images: [],
        videoAt: null,
      },
      sought: { ...local, sentAt: sentAt.toISOString() },
      folder: [key],
    });
  }

  const endOf = async (submission: Submission): Promise<string | null> => {
    const { manifest } = await submission.end();
    submission.messageSent();
    return manifest.transactionId;
  };
  const said = (running: RunningJob | undefined): string =>
    JSON.stringify(running?.seen.notFound?.missing ?? "");

  it("find it by references and dimensions, before and after it comes", async () => {
    await withFolder(async (root) => {
      const archive = await open(root);
      const waiting = await submit(archive, first);
      await archive.post("1");
      assert.equal(await endOf(waiting), "1");
      await archive.post("2", { transactionReference: "ORDER-2" });
      // A record that is received in the very millisecond of the measurement can be its answer.
      const postedAt = Date.now();
      await until(() => Date.now() > postedAt, "the clock goes on");
      const other = measured("C", 0, { transactionReference: "ORDER-2" });
      const late = await submit(archive, other, { waitMs: 300 });
      await assert.rejects(
        late.end(),
        /no record of this measurement has arrived/,
        "it came before the measurement",
      );
      late.messageSent();
      await archive.close();
    });
  });

  it("wait for a record that is there and not yet taken, however short the wait is", async () => {
    await withFolder(async (root) => {
      const archive = await open(root);
      const sentAt = new Date();
      await archive.post("1");
      const submission = await submit(archive, first, { waitMs: 50, sentAt });
      assert.equal(await endOf(submission), "1");
      await archive.close();
    });
  });

  it("leave a record that can be that of either of two, say so, and take none by chance", async () => {
    await withFolder(async (root) => {
      const archive = await open(root);
      const submissions = await Promise.all([submit(archive, first), submit(archive, second)]);
      await archive.post("1");
      await until(
        () => submissions.every(({ running }) => said(running).includes("recordContested")),
        "each knows of the other",
      );
      await archive.post("2");
      await until(
        () => submissions.every(({ running }) => said(running).includes("recordsAlike")),
        "each knows of both records",
      );
      for (const { running } of submissions) {
        const { job } = running ?? assert.fail();
        // The wait is over.
        job.waitedMs = job.intent.waitMs;
        running?.wake();
      }
      const ends = await Promise.allSettled(submissions.map((one) => one.end()));
      for (const end of ends) {
        assert.match(
          end.status === "rejected" ? String(end.reason) : "",
          /any of 2 with the same reference and dimensions; a tag/,
        );
      }
      submissions.forEach((one) => one.messageSent());
      await archive.close();
    });
  });

  it("go on after a restart, each with its own record", async () => {
    await withFolder(async (root) => {
      const before = await open(root);
      const [one, two] = [first, measured("B", 0, { size: [40, 30, 20] })];
      const stopped = await Promise.all([submit(before, one), submit(before, two)]);
      await Promise.all(stopped.map(async ({ running }) => running?.firstTry));
      const ends = Promise.allSettled(stopped.map((submission) => submission.end()));
      await before.post("2", { size: [40, 30, 20] });
      await before.close();
      await ends;

      const after = await open(root);
      await after.post("1", { size: box });
      const resumed = [...after.runner.resume(() => true)];
      const found = await Promise.all(resumed.map(endOf));
      assert.deepEqual(found.toSorted(), ["1", "2"]);
      const folders = new Map(
        await Promise.all(
          resumed.map(async (submission) => {
            const { manifest, path } = await submission.end();
            return [path, manifest.transactionId] as const;
          }),
        ),
      );
      assert.deepEqual([folders.get("A"), folders.get("B")], ["1", "2"]);
      await after.close();
    });
  });

  describe("once the database is lost", () => {
    const guid = "6F9619FF-8B86-D011-B42D-00C04FC964FF";

    /** Archives the first parcel with a record that has both ids of its transaction. */
    async function archiveFirst(root: string): Promise<string> {
      const archive = await open(root);
      const submission = await submit(archive, first);
      await archive.post(guid, { legacyId: "905865" });
      const { manifest, path } = await submission.end();
      submission.messageSent();
      await archive.close();
      assert.deepEqual([manifest.transactionId, manifest.legacyTransactionId], [guid, "905865"]);
      assert.deepEqual((await verify(root)).said, []);
      return path;
    }

    it("are given no transaction that the packages say another measurement has, by either of its ids", async () => {
      await withFolder(async (root) => {
        await archiveFirst(root);
        await rm(databaseOf(root));
        await rebuildIndex(root, { database: databaseOf(root) });
        assert.deepEqual((await verify(root)).said, []);
        const archive = await open(root);
        const other = await submit(archive, second, { waitMs: 300 });
        await archive.post("905865");
        await assert.rejects(other.end(), /no record of this measurement has arrived/);
        other.messageSent();
        assert.equal((await (await submit(archive, first)).end()).wasThere, true);
        await archive.close();
      });
    });

    for (const [what, sql, said] of [
      [
        "has another transaction",
        "UPDATE measurements SET transaction_id = '7', legacy_id = NULL",
        "index P",
      ],
      ["has none", "UPDATE measurements SET transaction_id = NULL, legacy_id = NULL", "index P"],
      ["is gone", "DELETE FROM measurements", "index P"],
      [
        "shares its transaction with another one",
        "INSERT INTO measurements SELECT 'other', job_id, accepted_at, NULL, NULL, NULL, transaction_id, NULL, found_at FROM measurements",
        "database F",
      ],
    ] as const) {
      it(`dimensioner verify finds a measurement that ${what} in the database`, async () => {
        await withFolder(async (root) => {
          const path = await archiveFirst(root);
          changeDatabase(databaseOf(root), sql);
          const wanted = said.replace("P", path).replace("F", databaseOf(root));
          const { findings } = await verify(root);
          assert.ok(
            findings.some((one) => `${one.kind} ${one.path}` === wanted),
            JSON.stringify(findings),
          );
        });
      });
    }
  });
});
