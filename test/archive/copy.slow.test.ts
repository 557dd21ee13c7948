import assert from "node:assert/strict";
import { appendFile, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { CopyReport, NotCopied } from "../../src/model/archive-reports.ts";
import { holdPackages, releasePackages } from "../../src/index.ts";
import { copyArchive, pruneArchive, rebuildIndex } from "../../src/vault/upkeep/upkeep.ts";
import type { BucketLocation } from "../../src/vault/store.ts";
import { namedVault, openBucketVault } from "../../src/vault/open-vault.ts";
import { withFolder } from "../media/support.ts";
import { type BucketServer, s3Servers, useCredentials } from "../support/s3-servers.ts";
import { type BucketStub, startStub } from "../support/s3-stub.ts";
import { readLogged } from "./logged.ts";
import { changeDatabase, copiesOfArchive, fillArchive, verify } from "./packages.ts";
import { loggedIn } from "./bucket-archive.ts";
import { bundleVerb, runChild } from "./processes.ts";

async function copy(root: string, to: string): Promise<{ report: CopyReport; notCopied: NotCopied[] }> {
  const notCopied: NotCopied[] = [];
  const report = await copyArchive(root, to, { onNotCopied: (one) => notCopied.push(one) });
  return { report, notCopied };
}

function inPrefix(to: string): BucketLocation {
  const location = namedVault(to);
  assert.ok(location.kind === "s3");
  return location;
}

describe("archive: copying to a bucket", () => {
  useCredentials();
  const archive = copiesOfArchive(["m0", "m1", "m2"]);

  for (const [name, start] of Object.entries(s3Servers)) {
    describe(`of ${name}`, () => {
      let server: BucketServer;
      before(async () => {
        server = await start();
      });
      after(() => server.close());

      it("makes a copy that can be verified, also with the database, and sends nothing twice", () =>
        archive.withArchive(async (root, file) => {
          const to = server.url("dock 4/ü");
          const first = await copy(root, to);
          assert.deepEqual(first.notCopied, []);
          assert.deepEqual([first.report.copied, first.report.alreadyThere], [3, 0]);
          const { report, findings } = await verify(to, [file]);
          assert.deepEqual([report.packages, report.expected, findings], [3, 3, []]);
          // What it cannot know without the folder: nothing.
          assert.deepEqual(report.unchecked, []);
          const again = await copy(root, to);
          assert.deepEqual([again.report.copied, again.report.alreadyThere, again.report.bytes], [0, 3, 0]);
        }));
    });
  }

  it("can be listed in an index, which the copy fits and another folder does not", () =>
    archive.withArchive(async (root) => {
      const stub = await startStub();
      try {
        const to = stub.url("parcels");
        await copy(root, to);
        await withFolder(async (folder) => {
          const database = join(folder, "index.sqlite");
          const [made, again] = [await rebuildIndex(to, { database }), await rebuildIndex(to, { database })];
          assert.deepEqual([made.database, made.packages, made.notIndexed], ["made", 3, 0]);
          assert.deepEqual([again.database, again.packages, again.notIndexed], ["completed", 3, 0]);
          const { report, findings } = await verify(to, [database]);
          assert.deepEqual([report.expected, findings, report.notes], [3, [], []]);
          await assert.rejects(rebuildIndex(root, { database }), { sentence: "storeOtherFolder" });
        });
      } finally {
        await stub.close();
      }
    }));

  it("is not pruned with the database of the folder", () =>
    archive.withArchive(async (root, file) => {
      const stub = await startStub();
      try {
        changeDatabase(file, `UPDATE store SET folder = '${root}'`);
        const to = stub.url("parcels");
        await copy(root, to);
        const objects = stub.objects.size;
        const before = new Date(Date.now() + 60_000);
        for (const options of [{}, { dryRun: true }]) {
          const refused = pruneArchive(to, { before, database: file, ...options });
          await assert.rejects(refused, (error: Error) => {
            assert.ok(
              error.message.includes(`lists the packages of ${root}, not those of s3://`),
              error.message,
            );
            return true;
          });
        }
        assert.equal(stub.objects.size, objects, "nothing was deleted");
        const { report, findings } = await verify(root, [file]);
        assert.deepEqual([report.expected, findings], [3, []]);
      } finally {
        await stub.close();
      }
    }));

  it("is a folder of packages again when any program downloads it", () =>
    archive.withArchive(async (root, file) => {
      const stub = await startStub();
      try {
        await copy(root, stub.url("parcels"));
        await withFolder(async (folder) => {
          for (const [key, { body }] of stub.objects) {
            const path = join(folder, key.replace("parcels/", ""));
            await mkdir(dirname(path), { recursive: true });
            await writeFile(path, body);
          }
          const { report, findings } = await verify(folder, [file]);
          assert.deepEqual([report.packages, report.expected, findings], [3, 3, []]);
        });
      } finally {
        await stub.close();
      }
    }));

  it("is done and verified by the command lines, which say with their exit code what has become of it", () =>
    archive.withArchive(async (root) => {
      const [copyScript, verifyScript] = await Promise.all(
        ["copy", "verify"].map((name) => bundleVerb(name)),
      );
      const stub = await startStub();
      try {
        const [to, [path = ""]] = [stub.url("parcels"), archive.paths];
        const run = (...args: string[]) => runChild(copyScript ?? "", [root, ...args]);
        const first = await run(to);
        assert.equal(first.code, 0, first.stderr);
        assert.match(
          first.stdout,
          /^s3:\/\/evidence\/parcels: 3 packages copied, [\d.]+ kB; 0 already there\n$/,
        );
        const verified = await runChild(verifyScript ?? "", [to, "--json"]);
        assert.equal(JSON.parse(verified.stdout).packages, 3);
        stub.objects.set(`parcels/${path}/manifest.json`, { body: Buffer.from("{}"), headers: {} });
        const again = await run(to, "--json");
        const { findings, alreadyThere } = JSON.parse(again.stdout);
        assert.deepEqual([again.code, alreadyThere, findings[0].path], [1, 2, path]);
        for (const args of [[], [to, to], ["s3:x"], [to, "--retain-days", "0"], [join(root, "copy")]]) {
          const { code, stdout, stderr } = await run(...args);
          assert.deepEqual([code, stdout], [2, ""], stderr);
        }
        stub.fault = () => ({ status: 403, code: "AccessDenied" });
        const denied = await runChild(verifyScript ?? "", [to]);
        assert.equal(denied.code, 2);
        assert.match(denied.stderr, /^dimensioner verify: The object store denies access to s3:/);
      } finally {
        await stub.close();
      }
    }));

  describe("as it goes wrong", () => {
    let stub: BucketStub;
    let to: string;
    beforeEach(async () => {
      stub = await startStub();
      to = stub.url("parcels");
    });
    afterEach(() => stub.close());

    const manifests = () => [...stub.objects.keys()].filter((key) => key.endsWith("/manifest.json"));

    it("does not copy a package with a damaged file, and says which", () =>
      archive.withArchive(async (root) => {
        const [path = ""] = archive.paths;
        const { items } = JSON.parse(await readFile(join(root, path, "manifest.json"), "utf8")) as {
          items: { path: string }[];
        };
        const damaged = items[0]?.path ?? "";
        await appendFile(join(root, path, damaged), "!");
        const { report, notCopied } = await copy(root, to);
        assert.deepEqual(notCopied, [{ path, problem: `${damaged} is not as it was archived` }]);
        assert.deepEqual([report.copied, report.failed, manifests().length], [2, 1, 2]);
      }));

    it("continues after an interruption with what is missing, and never has a manifest before the files", () =>
      archive.withArchive(async (root) => {
        const [path = ""] = archive.paths;
        const isCopied = () => stub.objects.has(`parcels/${path}/manifest.json`);
        let isInterrupted = true;
        // The first request fails, with all that come after it, then the second one, and so on.
        for (let served = 0; isInterrupted; served += 1) {
          let left = served;
          stub.objects.clear();
          stub.fault = () => (left-- > 0 ? undefined : { status: 403, code: "AccessDenied" });
          isInterrupted = await copy(join(root, path), to).then(
            () => false,
            () => true,
          );
          stub.fault = () => undefined;
          const [wasCopied, objects, requests] = [isCopied(), stub.objects.size, stub.requests.length];
          const { report } = await copy(join(root, path), to);
          assert.equal(report.copied, wasCopied ? 0 : 1);
          const sent = stub.requests.slice(requests).filter(({ method }) => method === "PUT").length;
          assert.equal(stub.objects.size, objects + sent, `after ${served} requests`);
        }
        const { report: verified } = await verify(to, null);
        assert.deepEqual([verified.packages, verified.findings], [1, 0]);
      }));

    it("copies a package that is alone under the name of its folder", () =>
      archive.withArchive(async (root) => {
        const [path = ""] = archive.paths;
        await withFolder(async (folder) => {
          await rename(join(root, path), join(folder, "claim 7"));
          await copy(join(folder, "claim 7"), stub.url(""));
        });
        assert.deepEqual(manifests(), ["claim 7/manifest.json"]);
      }));

    it("does not replace another package, with and without conditions for writing", () =>
      archive.withArchive(async (root) => {
        const [path = ""] = archive.paths;
        const key = `parcels/${path}/manifest.json`;
        stub.objects.set(key, { body: Buffer.from("another one"), headers: {} });
        const first = await copy(root, to);
        assert.deepEqual(first.notCopied, [
          { path, problem: "another package has the same name in the copy: it was not replaced" },
        ]);
        stub.objects.clear();
        // It comes between the question whether there is one and the answer to the writing.
        stub.fault = ({ method, key: written }) => {
          if (method === "PUT" && written === key) {
            stub.objects.set(key, { body: Buffer.from("another one"), headers: {} });
          }
          return undefined;
        };
        const second = await copy(root, to);
        assert.equal(second.report.failed, 1);
        assert.equal(String(stub.objects.get(key)?.body), "another one");
      }));

    it("asks for the names of all objects and for none of them, if it is unchanged", () =>
      archive.withArchive(async (root) => {
        await copy(root, to);
        stub.requests.length = 0;
        const { report } = await copy(root, to);
        assert.deepEqual([report.copied, report.alreadyThere, report.bytes], [0, 3, 0]);
        const ofPackages = stub.requests.filter(({ key }) =>
          archive.paths.some((path) => key.includes(path)),
        );
        assert.deepEqual(ofPackages, []);
        const listings = stub.requests.filter(({ query }) => query.get("prefix") === "parcels/");
        assert.equal(listings.length, 2, "of uploads and of objects");
        assert.ok(stub.requests.every(({ method }) => method === "GET" || method === "HEAD"));
      }));

    it("copies again what is missing in the bucket or has another length, and asks for a manifest that its log does not name", () =>
      archive.withArchive(async (root) => {
        await copy(root, to);
        const [first = "", second = "", third = ""] = archive.paths;
        const keyOf = (path: string, end: string): string =>
          [...stub.objects.keys()].find((key) => key.startsWith(`parcels/${path}/`) && key.endsWith(end)) ??
          "";
        const [lost, cut] = [keyOf(first, ".jpg"), keyOf(second, ".raw")];
        const whole = new Map(stub.objects);
        stub.objects.delete(lost);
        stub.objects.set(cut, { body: Buffer.from("cut"), headers: {} });
        stub.objects.set(`parcels/${third}/manifest.json`, { body: Buffer.from("{}"), headers: {} });
        const { report, notCopied } = await copy(root, to);
        assert.deepEqual([report.copied, report.failed], [2, 1]);
        assert.deepEqual(notCopied, [
          { path: third, problem: "another package has the same name in the copy: it was not replaced" },
        ]);
        for (const key of [lost, cut]) {
          assert.deepEqual(stub.objects.get(key)?.body, whole.get(key)?.body, key);
        }
      }));

    it("copies holds and time stamps as they come, and removes the file of a hold that was released", () =>
      archive.withArchive(async (root, database) => {
        await copy(root, to);
        const [path = ""] = archive.paths;
        const hold = `parcels/${path}/hold.json`;
        const which = { database, by: "transactionId", value: "m0", reason: "claim" } as const;
        await holdPackages(root, which);
        const stamp = join(root, ".dimensioner-archive", "timestamps", "t1");
        await mkdir(stamp, { recursive: true });
        await writeFile(join(stamp, "response.tsr"), "signed");
        await writeFile(join(stamp, "timestamp.json"), "{}");
        const { report } = await copy(root, to);
        assert.deepEqual([report.copied, report.alreadyThere], [0, 3]);
        for (const key of [hold, "parcels/.dimensioner-archive/timestamps/t1/response.tsr"]) {
          assert.ok(stub.objects.has(key), key);
        }
        assert.equal((await copy(root, to)).report.bytes, 0);
        await releasePackages(root, which);
        await copy(root, to);
        assert.ok(!stub.objects.has(hold));
        assert.deepEqual(
          (await verify(to, null)).findings.filter(({ kind }) => kind === "stray"),
          [],
        );
      }));

    it("has the log in the bucket after the packages, and none of its lines twice", () =>
      archive.withArchive(async (root) => {
        await copy(root, to);
        await fillArchive(root, ["m3"]);
        const first = stub.requests.length;
        await copy(root, to);
        const sent = stub.requests.slice(first).filter(({ method }) => method === "PUT");
        assert.ok(sent.at(-1)?.key.startsWith("parcels/.dimensioner-archive/log/"));
        const vault = await openBucketVault(inPrefix(to), {});
        assert.deepEqual(await loggedIn(vault), await readLogged(root));
        await vault.close();
        const logs = [...stub.objects].filter(([key]) => key.includes("/log/"));
        const lines = logs.flatMap(([, { body }]) => String(body).trim().split("\n"));
        assert.equal(lines.length, new Set(lines).size);
      }));

    it("removes uploads that were begun more than a day ago, and no other", () =>
      archive.withArchive(async (root) => {
        const begun = (hours: number) => new Date(Date.now() - hours * 3_600_000);
        const add = (id: string, key: string, hours: number) =>
          stub.uploads.set(id, { key, initiated: begun(hours), parts: new Map(), headers: {} });
        add("old", "parcels/2026/video.mp4", 25);
        add("new", "parcels/2026/other.mp4", 23);
        add("elsewhere", "parcels2/video.mp4", 48);
        const { report } = await copy(root, to);
        assert.equal(report.endedUploads, 1);
        assert.deepEqual([...stub.uploads.keys()], ["new", "elsewhere"]);
      }));

    it("protects copies where the bucket can, and stores nothing where it cannot", () =>
      archive.withArchive(async (root) => {
        await assert.rejects(copyArchive(root, to, { retainDays: 30 }), {
          code: "ERR_STORE",
          sentence: "bucketNoLock",
        });
        assert.equal(stub.objects.size, 0);
        const locked = await startStub({ hasLock: true });
        try {
          await copyArchive(root, locked.url(""), { retainDays: 30 });
          const days = [...locked.objects].flatMap(([key, { headers }]) =>
            key.startsWith(".")
              ? []
              : [
                  (Date.parse(headers["x-amz-object-lock-retain-until-date"] ?? "") - Date.now()) /
                    86_400_000,
                ],
          );
          assert.ok(days.length > 3 && days.every((one) => one > 29.9 && one <= 30), days.join());
        } finally {
          await locked.close();
        }
      }));

    it("protects what earlier runs have stored that could not protect it", () =>
      archive.withArchive(async (root) => {
        const locked = await startStub({ hasLock: true });
        const until = (): (string | undefined)[] =>
          [...locked.objects].flatMap(([key, { headers }]) =>
            key.startsWith(".") ? [] : [headers["x-amz-object-lock-retain-until-date"]],
          );
        try {
          locked.fault = ({ method, key, query, headers }) => {
            if (method === "PUT" && !key.startsWith(".")) {
              delete headers["x-amz-object-lock-retain-until-date"];
            }
            return query.has("retention") ? { status: 403, code: "AccessDenied" } : undefined;
          };
          for (let run = 1; run <= 12; run += 1) {
            await assert.rejects(copyArchive(root, locked.url(""), { retainDays: 30 }), {
              sentence: "bucketNotRetained",
            });
          }
          locked.fault = () => undefined;
          const { failed } = await copyArchive(root, locked.url(""), { retainDays: 30 });
          assert.equal(failed, 0);
          assert.ok(until().length > 3 && until().every((one) => one !== undefined), until().join());
        } finally {
          await locked.close();
        }
      }));

    it("copies none of a package that is pruned meanwhile", () =>
      archive.withArchive(async (root) => {
        const [path = ""] = archive.paths;
        const trash = join(root, ".dimensioner-archive", "trash");
        let isPruned = false;
        stub.fault = async ({ method, key }) => {
          if (!isPruned && method === "PUT" && key.startsWith(`parcels/${path}/`)) {
            isPruned = true;
            await rename(join(root, path), trash);
          }
          return undefined;
        };
        const { report, notCopied } = await copy(root, to);
        assert.deepEqual([report.copied, notCopied], [2, []]);
      }));
  });
});
