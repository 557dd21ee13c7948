import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { listMissing, pruneArchive } from "../../src/index.ts";
import type { MissingEvidence } from "../../src/model/shapes.ts";
import { Inbox } from "../../src/database/inbox.ts";
import { withFolder } from "../media/support.ts";
import { received } from "./find/support.ts";
import { ofTransaction } from "../../src/vault/packages/package-index.ts";
import { changeDatabase, fillArchive, keepingRows, keepEndedJobs } from "./packages.ts";
import { emptyPostgresOptions } from "../database/databases.ts";
import { openSharedStore } from "./shared-store.ts";
import { databaseOf, storeIn } from "./store.ts";

const guid = "6B2E0a2c-0000-4000-8000-00c04fc964ff";

/** Records that the webhook has posted, one after the other. */
async function post(root: string, ids: readonly string[]): Promise<void> {
  const { database, release } = await storeIn(root).connect();
  const inbox = new Inbox(database, { nodeId: "records", runId: "run" });
  for (const id of ids) {
    await inbox.add(received(id, 0).record, 0);
  }
  await release();
}

async function prune(root: string): Promise<void> {
  await pruneArchive(root, { before: new Date(Date.now() + 1_000), database: databaseOf(root) });
}

const missing = (root: string, limit = 100): Promise<readonly MissingEvidence[]> =>
  listMissing(root, { database: databaseOf(root), period: "1d", limit });

const idsOf = (found: readonly MissingEvidence[]): unknown[] =>
  found.map(({ reason, transactionId }) => `${reason} ${transactionId}`);

describe("archive: what is listed as missing", () => {
  for (const [what, posted, archived] of [
    ["as it was posted", guid, guid],
    ["in small letters", guid, guid.toLowerCase()],
    ["in mixed case, and posted in capitals", guid.toUpperCase(), guid],
  ] as const) {
    it(`is no transaction whose package has its ID ${what}`, () =>
      withFolder(async (root) => {
        await post(root, [posted]);
        assert.deepEqual(idsOf(await missing(root)), [`notArchived ${posted}`]);
        await fillArchive(root, [archived]);
        assert.deepEqual(await missing(root), []);
      }));
  }

  it("names the device of a record, or its ID where nobody knew the name", () =>
    withFolder(async (root) => {
      const { database, release } = await storeIn(root).connect();
      const inbox = new Inbox(database, { nodeId: "records", runId: "run" });
      await inbox.add({ ...received("1", 0).record, deviceClientId: "D-4", device: "Dock 4" }, 0);
      await inbox.add({ ...received("2", 0).record, deviceClientId: "D-5", device: null }, 0);
      await release();
      assert.deepEqual(
        (await missing(root)).map(({ device }) => device),
        ["D-5", "Dock 4"],
      );
    }));

  it("is no record whose package was deleted because of its age, unless it has come since", () =>
    withFolder(async (root) => {
      await post(root, [guid, "2"]);
      await fillArchive(root, [guid.toUpperCase(), "3"]);
      await prune(root);
      assert.deepEqual(idsOf(await missing(root)), ["notArchived 2"]);
      await post(root, ["3"]);
      assert.deepEqual(idsOf(await missing(root)), ["notArchived 3", "notArchived 2"]);
    }));

  it("is no job that had failed before its package was deleted because of its age", () =>
    withFolder(async (root) => {
      await fillArchive(root, []);
      keepEndedJobs(databaseOf(root));
      await fillArchive(root, ["1", "2"]);
      changeDatabase(
        databaseOf(root),
        "UPDATE jobs SET state = 'failed', error_code = 'ERR_CANCELLED', location = NULL, manifest_sha256 = NULL",
      );
      await prune(root);
      assert.deepEqual(await missing(root), []);
      changeDatabase(databaseOf(root), "DELETE FROM log WHERE what = 'pruned'");
      assert.deepEqual(idsOf(await missing(root)), ["failed 2", "failed 1"]);
    }));

  it("is no incomplete package that was deleted because of its age, although its row is still there", () =>
    withFolder(async (root) => {
      await fillArchive(root, ["1"], () => ({ expect: ["video/mp4"], onIncomplete: "keep" }));
      assert.deepEqual(idsOf(await missing(root)), ["incomplete 1"]);
      await keepingRows(databaseOf(root), () => prune(root));
      assert.deepEqual(await missing(root), []);
    }));

  it("is no incomplete package that another supplement has completed", () =>
    withFolder(async (root) => {
      await fillArchive(root, ["1", "2", "3"], () => ({ expect: ["video/mp4"], onIncomplete: "keep" }));
      const database = databaseOf(root);
      changeDatabase(database, "UPDATE packages SET transaction_id = NULL");
      assert.equal((await missing(root)).length, 3);
      changeDatabase(
        database,
        `UPDATE packages SET supplements_sha256 =
          (SELECT manifest_sha256 FROM packages ORDER BY archived_at LIMIT 1)
        WHERE archived_at > (SELECT min(archived_at) FROM packages)`,
      );
      assert.equal((await missing(root)).length, 3);
      changeDatabase(
        database,
        "UPDATE packages SET complete = 1 WHERE archived_at = (SELECT max(archived_at) FROM packages)",
      );
      assert.deepEqual(await missing(root), []);
    }));

  it("is a supplement without what it asks for, although its package is complete", () =>
    withFolder(async (root) => {
      await fillArchive(root, ["1", "2"], () => ({ expect: ["video/mp4"], onIncomplete: "keep" }));
      const [first, last] = ["min", "max"].map((one) => `(SELECT ${one}(archived_at) FROM packages)`);
      changeDatabase(
        databaseOf(root),
        `UPDATE packages SET transaction_id = '1', supplements_sha256 =
          (SELECT manifest_sha256 FROM packages WHERE archived_at = ${first}) WHERE archived_at = ${last};
        UPDATE packages SET complete = 1 WHERE archived_at = ${first}`,
      );
      assert.deepEqual(idsOf(await missing(root)), ["incomplete 1"]);
      changeDatabase(databaseOf(root), `UPDATE packages SET complete = 1 WHERE archived_at = ${last}`);
      assert.deepEqual(await missing(root), []);
    }));

  it("is what is older than any number of deleted packages", () =>
    withFolder(async (root) => {
      await post(root, ["old 1", "old 2", "old 3"]);
      const ids = Array.from({ length: 12 }, (_, index) => `new ${index}`);
      await post(root, ids);
      // All of them in the same millisecond.
      changeDatabase(
        databaseOf(root),
        "UPDATE records SET received_at = (SELECT max(received_at) FROM records) WHERE transaction_id LIKE 'new%'",
      );
      await fillArchive(root, ids);
      await prune(root);
      assert.deepEqual(idsOf(await missing(root, 2)), ["notArchived old 3", "notArchived old 2"]);
    }));

  it("is the same in a PostgreSQL database", () =>
    withFolder(async (root) => {
      const options = await emptyPostgresOptions();
      const { store, database } = await openSharedStore(root, options);
      const inbox = new Inbox(database, { nodeId: "records", runId: "run" });
      for (const id of [guid, "2", "3"]) {
        await inbox.add(received(id, 0).record, 0);
      }
      await fillArchive(root, [guid.toUpperCase(), "2"], undefined, { store });
      const { url } = options.address;
      const listed = async () => idsOf(await listMissing(root, { database: url, period: "1d", limit: 1 }));
      assert.deepEqual(await listed(), ["notArchived 3"]);
      await pruneArchive(root, { before: new Date(Date.now() + 1_000), database: url });
      assert.deepEqual(await listed(), ["notArchived 3"]);
    }));

  it("is compared by an index, however many packages and jobs there are", () =>
    withFolder(async (root) => {
      await fillArchive(root, ["1"]);
      const database = new DatabaseSync(databaseOf(root), { readOnly: true });
      const planOf = (select: string, ...values: readonly string[]): string =>
        JSON.stringify(database.prepare(`EXPLAIN QUERY PLAN ${select}`).all(...values));
      assert.match(
        planOf("SELECT 1 FROM jobs WHERE lower(transaction_id) IN (?, ?)", "1", "2"),
        /USING (COVERING )?INDEX jobs_transaction_lower/,
      );
      const ofPackages = planOf(
        `SELECT 1 FROM packages WHERE ${ofTransaction("?", "?")}`,
        "1",
        "2",
        "1",
        "2",
      );
      assert.match(
        ofPackages,
        /USING (COVERING )?INDEX packages_transaction .*USING INDEX packages_transaction_lower/,
      );
      database.close();
    }));
});
