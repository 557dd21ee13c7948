import assert from "node:assert/strict";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  DimensionerError,
  pruneArchive,
  rebuildIndex,
  verifyArchive,
  type ArchiveProgress,
  type Finding,
  type PrunedPackage,
} from "../../src/index.ts";
import { fillArchive } from "../archive/packages.ts";
import { databaseOf } from "../archive/store.ts";
import { withFolder } from "../media/support.ts";

/** A call without TypeScript's help. */
type Untyped = (...given: unknown[]) => Promise<unknown>;

describe("the library: looking after an archive", () => {
  it("verifies, rebuilds and prunes like the command lines, and tells how far it is", async () => {
    await withFolder(async (root) => {
      const database = databaseOf(root);
      const [path = ""] = await fillArchive(root, ["m0", "m1"]);
      const progress: ArchiveProgress[] = [];
      const onProgress = (one: ArchiveProgress): void => void progress.push(one);

      const whole = await verifyArchive(root, { database, onProgress });
      assert.deepEqual([whole.verdict, whole.findings, whole.expected], ["ok", 0, 2]);
      const { bytes } = whole;
      assert.deepEqual(progress.at(-1), { packages: 2, bytes, expectedPackages: 2, expectedBytes: bytes });

      await writeFile(join(root, path, "item.jpg"), "x");
      const findings: Finding[] = [];
      const damaged = await verifyArchive(root, {
        database: [database],
        onFinding: (one) => findings.push(one),
      });
      assert.deepEqual([damaged.verdict, damaged.findings], ["wrong", 1]);
      assert.deepEqual(
        findings.map(({ kind, path: at }) => [kind, at]),
        [["changed", `${path}/item.jpg`]],
      );
      assert.equal((await verifyArchive(root)).verdict, "wrong");

      await rm(database);
      const rebuilt = await rebuildIndex(root, { database, onProgress });
      assert.deepEqual([rebuilt.database, rebuilt.packages, rebuilt.movedTo], ["made", 2, null]);
      assert.equal(progress.at(-1)?.packages, 2);

      const pruned: PrunedPackage[] = [];
      const before = new Date(Date.now() + 1_000);
      const report = await pruneArchive(root, { before, database, onPackage: (one) => pruned.push(one) });
      assert.deepEqual([report.deleted, pruned.length], [2, 2]);
      assert.equal((await verifyArchive(root, { database })).verdict, "unchecked");
    });
  });

  it("waits for a promise of its listeners, and rejects with what they throw", async () => {
    await withFolder(async (root) => {
      await mkdir(join(root, ".dimensioner-archive"));
      await Promise.all(["a", "b"].map((name) => writeFile(join(root, name), "")));
      let active = 0;
      await verifyArchive(root, {
        onFinding: async () => {
          assert.equal((active += 1), 1);
          await new Promise((resume) => setImmediate(resume));
          active -= 1;
        },
      });
      const error = new Error("listener");
      const onFinding = (): never => {
        throw error;
      };
      await assert.rejects(verifyArchive(root, { onFinding }), error);
    });
  });

  it("rejects with a documented error, and with ERR_CANCELLED when it is aborted", async () => {
    await withFolder(async (root) => {
      const gone = join(root, "gone");
      const signal = AbortSignal.abort();
      await fillArchive(root, ["m0"]);
      const [before, database] = [new Date(), databaseOf(root)];
      const cases: readonly (readonly [Untyped, readonly unknown[], string])[] = [
        [verifyArchive as Untyped, [5], "ERR_INPUT"],
        [verifyArchive as Untyped, [root, { database: 5 }], "ERR_INPUT"],
        [verifyArchive as Untyped, [root, { onFinding: "log" }], "ERR_INPUT"],
        [verifyArchive as Untyped, [""], "ERR_CONFIG"],
        [verifyArchive as Untyped, [gone], "ERR_FILE"],
        [verifyArchive as Untyped, [root, { signal }], "ERR_CANCELLED"],
        [pruneArchive as Untyped, [root], "ERR_INPUT"],
        [pruneArchive as Untyped, [root, { database }], "ERR_INPUT"],
        [pruneArchive as Untyped, [root, { before }], "ERR_INPUT"],
        [pruneArchive as Untyped, [root, { database, before: new Date("soon") }], "ERR_INPUT"],
        [pruneArchive as Untyped, [root, { database, before: "90d" }], "ERR_INPUT"],
        [pruneArchive as Untyped, [gone, { database, before }], "ERR_FILE"],
        [pruneArchive as Untyped, [root, { database, before, signal }], "ERR_CANCELLED"],
        [rebuildIndex as Untyped, [root, {}], "ERR_INPUT"],
        [rebuildIndex as Untyped, [gone, { database: databaseOf(root) }], "ERR_FILE"],
        [rebuildIndex as Untyped, [root, { database: join(gone, "x", "y.sqlite") }], "ERR_STORE"],
        [rebuildIndex as Untyped, [root, { database: join(databaseOf(root), "y.sqlite") }], "ERR_STORE"],
        [rebuildIndex as Untyped, [root, { database: "a\0b" }], "ERR_STORE"],
        [rebuildIndex as Untyped, [root, { database: databaseOf(root), signal }], "ERR_CANCELLED"],
      ];
      for (const [call, given, code] of cases) {
        const error = await call(...given).then(
          () => undefined,
          (reason: unknown) => reason,
        );
        assert.ok(
          error instanceof DimensionerError,
          `${call.name} ${JSON.stringify(given)}: ${String(error)}`,
        );
        assert.equal(error.code, code, `${call.name} ${JSON.stringify(given)}`);
      }
    });
  });
});
