import assert from "node:assert/strict";
import { statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { mock } from "node:test";
import { ToolThread } from "../../src/database/tool-database.ts";
import type { PrunedSpace } from "../../src/model/archive-reports.ts";
import { plainDisk } from "../../src/vault/archive-disk.ts";
import { pruneArchive, rebuildIndex } from "../../src/vault/upkeep/upkeep.ts";
import { openScope } from "../../src/vault/open-vault.ts";
import { Pruning } from "../../src/vault/upkeep/prune.ts";
import type { SpaceRule } from "../../src/vault/upkeep/prune-space.ts";
import { rejectsWith, withFolder } from "../media/support.ts";
import { useCredentials } from "../support/s3-servers.ts";
import {
  type BucketArchive,
  type IndexDatabase,
  archiveForEach,
  bucketSuites,
  hexNames,
  indexDatabases,
  packagesForBuckets,
} from "./bucket-archive.ts";
import { readLogged } from "./logged.ts";
import { changeDatabase, copiesOfArchive, fillArchive, verify } from "./packages.ts";
import { bundleVerb, runChild } from "./processes.ts";
import { databaseOf, storeIn } from "./store.ts";
import { intentOf, openArchive, pictureOf } from "./support.ts";

const dayMs = 24 * 3_600_000;
const total = 100e9;
/** More than a test needs; the index has some hundred bytes. */
const enough = 50e9;

interface Ran {
  readonly said: readonly string[];
  readonly space: PrunedSpace;
}

/** Prunes as the command does, on a disk that says how much of it is free, each time it is asked. */
async function prune(
  root: string,
  database: string,
  rule: Partial<SpaceRule>,
  {
    free = [enough],
    totalBytes = total,
    before = new Date(Date.now() + dayMs),
    isDryRun = false,
    onSpace = () => undefined,
  }: {
    readonly free?: readonly number[];
    readonly totalBytes?: number;
    readonly before?: Date;
    readonly isDryRun?: boolean;
    /** Called when the disk is asked. */
    readonly onSpace?: () => void;
  } = {},
): Promise<Ran> {
  const left = [...free];
  const answer = async (): Promise<Awaited<ReturnType<typeof statfs>>> => {
    onSpace();
    const freeBytes = left.length > 1 ? (left.shift() ?? 0) : (left[0] ?? 0);
    return { ...(await statfs(root)), bsize: 1, blocks: totalBytes, bavail: freeBytes };
  };
  const scope = await openScope(root, { disk: { ...plainDisk, statfs: answer as typeof statfs } });
  const thread = new ToolThread();
  const space = { keepFree: undefined, useAtMost: undefined, ...rule };
  const pruning = new Pruning(scope, { before, space, database, thread, isDryRun });
  const said: string[] = [];
  for await (const { what, path } of pruning.run()) {
    said.push(`${what} ${path}`);
  }
  await Promise.all([thread.close(), scope.close()]);
  return { said, space: pruning.space() ?? assert.fail("no rule") };
}

for (const [kind, openIndex] of Object.entries(indexDatabases)) {
  describe(`archive: pruning by space, with an index in ${kind}`, () => {
    const ids = Array.from({ length: 12 }, (_, index) => `m${index}`);
    const archive = copiesOfArchive(ids);
    let index: IndexDatabase;

    beforeEach(async () => {
      index = await openIndex();
    });
    afterEach(() => index.close());

    const withArchive = (body: (root: string, given: string) => Promise<void>) =>
      archive.withArchive(async (root) => {
        await rebuildIndex(root, { database: index.given });
        await body(root, index.given);
      });
    const bytesOf = async (): Promise<number> => {
      const rows = await index.run("SELECT sum(bytes) AS bytes FROM packages");
      return Number(rows.at(-1)?.["bytes"]);
    };
    const isDeleted = (place: number) => `deleted ${archive.paths[place] ?? ""}`;

    it("deletes the oldest package until there is enough space, with the rule in the log", () =>
      withArchive(async (root, given) => {
        const used = await bytesOf();
        assert.deepEqual((await prune(root, given, { useAtMost: used })).said, []);
        const listed = await prune(root, given, { useAtMost: used - 1 }, { isDryRun: true });
        assert.deepEqual([listed.said, listed.space.problem], [[isDeleted(0)], null]);
        assert.equal(await bytesOf(), used, "it was only listed");
        const { said, space } = await prune(root, given, { useAtMost: used - 1 });
        assert.deepEqual(
          [said, space.usedBytes, space.missingBytes, space.problem],
          [[isDeleted(0)], used, 0, null],
        );
        const [pruned] = (await readLogged(root)).filter(({ what }) => what === "pruned");
        assert.ok(pruned !== undefined && "reason" in pruned);
        assert.match(pruned.reason ?? "", /^to use at most .* bytes?: the packages had .*bytes?$/);
        const { report, said: found } = await verify(root, given);
        assert.deepEqual([report.verdict, found], ["ok", []]);
      }));

    it("keeps free what a disk has to have, and believes no disk that cannot be right", () =>
      withArchive(async (root, given) => {
        const keepFree = 10e9;
        assert.deepEqual((await prune(root, given, { keepFree }, { free: [keepFree] })).said, []);
        for (const [free, totalBytes] of [
          [0, total],
          [total + 1, total],
          [1e9, 0],
          [Number.NaN, total],
          [1e9, 1e9 + 1],
          [1e9, keepFree - 1],
        ] as const) {
          const { said, space } = await prune(root, given, { keepFree }, { free: [free], totalBytes });
          assert.deepEqual(said, [], `${free} of ${totalBytes}`);
          assert.match(space.problem ?? "", /[Nn]othing was deleted/, `${free} of ${totalBytes}`);
        }
        const { said } = await prune(root, given, { keepFree }, { free: [keepFree - 1] });
        assert.deepEqual(said, [isDeleted(0)]);
      }));

    it("deletes no more than a tenth of the packages, whatever fills the disk", () =>
      withArchive(async (root, given) => {
        const { said, space } = await prune(root, given, { keepFree: enough }, { free: [1e9] });
        assert.deepEqual(said, [isDeleted(0)]);
        assert.match(space.problem ?? "", /one run deletes at most a tenth of the packages, 1 this time/);
        assert.ok(space.missingBytes > 0);
      }));

    it("deletes nothing that is younger than an age, or on hold, nor its family, and says what is missing", () =>
      withArchive(async (root, given) => {
        await writeFile(join(root, archive.paths[0] ?? "", "hold"), "case 12");
        const rows = await index.run("SELECT archived_at AS at FROM packages ORDER BY archived_at");
        const before = new Date(String(rows.at(-10)?.["at"]));
        const first = await prune(root, given, { useAtMost: 1 }, { before });
        assert.deepEqual(first.said, [`held ${archive.paths[0]}`, isDeleted(1)]);
        const second = await prune(root, given, { useAtMost: 1 }, { before });
        assert.deepEqual(second.said, [`held ${archive.paths[0]}`], "the next one is younger");
        assert.match(second.space.problem ?? "", /nothing more may be: what is left is on hold/);
      }));

    it("keeps a package whose size in the index is not the one in its manifest", () =>
      withArchive(async (root, given) => {
        const used = await bytesOf();
        await index.run("UPDATE packages SET bytes = 1000000 WHERE transaction_id = 'm0'");
        const { said } = await prune(root, given, { useAtMost: used });
        assert.deepEqual(said, [`kept ${archive.paths[0]}`, isDeleted(1)]);
        await index.run("UPDATE packages SET bytes = 1000000000000 WHERE transaction_id = 'm2'");
        const { said: none, space } = await prune(root, given, { useAtMost: used });
        assert.deepEqual(
          [none, /only 50\.0 GB of the disk are in use/.test(space.problem ?? "")],
          [[], true],
        );
      }));

    it("writes nothing that cannot be into the log when the clock is put back meanwhile", () =>
      withArchive(async (root, given) => {
        const now = Date.now();
        mock.timers.enable({ apis: ["Date"], now: now + 60_000 });
        try {
          const onSpace = (): void => mock.timers.setTime(now);
          const { said } = await prune(root, given, { useAtMost: 1 }, { onSpace });
          assert.deepEqual(said, [isDeleted(0)]);
        } finally {
          mock.timers.reset();
        }
        const { report, said: found } = await verify(root, given);
        assert.deepEqual([report.verdict, found], ["ok", []]);
      }));

    it("says for how many days the space lasts", () =>
      withArchive(async (root, given) => {
        const used = await bytesOf();
        assert.equal((await prune(root, given, { useAtMost: Math.round(2.1 * used) })).space.daysLeft, 7);
        assert.equal((await prune(root, given, { useAtMost: used - 1 })).space.daysLeft, null);
      }));
  });
}

describe("archive: pruning by space from several stores and on the command line", () => {
  const archive = copiesOfArchive(["a0", "a1", "a2"]);

  it("stops when the disk does not gain what was deleted", () =>
    withFolder(async (root) => {
      await archiveLarge(root);
      const small = Array.from({ length: 19 }, (_, index) => `a${index}`);
      await fillArchive(root, small);
      const { said, space } = await prune(root, databaseOf(root), { keepFree: enough }, { free: [1e9] });
      assert.deepEqual(said, ["deleted 2026-11-02/ORDER-1-large"], "two would be a tenth");
      assert.match(space.problem ?? "", /and the disk has gained 0 bytes: snapshots or other programs/);
    }));

  it("deletes the oldest packages first, of whichever store", () =>
    withFolder(async (root) => {
      const count = 15;
      const folder = join(root, ".dimensioner-archive");
      const files = [databaseOf(root), join(folder, "other.sqlite")];
      const paths: string[][] = [];
      for (const [place, file] of files.entries()) {
        const ids = Array.from({ length: count }, (_, index) => `${place}${index}`);
        paths.push(await fillArchive(root, ids, undefined, { store: storeIn(root, undefined, file) }));
        const second = `substr('0' || (2 * indexed_order + ${place}), -2)`;
        changeDatabase(file, `UPDATE packages SET archived_at = '2026-01-01T00:00:' || ${second} || '.000Z'`);
      }
      const { said } = await prune(root, folder, { useAtMost: 1 });
      const oldest = [paths[0]?.[0], paths[1]?.[0], paths[0]?.[1]];
      assert.deepEqual(
        said,
        oldest.map((path) => `deleted ${path}`),
      );
    }));

  it("exits with 1 and says what is missing", async () => {
    const script = await bundleVerb("prune");
    await archive.withArchive(async (root, file) => {
      const args = [root, "--database", file];
      const enoughSpace = await runChild(script, [...args, "--use-at-most", "1TB"]);
      assert.deepEqual([enoughSpace.code, enoughSpace.stderr], [0, ""]);
      assert.match(
        enoughSpace.stdout,
        /there is enough space now: the packages had .*, .* were free; at the pace/,
      );
      assert.equal((await runChild(script, [...args, "--keep-free", "1kB"])).code, 0);
      const first = await runChild(script, [...args, "--use-at-most", "0.001kB", "--older-than", "1d"]);
      assert.deepEqual([first.code, /0 packages deleted/.test(first.stdout)], [1, true]);
      const tenth = await runChild(script, [...args, "--use-at-most", "0.001kB"]);
      assert.deepEqual([tenth.code, /1 package deleted/.test(tenth.stdout)], [1, true], tenth.stdout);
      assert.match(tenth.stdout, /at most a tenth of the packages, 1 this time\. Run it again/);
      const wrong = await runChild(script, [...args, "--keep-free", "50"]);
      assert.deepEqual([wrong.code, /needs a size such as 50GB/.test(wrong.stderr)], [2, true]);
      assert.equal((await runChild(script, args)).code, 2, "without any rule");
      const part = await runChild(script, [
        join(root, "2026-11-02"),
        "--database",
        file,
        "--keep-free",
        "1kB",
      ]);
      assert.deepEqual([part.code, /space is a matter of the whole archive/.test(part.stderr)], [2, true]);
    });
  });
});

describe("archive: pruning a bucket by space", () => {
  useCredentials();
  const packages = packagesForBuckets();
  for (const suite of bucketSuites.slice(0, 2)) {
    describe(`in ${suite.name}, with an index in ${suite.database}`, () => {
      let archive: BucketArchive;
      archiveForEach(suite, "space", packages, (one) => (archive = one));

      it("goes by what packages use, and not by what is free, which nothing says", async () => {
        const { given } = archive.index;
        const { report, said } = await archive.prune({ before: undefined, useAtMost: 1 });
        assert.deepEqual(said, [`deleted 2026-11-02/${hexNames[0]}`]);
        assert.deepEqual([report.space?.freeBytes, report.deleted], [null, 1]);
        await rejectsWith(
          pruneArchive(archive.location, { database: given, keepFree: 1 }),
          "ERR_CONFIG",
          "pruneBucketSpace",
        );
      });
    });
  }
});

/** Archives a package that is so large that a disk has to have more space without it. */
async function archiveLarge(root: string): Promise<void> {
  const { runner, close } = await openArchive(root, undefined);
  const content = Buffer.alloc(110e6, pictureOf("large"));
  const medium = { content, contentType: "image/jpeg", contentId: null, description: null, filename: null };
  const submission = await runner.submitMedia(intentOf("large", { origin: null, raw: "{}" }), [medium], null);
  await submission.end();
  submission.messageSent();
  await close();
}
