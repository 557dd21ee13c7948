import assert from "node:assert/strict";
import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ToolThread } from "../../src/database/tool-database.ts";
import { type ReadDisk, plainDisk, pruneLogName, stateFolderName } from "../../src/vault/archive-disk.ts";
import { LogReader, decodeLine, encodeLine, readLog } from "../../src/vault/files/checked-lines.ts";
import { openBucketFiles } from "../../src/vault/files/open-files.ts";
import { findPruned } from "../../src/vault/prune-log.ts";
import { readS3Url } from "../../src/vault/s3/bucket-address.ts";
import { PrunedPackages, SeenPackages } from "../../src/vault/seen-packages.ts";
import { withFolder } from "../media/support.ts";
import { forTests } from "../support/s3-servers.ts";
import { startStub } from "../support/s3-stub.ts";

async function readOn(reader: LogReader): Promise<unknown[]> {
  const read: unknown[] = [];
  for await (const lines of reader.read()) {
    read.push(...lines.map(decodeLine));
  }
  return read;
}

const line = (path: string, sha256: string, kept?: true) => ({
  at: "2027-02-01T02:00:00.412Z",
  path,
  sha256,
  transactionId: null,
  transactionReference: null,
  archived: "2026-11-02T09:14:31.870Z",
  files: 1,
  bytes: 1,
  ...(kept === undefined ? {} : { kept }),
});

describe("archive: the logs", () => {
  it("are read in a folder from where an earlier reading has ended, but for a line that is not complete", () =>
    withFolder(async (folder) => {
      const path = join(folder, "pruned.jsonl");
      const reader = new LogReader(path, plainDisk);
      assert.deepEqual(await readOn(reader), []);
      await writeFile(path, Buffer.concat([encodeLine([1]), encodeLine([2]).subarray(0, 6)]));
      assert.deepEqual(await readOn(reader), [[1]]);
      await appendFile(path, encodeLine([2]).subarray(6));
      assert.deepEqual([await readOn(reader), await readOn(reader)], [[[2]], []]);
    }));

  it("are read in a bucket with the file of a copy first, and with every object once, whatever its name", async () => {
    const stub = await startStub({ pageSize: 2 });
    const location = {
      kind: "s3",
      address: readS3Url(stub.url("parcels")),
      credentials: null,
      workFolder: "",
      retainDays: 0,
    } as const;
    const files = await openBucketFiles(location, forTests);
    try {
      const log = "parcels/.dimensioner-archive/pruned.jsonl";
      const add = (key: string, ...records: readonly object[]) =>
        stub.objects.set(key, { body: Buffer.concat(records.map(encodeLine)), headers: {} });
      const path = join(files.root, ".dimensioner-archive/pruned.jsonl");
      const reader = new LogReader(path, files.disk);
      add(`${log}/00002`, [2], [3]);
      add(`${log}/00004`, [4]);
      assert.deepEqual(await readOn(reader), [[2], [3], [4]]);
      add(log, [0]);
      add(`${log}/00001`, [1]);
      await files.addToLog(path, [[5]]);
      assert.deepEqual(await readOn(reader), [[0], [1], [5]]);
      const requests = stub.requests.length;
      assert.deepEqual(await readOn(reader), []);
      const again = stub.requests.slice(requests).filter(({ key }) => key.startsWith(`${log}/`));
      assert.deepEqual(again, []);
      const all: unknown[] = [];
      for await (const text of readLog(path, files.disk)) {
        all.push(decodeLine(text));
      }
      assert.deepEqual(all, [[0], [1], [2], [3], [4], [5]]);
    } finally {
      await files.close();
      await stub.close();
    }
  });

  it("tell what was deleted, and what was kept after all", () =>
    withFolder(async (root) => {
      const records = [
        line("a", "1"),
        line("b", "2"),
        line("b", "2", true),
        line("c", "3", true),
        line("c", "3"),
      ];
      await withPruned(root, records, plainDisk, async (pruned) => {
        const answers = await Promise.all(["1", "2", "3", "4"].map((sha256) => pruned.has(sha256)));
        assert.deepEqual(answers, [true, false, true, false]);
        const paths = await Promise.all(["a", "b", "c"].map((path) => pruned.hasPath(path)));
        assert.deepEqual(paths, [true, false, true]);
      });
    }));

  it("tell it of what was deleted since a time, as far as clocks agree, and of anything if none is known", () =>
    withFolder(async (root) => {
      await mkdir(join(root, stateFolderName));
      const log = encodeLine(line("a", "1"));
      await writeFile(join(root, stateFolderName, pruneLogName), log);
      const found = async (since?: string) => [
        ...(await findPruned({ root, disk: plainDisk }, "sha256", new Set(["1"]), since)).keys(),
      ];
      assert.deepEqual(await found("2027-02-02T02:00:00.000Z"), ["1"]);
      assert.deepEqual(await found("2027-02-02T02:00:01.000Z"), []);
      assert.deepEqual(await found("no time"), ["1"]);
      assert.deepEqual(await found(), ["1"]);
    }));

  it("tell it also to a caller that asks while the log is being read for another one", () =>
    withFolder(async (root) => {
      // More than are noted in one transaction.
      const records = Array.from({ length: 5_000 }, (_, index) => line(`p${index}`, `s${index}`));
      let second: Promise<boolean> | undefined;
      const disk: ReadDisk = {
        ...plainDisk,
        open: async (path, flags) => {
          const file = await plainDisk.open(path, flags);
          return {
            stat: () => file.stat(),
            readFile: () => file.readFile(),
            close: () => file.close(),
            read: async (...given) => {
              const result = await file.read(...given);
              second ??= pruned.has("s4999");
              return result;
            },
          };
        },
      };
      let pruned: PrunedPackages;
      await withPruned(root, records, disk, async (one) => {
        pruned = one;
        assert.equal(await pruned.has("s0"), true);
        assert.equal(await second, true);
      });
    }));
});

/** Opens a log with these lines. */
async function withPruned(
  root: string,
  records: readonly object[],
  disk: ReadDisk,
  body: (pruned: PrunedPackages) => Promise<void>,
): Promise<void> {
  const state = join(root, ".dimensioner-archive");
  await mkdir(state);
  await writeFile(join(state, "pruned.jsonl"), Buffer.concat(records.map(encodeLine)));
  const thread = new ToolThread();
  try {
    const seen = await SeenPackages.open(thread);
    await body(new PrunedPackages(root, disk, seen));
    await seen.close();
  } finally {
    await thread.close();
  }
}
