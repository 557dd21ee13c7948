import assert from "node:assert/strict";
import { useCredentials } from "../support/s3-servers.ts";
import type { BucketStub } from "../support/s3-stub.ts";
import type { Database } from "../../src/database/database.ts";
import { unansweredError } from "../../src/database/sqlite-failures.ts";
import { Store } from "../../src/vault/store.ts";
import { missingMedia } from "../../src/cloud/expected-media.ts";
import { Archives } from "../../src/jobs/archive.ts";
import { ArchiveSession } from "../../src/runtime/archive/session.ts";
import { prefix, stagedIn } from "./bucket-objects.ts";
import { withPlace, type OpenedStore } from "./store-places.ts";
import { intentOf, mediumOf, openArchive, until } from "./support.ts";

type Transaction = Database["transaction"];

/** The store with each transaction of its database made by `around`, which sees how it begins. */
function storeAround(
  real: Store,
  around: (begin: string, run: () => ReturnType<Transaction>) => ReturnType<Transaction>,
): Store {
  return new Store(real.location, real.vault, {
    open: async () => {
      const { database, ...connection } = await real.connect();
      const transaction: Transaction = (statements) =>
        around(statements[0]?.sql ?? "", () => database.transaction(statements));
      return { ...connection, database: { transaction, close: () => database.close() } };
    },
  });
}

describe("archive: media that are staged for a message that is not accepted", () => {
  useCredentials();

  /** Sends a message with two media that is refused; returns how many were staged at most, and what is left of them. */
  async function refuse(prepare: (stub: BucketStub, opened: OpenedStore) => Promise<void>) {
    let most = 0;
    let left: readonly string[] = [];
    await withPlace({ files: "bucket", database: "PostgreSQL" }, async ({ stub, open }) => {
      assert.ok(stub !== undefined);
      const opened = await open();
      const { runner, close } = await openArchive("", undefined, { store: opened.store });
      stub.fault = () => {
        most = Math.max(most, stagedIn(stub).length);
        return undefined;
      };
      await prepare(stub, opened);
      const media = [mediumOf("first"), mediumOf("second")];
      const submitted = runner.submitMedia(intentOf("1", { origin: null }), media, null);
      await assert.rejects(submitted, { code: "ERR_STORE" });
      await close();
      left = stagedIn(stub);
    });
    return { most, left };
  }

  it("are removed if the database refuses it", async () => {
    const refused = await refuse(async (_stub, { query }) => {
      await query("ALTER TABLE jobs ADD CONSTRAINT refused CHECK (node_id <> 'node')");
    });
    assert.deepEqual(refused, { most: 2, left: [] });
  });

  it("stay if another worker has taken over what the database had accepted without an answer", async () => {
    await withPlace({ files: "bucket", database: "PostgreSQL" }, async ({ packages, open }) => {
      const [first, second] = [await open(), await open()];
      const taken = Promise.withResolvers<void>();
      let isAccepted = false;
      const store = storeAround(first.store, async (begin, transaction) => {
        if (isAccepted && begin.startsWith("INSERT INTO jobs")) {
          await taken.promise;
        }
        const rows = await transaction();
        if (!isAccepted && begin.startsWith("INSERT INTO jobs")) {
          isAccepted = true;
          throw unansweredError("store", 30_000);
        }
        return rows;
      });
      const refusing = await openArchive("", undefined, { store });
      const submitted = refusing.runner.submitMedia(intentOf("1", { origin: null }), [mediumOf("1")], null);
      await assert.rejects(submitted, { code: "ERR_STORE" });
      await first.endLease();
      const taking = await openArchive("", undefined, { store: second.store });
      const isMine = (): boolean => true;
      assert.equal((await taking.archive.takeOver({ node: "node", isMine })).count, 1);
      taken.resolve();
      await refusing.close();
      const [resumed] = taking.runner.resume(isMine);
      const { manifest } = await (resumed ?? assert.fail("no job")).end();
      assert.deepEqual([manifest.complete, manifest.items.length], [true, 1]);
      await taking.close();
      assert.equal((await packages()).size, 1);
    });
  });
});

describe("archive: media of a message that the bucket does not take", () => {
  useCredentials();

  it("wait on this computer, and go on when it takes all of them", async () => {
    await withPlace({ files: "bucket", database: "PostgreSQL" }, async ({ stub, open, packages }) => {
      assert.ok(stub !== undefined);
      const { store, query } = await open();
      const { runner, close } = await openArchive("", undefined, { store });
      stub.fault = (request) => {
        const isSecond = request.method === "PUT" && stagedIn(stub).length === 1;
        return isSecond ? { status: 403, code: "AccessDenied" } : undefined;
      };
      const media = [mediumOf("first"), mediumOf("second")];
      const submission = await runner.submitMedia(intentOf("1", { origin: null }), media, null);
      await until(() => submission.running?.isUndelivered === true, "it is held up");
      const pinned = "SELECT slot FROM job_media WHERE spool_id IS NOT NULL";
      assert.equal((await query(pinned)).length, 2);
      stub.fault = () => undefined;
      const { manifest } = await submission.end();
      assert.equal(manifest.items.length, 2);
      assert.deepEqual(await query(pinned), []);
      submission.messageSent();
      await close();
      assert.equal((await packages()).size, 1);
      assert.deepEqual(stagedIn(stub), []);
    });
  });
});

describe("archive: old media in a bucket of jobs that the database does not know", () => {
  useCredentials();

  it("are named once by the node, and stay", async () => {
    await withPlace({ files: "bucket", database: "PostgreSQL" }, async ({ stub, vault, open }) => {
      assert.ok(stub !== undefined && vault.kind === "s3");
      const key = `${prefix}/.dimensioner-archive/work/unknown/${"f".repeat(64)}`;
      const storedAt = new Date(Date.now() - 25 * 3_600_000);
      stub.objects.set(key, { body: Buffer.from("x"), headers: {}, storedAt });
      const { store } = await open();
      const { promise: found, resolve: onFound } = Promise.withResolvers<string>();
      const archives = new Archives();
      const session = new ArchiveSession(archives, {
        node: "node",
        store: () => store,
        concurrency: () => 1,
        cloud: () => assert.fail("there are no jobs"),
        device: () => assert.fail("there are no jobs"),
        findMissing: missingMedia,
        isMine: () => true,
        onResumed: () => assert.fail("there are no jobs"),
        onResumeError: (error) => assert.fail(String(error)),
        onAway: () => undefined,
        onFindings: ({ unknownMedia }) => {
          if (unknownMedia !== null) {
            onFound(unknownMedia);
          }
        },
      });
      await session.open();
      assert.equal(await found, `${vault.address.name}/.dimensioner-archive/work`);
      const { archive, release } = await archives.open(store);
      assert.equal(archive.takeUnknownMedia(), null);
      await release();
      await session.close();
      assert.ok(stub.objects.has(key));
    });
  });
});
