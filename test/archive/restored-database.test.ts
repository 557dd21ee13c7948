import assert from "node:assert/strict";
import { rebuildIndex, verifyArchive } from "../../src/vault/upkeep/upkeep.ts";
import { openBucketVault } from "../../src/vault/open-vault.ts";
import { useCredentials } from "../support/s3-servers.ts";
import { stagedIn } from "./bucket-objects.ts";
import { ScriptedCloud } from "./scripted-sources.ts";
import { type OpenedStore, type TestPlace, storeKinds, withPlace } from "./store-places.ts";
import { type Opened, intentOf, mediumOf, openArchive, until } from "./support.ts";
import { tidyBucket } from "./tidy-bucket.ts";

const tables = [
  "jobs",
  "job_media",
  "packages",
  "uploads",
  "measurements",
  "log",
  "log_head",
  "log_writers",
] as const;
const jpeg = "image/jpeg";
const isMine = (): boolean => true;

async function dump({ query }: OpenedStore): Promise<void> {
  for (const table of tables) {
    await query(`CREATE TABLE dump_${table} AS SELECT * FROM ${table}`);
  }
}

async function restore({ query, endLease, close }: OpenedStore): Promise<void> {
  for (const table of tables.toReversed()) {
    await query(`DELETE FROM ${table}`);
  }
  for (const table of tables) {
    await query(`INSERT INTO ${table} SELECT * FROM dump_${table}`);
    await query(`DROP TABLE dump_${table}`);
  }
  await endLease();
  await close();
}

for (const kind of storeKinds) {
  describe(`archive: an older database of packages in a ${kind.files} that is restored to ${kind.database}`, () => {
    useCredentials();

    /** `archive`: archives a package; the dump is made when `onOpen` is called. */
    async function archivesOnce(
      archive: (opened: Opened, cloud: ScriptedCloud, onOpen: () => Promise<void>) => Promise<string>,
    ): Promise<void> {
      await withPlace(kind, async (place: TestPlace) => {
        const cloud = new ScriptedCloud();
        const first = await place.open();
        const opened = await openArchive("", undefined, { store: first.store, cloud: () => cloud });
        const path = await archive(opened, cloud, () => dump(first));
        await opened.close();
        await restore(first);
        assert.equal((await rebuildIndex(place.vault, { database: place.database })).packages, 1);

        const second = await place.open();
        const again = await openArchive("", undefined, { store: second.store, cloud: () => cloud });
        await again.archive.takeOver({ node: "node", isMine });
        const [resumed] = again.runner.resume(isMine);
        assert.ok(resumed !== undefined, "the job is open");
        const archived = await resumed.end();
        assert.deepEqual([archived.wasThere, archived.path, archived.complete], [true, path, true]);
        resumed.messageSent();
        await again.close();
        assert.deepEqual([...(await place.packages()).keys()], [path]);
        assert.deepEqual((await verifyArchive(place.vault, { database: place.database })).verdict, "ok");
      });
    }

    it("archives nothing twice if its index is completed before a worker is started", async () => {
      await archivesOnce(async ({ runner }, cloud, onOpen) => {
        const wanted = { expect: [jpeg], waitMs: 600_000, giveUpMs: 3_600_000 };
        const submission = await runner.submit(intentOf("1", wanted));
        await until(() => submission.running?.state === "waiting", "it waits for its medium");
        await onOpen();
        cloud.have = [{ id: "ColorImageJpeg", type: jpeg }];
        submission.running?.wake();
        const { path } = await submission.end();
        submission.messageSent();
        return path;
      });
    });

    it("ends a job of messages, whose media are in its package by now, with that package", async () => {
      await archivesOnce(async ({ runner }, _cloud, onOpen) => {
        const intent = intentOf("1", { origin: null, sequence: "s", waitMs: 600_000 });
        const submit = (index: number) =>
          runner.submitMedia(intent, [mediumOf(`part ${index}`)], { id: "s", index, count: 2 });
        const first = await submit(0);
        await until(() => first.running?.state === "waiting", "it waits for the other part");
        await onOpen();
        const last = await submit(1);
        const { path } = await last.end();
        last.messageSent();
        return path;
      });
    });
  });
}

describe("archive: an older database of packages in a bucket that is restored while media are staged", () => {
  useCredentials();

  it("leaves the media of messages that it does not know in the bucket", async () => {
    await withPlace({ files: "bucket", database: "PostgreSQL" }, async (place) => {
      const first = await place.open();
      const archive = await openArchive("", undefined, { store: first.store });
      const part = { id: "S", index: 0, count: 2 };
      const wanted = { origin: null, waitMs: 600_000, giveUpMs: 3_600_000 };
      await archive.runner.submitMedia(intentOf("1", wanted), [mediumOf("1")], part);
      const staged = stagedIn(place.stub);
      assert.equal(staged.length, 1);
      await archive.close();
      await first.query("DELETE FROM jobs");
      const { vault } = place;
      assert.ok(vault.kind === "s3");
      const opened = await openBucketVault(vault, {});
      const { database, release } = await first.store.connect();
      await tidyBucket(opened, database);
      await release();
      await opened.close();
      assert.deepEqual(stagedIn(place.stub), staged);
    });
  });
});
