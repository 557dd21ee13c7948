import assert from "node:assert/strict";
import { cp, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { copyArchive, pruneArchive, rebuildIndex } from "../../src/vault/commands.ts";
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
  const archivedOf = async (root: string, index: number): Promise<Date> =>
    new Date(
      JSON.parse(await readFile(join(root, archive.paths[index] ?? "", "manifest.json"), "utf8")).times
        .archived,
    );
  /** Deletes the packages before this one in the folder. */
  const pruneBefore = async (root: string, database: string, index: number): Promise<void> => {
    await pruneArchive(root, { before: await archivedOf(root, index), database });
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
  const isManifest = (key: string): boolean => key.endsWith("/manifest.json");
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
        assert.equal((await rebuildIndex(to, { database: index })).packages, 3);
        assert.deepEqual(await said([index]), []);
        await body(index, root, database);
      }),
    );

  it("is verified like that of any other", () =>
    withIndex(async (index) => {
      const lost = lose(0, isPicture).map((key) => `missing ${key}`);
      assert.deepEqual((await said([index])).toSorted(), lost.toSorted());
      assert.deepEqual((await said(null)).toSorted(), lost.toSorted());
    }));

  it("does not hide that it was lost, also after it was copied and pruned again", () =>
    withIndex(async (index, root, database) => {
      const [path = "", next = ""] = archive.paths;
      lose(0);
      const lost = [`previous-missing ${next}`, `missing-package ${path}`];
      assert.deepEqual(await said([index]), lost);
      await pruneBefore(root, database, 2);
      await copy(root);
      assert.deepEqual(await said([index]), lost);
      const before = new Date("2026-01-01");
      assert.equal((await pruneArchive(to, { before, database: index })).rowsRemoved, 0);
      assert.deepEqual(await said([index]), lost);
    }));

  it("keeps its media in the bucket where its manifest was lost", () =>
    withIndex(async (index) => {
      lose(0, isManifest);
      const storedAt = new Date(Date.now() - 48 * 3_600_000);
      for (const [key, object] of stub.objects) {
        stub.objects.set(key, { ...object, storedAt });
      }
      const objects = stub.objects.size;
      const found = await said([index]);
      assert.ok(found.includes(`missing-package ${archive.paths[0] ?? ""}`), found.join());
      await pruneArchive(to, { before: new Date("2026-01-01") });
      assert.equal(stub.objects.size, objects);
    }));

  it("is noted where the database of the folder does not list it any more, and another one there is a finding", () =>
    withIndex(async (index, root, database) => {
      const { findings, report } = await verify(to, [database]);
      assert.deepEqual([findings, report.verdict], [[], "ok"]);
      assert.deepEqual(
        report.notes.map(({ kind, text }) => `${kind}: ${text}`),
        [
          `other-folder: the store of this database last used the folder ${root}`,
          `kept-here: 1 package that was deleted in ${root} because of its age is still here`,
        ],
      );
      changeDatabase(database, "DELETE FROM packages WHERE transaction_id = 'm1'");
      const [path = "", next = ""] = archive.paths;
      assert.deepEqual(await said([database]), [`unlisted ${next}`]);
      // In the bucket's own index it must be listed.
      changeDatabase(index, "DELETE FROM packages WHERE transaction_id = 'm0'");
      changeDatabase(index, "UPDATE store SET store_id = (SELECT store_id FROM packages LIMIT 1)");
      assert.deepEqual(await said([index]), [`unlisted ${path}`]);
    }));

  it("may be deleted in the bucket by its age, and the next copying changes nothing about that", () =>
    withIndex(async (index, root) => {
      const before = await archivedOf(root, 1);
      const { deleted, rowsRemoved } = await pruneArchive(to, { before, database: index });
      assert.deepEqual([deleted, rowsRemoved], [1, 1]);
      assert.deepEqual(await said([index]), []);
      const { bytes } = await copy(root);
      assert.equal(bytes, 0);
      assert.deepEqual(await said([index]), []);
    }));

  it("asks the bucket once for each deleted package, and sends the log again only if there is a new line", () =>
    withIndex(async (_index, root, database) => {
      const requestsFor = async (): Promise<string[]> => {
        stub.requests.length = 0;
        await copy(root);
        return stub.requests
          .filter(({ method, key }) => method === "PUT" || (method === "HEAD" && isManifest(key)))
          .map(({ method, key }) => `${method} ${key}`)
          .toSorted();
      };
      const head = (index: number): string => `HEAD parcels/${archive.paths[index] ?? ""}/manifest.json`;
      assert.deepEqual(await requestsFor(), [head(1), head(2)]);
      await pruneBefore(root, database, 2);
      assert.deepEqual(await requestsFor(), [
        head(1),
        head(2),
        "PUT parcels/.dimensioner-archive/pruned.jsonl",
      ]);
      assert.deepEqual(await requestsFor(), [head(2)]);
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
        const { findings } = await verify(folder, null);
        assert.deepEqual(
          findings.map((one) => `${one.kind} ${one.path}`),
          [`previous-missing ${next}`],
        );
      }),
    ));

  it("is no gap where it was never copied, and is kept where it comes back and is copied then", () =>
    archive.withArchive((root, database) =>
      withFolder(async (backup) => {
        const [path = ""] = archive.paths;
        await cp(join(root, path), join(backup, "m0"), { recursive: true });
        await pruneBefore(root, database, 1);
        await copy(root);
        assert.deepEqual(await said(null), []);
        await cp(join(backup, "m0"), join(root, path), { recursive: true });
        assert.equal((await copy(root)).copied, 1);
        lose(0);
        assert.deepEqual(await said(null), [`previous-missing ${archive.paths[1] ?? ""}`]);
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

  it("is known to be there also if copying the log was interrupted, or another log was copied", () =>
    archive.withArchive(async (root, database) => {
      await copy(root);
      await pruneBefore(root, database, 1);
      stub.fault = ({ method, key }) =>
        method === "PUT" && key.endsWith("/pruned.jsonl") ? { status: 403, code: "AccessDenied" } : undefined;
      await assert.rejects(copy(root));
      stub.fault = () => undefined;
      await copy(root);
      const key = "parcels/.dimensioner-archive/pruned.jsonl";
      const log = stub.objects.get(key);
      assert.ok(log !== undefined);
      const body = Buffer.concat([Buffer.from("another line\n"), log.body]);
      stub.objects.set(key, { body, headers: {} });
      lose(0);
      await copy(root);
      assert.deepEqual(stub.objects.get(key)?.body, log.body);
      assert.deepEqual(await said(null), [`previous-missing ${archive.paths[1] ?? ""}`]);
    }));
});
