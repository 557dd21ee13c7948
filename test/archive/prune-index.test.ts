import assert from "node:assert/strict";
import { appendFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ToolRequest } from "../../src/database/sqlite-messages.ts";
import { ToolDatabase, ToolThread } from "../../src/database/tool-database.ts";
import { pruneLogName, stateFolderName } from "../../src/vault/archive-disk.ts";
import { encodeLine } from "../../src/vault/files/checked-lines.ts";
import { openPlace } from "../../src/vault/open-place.ts";
import { pruneIndexes } from "../../src/vault/prune.ts";
import { withFolder } from "../media/support.ts";
import { rowsIn } from "../support/rows.ts";
import { useCredentials } from "../support/s3-servers.ts";
import { startStub } from "../support/s3-stub.ts";
import { openSqlite, packagesForBuckets } from "./bucket-archive.ts";
import { fillArchive, verify } from "./packages.ts";
import { databaseOf } from "./store.ts";

/** The thread of a command that writes down what it is asked for. */
class RecordingThread extends ToolThread {
  readonly statements: string[] = [];

  override async open(request: ToolRequest): Promise<ToolDatabase> {
    const database = await super.open(request);
    return new ToolDatabase(request.file, async (given) => {
      if (given === "close") {
        await database.close();
        return [];
      }
      this.statements.push(...given.map(({ sql }) => sql));
      return await database.transaction(given);
    });
  }

  count(what: RegExp): number {
    return this.statements.filter((sql) => what.test(sql)).length;
  }
}

/** Removes the rows of what the log names, and returns how many there were. */
async function pruneRows(
  named: Parameters<typeof openPlace>[0],
  database: string,
  thread: ToolThread,
): Promise<number> {
  const place = await openPlace(named, {});
  try {
    return await pruneIndexes(place, database, { thread });
  } finally {
    await place.close();
    await thread.close();
  }
}

const line = (path: string, sha256: string) => ({
  at: new Date().toISOString(),
  path,
  sha256,
  transactionId: null,
  transactionReference: null,
  archived: "2026-11-02T09:14:31.870Z",
  files: 1,
  bytes: 1,
});

describe("archive: the rows of deleted packages", () => {
  useCredentials();
  const packages = packagesForBuckets();

  it("are looked up many at once, however many lines the log has, without a check that compares every index", () =>
    withFolder(async (root) => {
      const [first = "", second = ""] = await fillArchive(root, ["1", "2", "3"]);
      const listed = rowsOf(databaseOf(root));
      const others = Array.from({ length: 1_200 }, (_none, index) => line(`2025-01-01/${index}`, `${index}`));
      // What was archived at the place of a deleted package is another one.
      const lines = [...others, line(first, listed.get(first) ?? ""), line(second, "0")];
      await writeFile(logOf(root), Buffer.concat(lines.map(encodeLine)));
      await Promise.all([first, second].map((path) => rm(join(root, path), { recursive: true })));
      const thread = new RecordingThread();
      assert.equal(await pruneRows(root, databaseOf(root), thread), 1);
      assert.equal(thread.count(/^SELECT package_id/), 3);
      assert.deepEqual([thread.count(/quick_check/), thread.count(/integrity_check/)], [1, 0]);
      const left = rowsOf(databaseOf(root));
      assert.deepEqual([left.has(first), left.size], [false, 2]);
    }));

  it("stay if a later line has taken the deletion back, however far behind the first, until it is logged once more", () =>
    withFolder(async (root) => {
      const [first = "", second = ""] = await fillArchive(root, ["1", "2"]);
      const database = databaseOf(root);
      const deleted = line(first, rowsOf(database).get(first) ?? "");
      const others = Array.from({ length: 1_200 }, (_none, index) => line(`2025-01-01/${index}`, `${index}`));
      const log = async (...lines: readonly object[]) =>
        await appendFile(logOf(root), lines.map(encodeLine).join(""));
      await log(deleted, ...others, { ...deleted, kept: true });
      await rm(join(root, first), { recursive: true });
      assert.equal(await pruneRows(root, database, new ToolThread()), 0);
      assert.equal(rowsOf(database).has(first), true);
      assert.deepEqual((await verify(root)).said, [`previous-missing ${second}`, `missing-package ${first}`]);
      await log(deleted, ...others);
      assert.deepEqual((await verify(root)).said, []);
      assert.equal(await pruneRows(root, database, new ToolThread()), 1);
      assert.equal(rowsOf(database).has(first), false);
      assert.deepEqual((await verify(root)).said, []);
    }));

  it("are looked up many at once in a bucket, where each line may be an object, and not in the objects of earlier times", async () => {
    const stub = await startStub();
    const archive = await packages.upload(stub.url("parcels"), await openSqlite());
    try {
      const [path = "", sha256 = ""] = [...rowsOf(archive.index.given)][0] ?? [];
      const others = Array.from({ length: 40 }, (_none, index) => line(`2025-01-01/${index}`, `${index}`));
      for (const one of [...others, line(path, sha256)]) {
        await archive.files.addToLog(logOf(archive.files.root), [one]);
      }
      await archive.files.bucket.remove(`parcels/${path}/manifest.json`);
      const old = `parcels/${stateFolderName}/${pruneLogName}/20250101T000000000Z-a.jsonl`;
      stub.objects.set(old, {
        body: encodeLine({ ...line("old", "0"), at: "2025-01-01T00:00:00.000Z" }),
        headers: {},
      });
      const thread = new RecordingThread();
      assert.equal(await pruneRows(archive.location, archive.index.given, thread), 1);
      assert.equal(thread.count(/^SELECT package_id/), 1);
      assert.equal(stub.requests.filter(({ key }) => key === old).length, 0);
    } finally {
      await archive.close();
      await archive.index.close();
      await stub.close();
    }
  });
});

function logOf(root: string): string {
  return join(root, stateFolderName, pruneLogName);
}

/** The SHA-256 of the manifests that an index lists, by the locations. */
function rowsOf(file: string): ReadonlyMap<string, string> {
  const rows = rowsIn(file, "SELECT location, manifest_sha256 FROM packages");
  return new Map(rows.map((row) => [String(row["location"]), String(row["manifest_sha256"])]));
}
