import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { saveExport } from "../../src/evidence/export/export-packages.ts";
import { withPackages } from "../../src/evidence/packages.ts";
import { runInThread } from "../../src/evidence/run-in-thread.ts";
import { readStoreState } from "../../src/evidence/store-state.ts";
import {
  type EvidencePackage,
  type Finding,
  findPackages,
  holdPackages,
  releasePackages,
  verifyArchive,
} from "../../src/index.ts";
import { manifestFileName } from "../../src/vault/archive-disk.ts";
import { readEvent } from "../../src/vault/log/events.ts";
import { LogFilesReader, storesWithLog } from "../../src/vault/log/log-files.ts";
import { withFolder } from "../media/support.ts";
import { type BucketServer, s3Servers, useCredentials } from "../support/s3-servers.ts";
import { bucketSuites } from "./bucket-archive.ts";
import { type InBucket, keysIn, withBucket } from "./in-bucket.ts";
import { copiesOfArchive } from "./packages.ts";
import { bundleVerb, runChild } from "./processes.ts";
import { readZip } from "./read-zip.ts";
import { databaseOf, newDatabases } from "./store.ts";

const measurement = JSON.stringify({
  length: 33.5,
  width: 21,
  height: 12.5,
  dimsUnitOfMeasure: "cm",
  weight: 1.27,
  weightUnitOfMeasure: "kg",
});
const now = new Date("2026-11-22T10:00:00Z");

describe("archive: evidence in a bucket", () => {
  useCredentials();
  const archive = copiesOfArchive(["m0", "m1", "m2"], () => ({ measurement }));
  let server: BucketServer;
  const inBucket = (body: (given: InBucket) => Promise<void>) => withBucket(server, archive, body);

  for (const { name: storeName, start } of bucketSuites.slice(0, 2)) {
    describe(`of ${storeName}`, () => {
      before(async () => {
        server = await start();
      });
      after(() => server.close());

      it("is found and described as in a folder, with its addresses in the bucket", () =>
        inBucket(async ({ root, database, url, name }) => {
          const found = await findPackages(url, { database, by: "text", value: "order" });
          const expected = await findPackages(root, { database, by: "text", value: "order" });
          const moved = (one: EvidencePackage): EvidencePackage => ({
            ...one,
            folder: `${name}/${one.location}`,
            files: one.files.map((file) => ({
              ...file,
              path: `${name}/${one.location}/${basename(file.path)}`,
            })),
          });
          assert.deepEqual([found.length, found[0]?.length, found[0]?.files.length], [3, 33.5, 2]);
          assert.deepEqual(found, expected.map(moved));
        }));

      it("says which package is gone, and describes the others", () =>
        inBucket(async ({ database, url, name, vault }) => {
          const [, gone = ""] = archive.paths;
          await vault.removePackage(join(vault.root, gone));
          const found = await findPackages(url, { database, by: "all" });
          assert.deepEqual(
            found.map(({ location, problem }) => [location, problem !== null]),
            archive.paths.toReversed().map((path) => [path, path === gone]),
          );
          assert.equal(found[1]?.folder, `${name}/${gone}`);
        }));

      it("is put on hold and released, with each change in the log", () =>
        inBucket(async ({ database, url, vault }) => {
          const one = { database, by: "transactionId", value: "m0" } as const;
          const [held] = await holdPackages(url, { ...one, reason: "claim 7", person: "Anna" });
          assert.deepEqual([held?.hold?.reason, held?.hold?.person], ["claim 7", "Anna"]);
          const [again] = await holdPackages(url, { ...one, reason: "claim 8" });
          assert.deepEqual([again?.hold?.reason, again?.hold?.person], ["claim 8", null]);
          assert.equal((await verifyArchive(url, { database })).findings, 0);
          const [released] = await releasePackages(url, { ...one, reason: "settled", person: "Jo" });
          assert.equal(released?.hold, null);
          // What is not on hold can be released as well.
          await releasePackages(url, { ...one, reason: "settled" });
          const lines: string[] = [];
          const [store = ""] = await storesWithLog(vault.root, vault.disk);
          for await (const read of new LogFilesReader(vault.root, store, vault.disk).read()) {
            for (const { n, line } of read) {
              const event = readEvent(line);
              if (event?.what === "held" || event?.what === "released") {
                assert.equal(event.path, archive.paths[0]);
                lines[n] = `${event.what} ${event.reason} ${String(event.person)}`;
              }
            }
          }
          assert.deepEqual(Object.values(lines), [
            "held claim 7 Anna",
            "held claim 8 null",
            "released settled Jo",
            "released settled null",
          ]);
        }));

      it("shows a hold that somebody has put there, and does not remove it", () =>
        inBucket(async ({ database, url, vault }) => {
          const one = { database, by: "transactionId", value: "m1" } as const;
          const path = archive.paths[1] ?? "";
          const file = join(vault.root, path, "hold.txt");
          await vault.write(file, "the police has called\n");
          const [found] = await findPackages(url, one);
          assert.deepEqual(found?.hold, { heldAt: null, person: null, reason: "the police has called" });
          await assert.rejects(releasePackages(url, { ...one, reason: "settled" }), {
            code: "ERR_INPUT",
            sentence: "evidenceHeldByFile",
          });
          assert.deepEqual(await keysIn(vault, ".dimensioner-archive/holds.jsonl"), []);
          await vault.remove(file);
          assert.equal((await findPackages(url, one))[0]?.hold, null);
        }));

      it("is exported with the same bytes as from a folder, into a file and as a stream", () =>
        withFolder((to) =>
          inBucket(async ({ root, database, url, location }) => {
            const save = (folder: string) =>
              withPackages(
                { folder, database, operation: "export" },
                { by: "all", limit: 100 },
                async (vault, packages) => ({
                  packages,
                  ...(await saveExport(vault, packages, {
                    language: "en-US",
                    target: { folder: to, ifExists: "rename" },
                    onProgress: () => undefined,
                    signal: undefined,
                    now: () => now,
                  })),
                }),
              );
            const [here, there] = [await save(root), await save(url)];
            assert.deepEqual([there.verification.verdict, there.verification.packages], ["ok", 3]);
            assert.equal(there.output.sha256, here.output.sha256);

            const blocks: Uint8Array[] = [];
            const stream = {
              begin: () => undefined,
              write: async (one: Uint8Array) => void blocks.push(one),
            };
            const { packages } = there;
            const task = {
              action: "stream",
              vault: location,
              packages,
              language: "en-US",
              roots: "",
            } as const;
            const { signal } = new AbortController();
            await runInThread(task, { signal, onProgress: () => undefined, stream });
            const streamed = join(to, "streamed.zip");
            await writeFile(streamed, Buffer.concat(blocks));
            const ofPackages = async (path: string) =>
              (await readZip(path, (one) => one.startsWith("packages/"))).map(({ name, content }) => [
                name,
                content.toString("hex"),
              ]);
            assert.deepEqual(await ofPackages(streamed), await ofPackages(here.output.path));
          }),
        ));

      it("is verified in a thread, one package of it or all, and says what has changed", () =>
        inBucket(async ({ database, location, vault }) => {
          const run = async (isAll: boolean, ids: readonly string[]) => {
            const packages = isAll ? null : await listed(database, ids);
            const { signal } = new AbortController();
            return runInThread(
              {
                action: "verify",
                vault: location,
                database: { kind: "file", file: database },
                packages,
                roots: "",
                most: 10,
              },
              { signal, onProgress: () => undefined },
            );
          };
          const all = await run(true, []);
          assert.deepEqual([all.verdict, all.packages, all.expected], ["ok", 3, 3]);
          const [first = ""] = archive.paths;
          const [key = ""] = (await keysIn(vault, first)).filter((one) => one.endsWith(".jpg"));
          await vault.write(join(vault.root, key), "another picture");
          const changed = (found: readonly Finding[]) => found.map(({ kind, path }) => `${kind} ${path}`);
          assert.deepEqual(changed((await run(false, ["m0", "m1"])).first), [`changed ${key}`]);
          assert.deepEqual(changed((await run(true, [])).first), [`changed ${key}`]);
          await vault.remove(join(vault.root, first, manifestFileName));
          assert.deepEqual(changed((await run(false, ["m0"])).first), [`missing-package ${first}`]);
        }));
    });
  }

  describe("on the command line and in a node", () => {
    before(async () => {
      server = await (s3Servers["a store with conditions"]?.() ?? assert.fail());
    });
    after(() => server.close());

    it("is exported by the command, with the address in the place of the folder", () =>
      withFolder((to) =>
        inBucket(async ({ database, url }) => {
          const script = await bundleVerb("export");
          const wanted = ["--database", database, "--value", "ORDER-1", "--to", to, "--json"];
          const { code, stdout, stderr } = await runChild(script, [url, ...wanted]);
          assert.equal(code, 0, stderr);
          const { path, verdict, packages } = JSON.parse(stdout);
          assert.deepEqual([verdict, packages], ["ok", 3]);
          assert.ok(
            (await readZip(path)).some(({ name }) => name === `packages/${archive.paths[0]}/manifest.json`),
          );
        }),
      ));

    it("reports no free space, because a bucket has no limit", () =>
      inBucket(async ({ root, location }) => {
        const connection = await newDatabases().open({ kind: "file", file: databaseOf(root) });
        try {
          const state = await readStoreState({
            database: connection.database,
            kind: "file",
            vault: location,
          });
          assert.deepEqual([state.openJobs, state.freeBytes, state.totalBytes], [0, null, null]);
        } finally {
          await connection.release();
        }
      }));
  });
});

/** The packages of these transactions as the index lists them. */
function listed(database: string, ids: readonly string[]) {
  return Promise.all(
    ids.map((value) =>
      withPackages(
        { folder: join(database, "../.."), database, operation: "verify" },
        { by: "transactionId", value, limit: 1 },
        async (_files, [one]) => one ?? assert.fail(value),
      ),
    ),
  );
}
