import assert from "node:assert/strict";
import { cp, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { copyArchive, pruneArchive, rebuildIndex } from "../../src/vault/upkeep/upkeep.ts";
import { withFolder } from "../media/support.ts";
import { useCredentials } from "../support/s3-servers.ts";
import { type BucketStub, startStub } from "../support/s3-stub.ts";
import { changeDatabase, copiesOfArchive, verify } from "./packages.ts";

describe("archive: a copy in a bucket of packages that were deleted in the folder because of their age", () => {
  useCredentials();
  const archive = copiesOfArchive(["m0", "m1", "m2"]);
  let stub: BucketStub;
  let to: string;
  beforeEach(async () => {
    stub = await startStub();
    to = stub.url("parcels");
  });
  afterEach(() => stub.close());

  const copy = (root: string) => copyArchive(root, to, {});
  /** Deletes the packages before this one in the folder. */
  const pruneBefore = async (root: string, database: string, index: number): Promise<void> => {
    const manifest = await readFile(join(root, archive.paths[index] ?? "", "manifest.json"), "utf8");
    const before = new Date(JSON.parse(manifest).times.archived);
    await pruneArchive(root, { before, database });
  };
  /** Removes objects of a package from the bucket, and returns their keys below the prefix. */
  const lose = (index: number, what: (key: string) => boolean = () => true): string[] => {
    const keys = [...stub.objects.keys()].filter(
      (key) => key.startsWith(`parcels/${archive.paths[index] ?? ""}/`) && what(key),
    );
    keys.forEach((key) => stub.objects.delete(key));
    return keys.map((key) => key.slice("parcels/".length));
  };
  const isPicture = (key: string): boolean => key.endsWith(".jpg");
  const isOfLog = (key: string): boolean => key.includes("/.dimensioner-archive/log/");
  const said = async (databases: string[] | null): Promise<string[]> =>
    (await verify(to, databases)).findings.map(({ kind, path }) => `${kind} ${path}`);
  /** An index of the bucket, after the first package was copied, deleted in the folder, and its deletion copied. */
  const withIndex = (body: (index: string, root: string, database: string) => Promise<void>) =>
    archive.withArchive((root, database) =>
      withFolder(async (folder) => {
        await copy(root);
        await pruneBefore(root, database, 1);
        await copy(root);
        const index = join(folder, "index.sqlite");
        const { packages, notIndexed, notes } = await rebuildIndex(to, { database: index });
        assert.deepEqual([packages, notIndexed], [2, 0]);
        assert.ok(notes.some(({ kind }) => kind === "kept-here"));
        assert.deepEqual(await said([index]), []);
        await body(index, root, database);
      }),
    );

  it("is verified like that of any other, and its loss is none", () =>
    withIndex(async (index) => {
      const lost = lose(0, isPicture).map((key) => `missing ${key}`);
      assert.deepEqual((await said([index])).toSorted(), lost.toSorted());
      assert.deepEqual((await said(null)).toSorted(), lost.toSorted());
      lose(0);
      assert.deepEqual(await said([index]), []);
      lose(1);
      assert.deepEqual(await said(null), [`missing-package ${archive.paths[1] ?? ""}`]);
    }));

  it("is noted, and what the database of the folder does not list is a finding", () =>
    withIndex(async (_index, root, database) => {
      const { findings, report } = await verify(to, [database]);
      assert.deepEqual([findings, report.verdict], [[], "ok"]);
      assert.deepEqual(
        report.notes.map(({ kind, text }) => `${kind}: ${text}`),
        [
          `other-folder: the store of this database last used the folder ${root}`,
          "kept-here: 1 package that the log says was deleted is here: it was brought back from a backup, or kept in this copy",
        ],
      );
      changeDatabase(database, "DELETE FROM packages WHERE transaction_id = 'm1'");
      assert.deepEqual(await said([database]), [`unlisted ${archive.paths[1] ?? ""}`]);
    }));

  it("asks the bucket for none of its objects, and sends only new lines of the log", () =>
    withIndex(async (_index, root, database) => {
      const requestsFor = async (): Promise<string[]> => {
        stub.requests.length = 0;
        await copy(root);
        return stub.requests
          .filter(({ method, key }) => method === "PUT" || archive.paths.some((path) => key.includes(path)))
          .map(({ method, key }) => `${method} ${isOfLog(key) ? "log" : key}`);
      };
      assert.deepEqual(await requestsFor(), []);
      await pruneBefore(root, database, 2);
      assert.deepEqual(await requestsFor(), ["PUT log"]);
      assert.deepEqual(await requestsFor(), []);
    }));

  it("is verified in a folder that was restored from the bucket, which can be copied there again", () =>
    withIndex(() =>
      withFolder(async (folder) => {
        for (const [key, { body }] of stub.objects) {
          const path = join(folder, key.slice("parcels/".length));
          await mkdir(dirname(path), { recursive: true });
          await writeFile(path, body);
        }
        const { bytes, alreadyThere } = await copy(folder);
        assert.deepEqual([bytes, alreadyThere], [0, 3]);
        const [path = "", next = ""] = archive.paths;
        await rm(join(folder, path), { recursive: true });
        assert.deepEqual((await verify(folder, null)).findings, []);
        await rm(join(folder, next), { recursive: true });
        const { findings } = await verify(folder, null);
        assert.deepEqual(
          findings.map((one) => `${one.kind} ${one.path}`),
          [`missing-package ${next}`],
        );
      }),
    ));

  it("is no gap where it was never copied, and is copied where it comes back", () =>
    archive.withArchive((root, database) =>
      withFolder(async (backup) => {
        const [path = ""] = archive.paths;
        await cp(join(root, path), join(backup, "m0"), { recursive: true });
        await pruneBefore(root, database, 1);
        await copy(root);
        assert.deepEqual(await said(null), []);
        await cp(join(backup, "m0"), join(root, path), { recursive: true });
        assert.equal((await copy(root)).copied, 1);
        assert.deepEqual(await said(null), []);
      }),
    ));

  it("does not end the copying if its old place in the folder cannot be read", () =>
    archive.withArchive(async (root, database) => {
      const place = join(root, archive.paths[0] ?? "");
      await pruneBefore(root, database, 1);
      await copy(root);
      await symlink(place, place);
      assert.equal((await copy(root)).alreadyThere, 2);
      assert.deepEqual(await said(null), []);
    }));

  it("is known to be deleted from the next run on, if copying the log was interrupted", () =>
    archive.withArchive(async (root, database) => {
      await copy(root);
      await pruneBefore(root, database, 1);
      stub.fault = ({ method, key }) =>
        method === "PUT" && isOfLog(key) ? { status: 403, code: "AccessDenied" } : undefined;
      await assert.rejects(copy(root));
      stub.fault = () => undefined;
      lose(0);
      assert.deepEqual(await said(null), [`missing-package ${archive.paths[0] ?? ""}`]);
      await copy(root);
      assert.deepEqual(await said(null), []);
    }));
});
