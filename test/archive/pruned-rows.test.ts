import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { withPackages } from "../../src/evidence/packages.ts";
import { runInThread } from "../../src/evidence/run-in-thread.ts";
import {
  type ExportedPackages,
  exportPackages,
  findPackages,
  holdPackages,
  pruneArchive,
  releasePackages,
} from "../../src/index.ts";
import type { VerifyReport } from "../../src/model/archive-reports.ts";
import { rejectsWith, withFolder } from "../media/support.ts";
import { copiesOfArchive, fillArchive, keepingRows } from "./packages.ts";
import { storeIn } from "./store.ts";

describe("archive: packages that were deleted by age by a run that was killed before it removed their rows", () => {
  const archive = copiesOfArchive(["m0", "m1", "m2", "m3"]);
  const ofOrder = { by: "reference", value: "ORDER-1" } as const;

  /** Deletes by age the packages before this one, and is killed before their rows are removed. */
  const pruneBefore = async (root: string, database: string, kept: string): Promise<void> => {
    const all = await findPackages(root, { database, by: "all" });
    const archivedAt = all.find(({ location }) => location === kept)?.archivedAtUtc;
    const before = new Date(archivedAt ?? assert.fail(kept));
    const { deleted } = await keepingRows(database, () => pruneArchive(root, { before, database }));
    assert.ok(deleted > 0);
  };
  /** Deletes the first package by age. */
  const withRow = (body: (root: string, database: string) => Promise<void>): Promise<void> =>
    archive.withArchive(async (root, database) => {
      await pruneBefore(root, database, archive.paths[1] ?? "");
      await body(root, database);
    });
  const verify = (root: string, database: string): Promise<VerifyReport> =>
    withPackages({ folder: root, database, operation: "verify" }, { ...ofOrder, limit: 100 }, (_, packages) =>
      runInThread(
        {
          action: "verify",
          vault: { kind: "folder", path: root },
          database: { kind: "file", file: database },
          packages,
          roots: "",
          most: 9,
        },
        { onProgress: () => undefined, signal: new AbortController().signal },
      ),
    );
  const verifyExport = async (root: string, database: string) => {
    const made: ExportedPackages[] = [];
    await withFolder(async (to) => {
      made.push(await exportPackages(root, { database, ...ofOrder, to }));
    });
    return (made[0] ?? assert.fail("nothing was exported")).verification;
  };

  it("do not keep the others of their reference from being found, held and released", () =>
    withRow(async (root, database) => {
      const one = { database, ...ofOrder } as const;
      const there = archive.paths.slice(1).toReversed();
      const found = await findPackages(root, one);
      assert.deepEqual(
        found.map(({ location, problem }) => [location, problem]),
        there.map((path) => [path, null]),
      );
      const held = await holdPackages(root, { ...one, reason: "claim" });
      assert.deepEqual(
        held.map(({ location, hold }) => [location, hold?.reason]),
        there.map((path) => [path, "claim"]),
      );
      assert.equal((await pruneArchive(root, { before: new Date(Date.now() + 1_000), database })).deleted, 1);
      const released = await releasePackages(root, { ...one, reason: "settled" });
      assert.deepEqual(
        released.map(({ hold }) => hold),
        there.map(() => null),
      );
    }));

  it("are no findings when the packages of their reference are verified and exported", () =>
    withRow(async (root, database) => {
      for (const result of [await verify(root, database), await verifyExport(root, database)]) {
        const { verdict, packages, expected } = result;
        assert.deepEqual({ verdict, packages, expected }, { verdict: "ok", packages: 3, expected: 3 });
      }
    }));

  it("do not take the places of older ones that are on hold", () =>
    archive.withArchive(async (root, database) => {
      const [held = "", , , kept = ""] = archive.paths;
      await holdPackages(root, { database, by: "transactionId", value: "m0", reason: "claim" });
      await pruneBefore(root, database, kept);
      const found = await findPackages(root, { database, ...ofOrder, limit: 2 });
      assert.deepEqual(
        found.map(({ location }) => location),
        [kept, held],
      );
    }));

  it("are left out also where a package of another store has their place now", () =>
    withRow(async (root, database) => {
      const [reused = "", ...others] = archive.paths;
      const store = storeIn(root, undefined, join(root, ".dimensioner-archive", "other.sqlite"));
      assert.deepEqual(await fillArchive(root, ["m0"], undefined, { store }), [reused]);
      const found = await findPackages(root, { database, ...ofOrder });
      assert.deepEqual(
        found.map(({ location }) => location),
        others.toReversed(),
      );
      assert.equal((await verify(root, database)).verdict, "ok");
    }));

  it("may be archived again at their place, which is no change of the package after them", () =>
    withRow(async (root, database) => {
      const [again = ""] = archive.paths;
      assert.deepEqual(await fillArchive(root, ["m0"]), [again]);
      assert.equal((await verify(root, database)).verdict, "ok");
      assert.deepEqual((await verifyExport(root, database)).findings, []);
    }));

  it("are as if they had never been there where no other is left", () =>
    withRow(async (root, database) => {
      const one = { database, by: "transactionId", value: "m0" } as const;
      assert.deepEqual(await findPackages(root, one), []);
      await rejectsWith(holdPackages(root, { ...one, reason: "claim" }), "ERR_NOT_FOUND", "evidenceNotFound");
    }));

  it("are told from a package that is gone otherwise, which is named when the others are on hold", () =>
    withRow(async (root, database) => {
      const one = { database, ...ofOrder } as const;
      const [, gone = "", ...there] = archive.paths;
      await rm(join(root, gone), { recursive: true });
      const error = await rejectsWith(
        holdPackages(root, { ...one, reason: "claim" }),
        "ERR_NOT_FOUND",
        "evidenceGoneOthersHeld",
      );
      assert.equal(error.values["path"], gone);
      const found = await findPackages(root, one);
      assert.deepEqual(
        found.map(({ location, hold, problem }) => [location, hold?.reason, problem !== null]),
        [...there.toReversed().map((path) => [path, "claim", false]), [gone, undefined, true]],
      );
      await rejectsWith(
        releasePackages(root, { ...one, reason: "settled" }),
        "ERR_NOT_FOUND",
        "evidenceGone",
      );
      assert.ok((await findPackages(root, one)).some(({ hold }) => hold !== null));
      const alone = { database, by: "transactionId", value: "m1", reason: "claim" } as const;
      await rejectsWith(holdPackages(root, alone), "ERR_NOT_FOUND", "evidenceGone");
      const report = await verify(root, database);
      assert.deepEqual([report.findings, report.verdict], [1, "wrong"]);
      const { findings } = await verifyExport(root, database);
      assert.deepEqual(
        findings.map(({ kind, path }) => [kind, path]),
        [["missing-package", gone]],
      );
    }));
});
