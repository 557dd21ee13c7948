import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { type OpenedPackage, holdPackage } from "../../src/evidence/hold.ts";
import { stateFolderName } from "../../src/vault/archive-disk.ts";
import { loadManifest } from "../../src/vault/packages/package-files.ts";
import { useCredentials } from "../support/s3-servers.ts";
import { type BucketStub, type StubRequest, startStub } from "../support/s3-stub.ts";
import {
  type BucketArchive,
  archiveForEach,
  bucketSuites,
  hexNames,
  keysOf,
  loggedIn,
  makeOld,
  openSqlite,
  packagesForBuckets,
} from "./bucket-archive.ts";
import { verify } from "./packages.ts";
import { bundleVerb, runChild, startChild } from "./processes.ts";
import { newDatabases } from "./store.ts";

const [first = "", second = "", third = ""] = hexNames.map((name) => `2026-11-02/${name}`);

describe("archive: pruning a bucket", () => {
  useCredentials();
  const packages = packagesForBuckets();

  for (const suite of bucketSuites) {
    describe(`of ${suite.name}, with an index in ${suite.database}`, () => {
      let archive: BucketArchive;
      archiveForEach(suite, "dock 4/ü", packages, (one) => (archive = one));

      const listed = async (): Promise<unknown[]> =>
        (await archive.index.run("SELECT location FROM packages ORDER BY location")).map(
          ({ location }) => location,
        );
      const logObjects = async (): Promise<number> =>
        (await keysOf(archive.vault)).filter((key) => key.startsWith(`${stateFolderName}/log/`)).length;

      it("deletes what is old enough, notes it first, and is as it was archived afterwards", async () => {
        await archive.put(`${second}/hold.json`, "{}");
        const before = await logObjects();
        const dry = await archive.prune({ dryRun: true });
        assert.deepEqual(dry.said, [`deleted ${first}`, `deleted ${third}`, `held ${second}`]);
        assert.equal(await logObjects(), before);
        const { report, said } = await archive.prune();
        assert.deepEqual(said, dry.said);
        assert.deepEqual([report.deleted, report.leftovers], [2, 0]);
        assert.ok((await archive.keys()).every((key) => key.startsWith(`${second}/`)));
        assert.deepEqual(await listed(), [second]);
        assert.equal((await logObjects()) - before, 2, "one for the first package, and one for the others");
        await archive.vault.bucket.remove(`${archive.location.address.prefix}/${second}/hold.json`);
        const verified = await verify(archive.url, archive.index.given);
        assert.deepEqual([verified.report.verdict, verified.said, verified.report.notes], ["ok", [], []]);
      });
    });
  }

  describe("as it goes wrong", () => {
    let stub: BucketStub;
    let archive: BucketArchive;
    async function open(options: Parameters<typeof startStub>[0] = {}): Promise<void> {
      stub = await startStub({ pageSize: 4, ...options });
      archive = await packages.upload(stub.url("parcels"), await openSqlite());
    }
    afterEach(async () => {
      await archive.close();
      await archive.index.close();
      await stub.close();
    });
    const said = async () => (await verify(archive.url, archive.index.given)).said;
    /** What the log says of deletions, as "what path". */
    const logged = async (): Promise<string[]> =>
      (await loggedIn(archive.vault)).flatMap((event) =>
        event.what === "pruned" || event.what === "kept" ? [`${event.what} ${event.path}`] : [],
      );
    /** The objects of a package with other headers. */
    function change(path: string, headers: Readonly<Record<string, string>>, only = ""): void {
      for (const [key, object] of stub.objects) {
        if (key.startsWith(`parcels/${path}/${only}`)) {
          stub.objects.set(key, { ...object, headers: { ...object.headers, ...headers } });
        }
      }
    }
    async function openPackage(location: string): Promise<OpenedPackage> {
      const folder = join(archive.vault.root, location);
      const found = await loadManifest(join(folder, "manifest.json"), archive.vault.disk);
      assert.ok(typeof found !== "string");
      return { location, folder, ...found };
    }
    const denied = { status: 403, code: "AccessDenied" };
    const isChange = ({ method }: StubRequest): boolean => method === "PUT" || method === "DELETE";

    it("goes on after an interruption at any change, and reports no half-deleted package as damaged", async () => {
      await open();
      let isInterrupted = true;
      for (let served = 0; isInterrupted; served += 3) {
        let count = served;
        let isDown = false;
        stub.fault = (request) => {
          isDown ||= isChange(request) && count-- === 0;
          return isDown ? denied : undefined;
        };
        isInterrupted = await archive.prune().then(
          ({ report }) => report.leftoversKept !== null,
          () => true,
        );
        stub.fault = () => undefined;
        const { report, said: found } = await verify(archive.url, archive.index.given);
        assert.deepEqual(
          // A line may not have come beside the packages yet.
          found.filter((one) => !/^(?:no-packages|log) /.test(one)),
          [],
          `after ${served} changes`,
        );
        assert.ok(report.notes.every(({ kind }) => kind === "uploads" || kind === "kept-here"));
        await archive.prune();
        assert.deepEqual(await archive.keys(), [], `after ${served} changes, and again`);
        assert.deepEqual(await said(), ["no-packages "]);
        await packages.put(archive);
      }
    });

    it("goes on after a kill between the log and the deletion", async () => {
      await open();
      const script = await bundleVerb("prune");
      const args = [archive.url, "--older-than", "1h", "--database", archive.index.given];
      await makeOld(archive);
      const child = startChild(script, args);
      await new Promise<void>((resolve) => {
        stub.fault = ({ method }) => {
          if (method === "DELETE") {
            resolve();
            return new Promise(() => undefined);
          }
          return undefined;
        };
      });
      await child.kill();
      stub.fault = () => undefined;
      assert.deepEqual([(await logged()).length, await said()], [1, []]);
      const again = await runChild(script, args);
      assert.deepEqual([again.code, again.stderr], [0, ""]);
      assert.deepEqual(await archive.keys(), []);
    });

    it("keeps a package that is put on hold when the log says already that it is deleted, and reports a later loss of it", async () => {
      await open();
      let held = "";
      stub.fault = ({ method, key, body }) => {
        const [, path] = /"path":"([^"]+)"/.exec(String(body)) ?? [];
        if (method === "PUT" && key.includes("/log/") && held === "" && path !== undefined) {
          held = path;
          stub.objects.set(`parcels/${held}/hold`, { body: Buffer.of(), headers: {} });
        }
        return undefined;
      };
      const { said: done, report } = await archive.prune();
      assert.deepEqual([report.held, report.deleted, done.includes(`held ${held}`)], [1, 2, true]);
      assert.deepEqual(
        (await logged()).filter((one) => one.endsWith(held)),
        [`pruned ${held}`, `kept ${held}`],
      );
      assert.deepEqual(await said(), []);
      const image = [...stub.objects.keys()].find(
        (key) => key.startsWith(`parcels/${held}/`) && key.endsWith(".jpg"),
      );
      stub.objects.delete(image ?? "");
      assert.deepEqual(await said(), [`missing ${image?.slice("parcels/".length)}`]);
    });

    it("keeps a package on which a hold is set at the moment at which it is deleted", async () => {
      await open();
      const before = (await archive.keys()).toSorted();
      let held = "";
      stub.fault = ({ method, key }) => {
        if (method === "DELETE" && key.endsWith("/manifest.json") && held === "") {
          held = dirname(key);
          stub.objects.set(`${held}/hold.json`, { body: Buffer.from("{}"), headers: {} });
        }
        return undefined;
      };
      const { report, said: done } = await archive.prune();
      const path = held.slice("parcels/".length);
      assert.deepEqual([report.held, report.deleted, done.includes(`held ${path}`)], [1, 2, true]);
      const isOfHeld = (key: string): boolean => key.startsWith(`${path}/`);
      const kept = [...before.filter(isOfHeld), `${path}/hold.json`].toSorted();
      assert.deepEqual((await archive.keys()).filter(isOfHeld).toSorted(), kept);
      assert.deepEqual(await said(), [`hold ${path}`], "the log does not know of it");
    });

    it("has a package back on which a hold is set while it is deleted, also if nothing more can be said to the bucket then", async () => {
      await open();
      let held = "";
      let isDown = false;
      stub.fault = ({ method, key }) => {
        if (method === "DELETE" && key.endsWith("/manifest.json") && held === "") {
          held = dirname(key);
          stub.objects.set(`${held}/hold.json`, { body: Buffer.from("{}"), headers: {} });
          return undefined;
        }
        isDown ||= held !== "" && !key.startsWith(`${held}/manifest`);
        return isDown ? denied : undefined;
      };
      await archive.prune().catch(() => undefined);
      assert.ok(!stub.objects.has(`${held}/manifest.json`), "it was interrupted where it hurts");
      stub.fault = () => undefined;
      const path = held.slice("parcels/".length);
      const { said: done } = await archive.prune();
      assert.ok(done.includes(`held ${path}`), done.join("\n"));
      assert.deepEqual(await said(), [`hold ${path}`], "it is whole, and the log does not know of the hold");
      assert.deepEqual(
        (await keysOf(archive.vault)).filter((key) => key.includes("/trash/")),
        [],
      );
    });

    it("is kept by a hold that is set before the log says that it is deleted", async () => {
      await open();
      const held = await openPackage(first);
      const connection = await newDatabases().open({ kind: "file", file: archive.index.given });
      let isSet = false;
      stub.fault = async ({ method, key }) => {
        if (method === "HEAD" && key.startsWith(`parcels/${first}/`) && !isSet) {
          isSet = true;
          await holdPackage(
            held,
            { person: "Anna", reason: "claim 7" },
            { ...connection, vault: archive.vault },
          );
        }
        return undefined;
      };
      const { said: done } = await archive.prune();
      await connection.release();
      assert.deepEqual([isSet, done[2]], [true, `held ${first}`]);
      assert.ok(stub.objects.has(`parcels/${first}/manifest.json`));
    });

    it("repeats what the store could not serve", async () => {
      await open();
      const faults = ["lost", { status: 503, code: "SlowDown" }, "reset"] as const;
      const failed = new Set<string>();
      stub.fault = (request) => {
        const isFirst = isChange(request) && !failed.has(request.key);
        failed.add(request.key);
        return isFirst ? faults[failed.size % faults.length] : undefined;
      };
      assert.equal((await archive.prune()).report.deleted, 3);
    });

    it("ends at once if nothing may be deleted, and takes the only package that it has noted back from the log", async () => {
      await open();
      stub.fault = ({ method }) => (method === "DELETE" ? denied : undefined);
      await assert.rejects(archive.prune(), { code: "ERR_STORE", sentence: "bucketDenied" });
      assert.deepEqual(await logged(), [`pruned ${first}`, `kept ${first}`]);
      assert.deepEqual(await said(), []);
    });

    it("keeps what the store protects, and says until when", async () => {
      await open({ hasLock: true });
      const until = new Date(Date.now() + 86_400_000).toISOString();
      change(first, { "x-amz-object-lock-mode": "GOVERNANCE", "x-amz-object-lock-retain-until-date": until });
      change(second, { "x-amz-object-lock-legal-hold": "ON" }, "m");
      change(third, { "x-amz-object-lock-retain-until-date": "2026-01-01T00:00:00.000Z" });
      const { said: done, reasons } = await archive.prune();
      assert.deepEqual(done, [`deleted ${third}`, `kept ${first}`, `kept ${second}`]);
      assert.ok(reasons[first]?.endsWith(`until ${until} (Object Lock)`), reasons[first]);
      assert.match(reasons[second] ?? "", /a legal hold$/);
      assert.deepEqual([await said(), await logged()], [[], [`pruned ${third}`]]);
    });

    it("keeps what the store protects without having said so, and takes it back from the log", async () => {
      await open({ hasLock: true });
      stub.fault = ({ method, key }) =>
        method === "DELETE" && key.startsWith(`parcels/${first}/`)
          ? { status: 403, code: "ObjectUnderActiveHold" }
          : undefined;
      const { said: done, reasons } = await archive.prune();
      assert.deepEqual(done, [`deleted ${second}`, `deleted ${third}`, `kept ${first}`]);
      assert.match(
        reasons[first] ?? "",
        /protects an object of .* from being deleted: ObjectUnderActiveHold/,
      );
      assert.deepEqual(await said(), []);
      stub.objects.delete(`parcels/${first}/measurement.raw`);
      assert.deepEqual(await said(), [`missing ${first}/measurement.raw`]);
    });

    it("hides no protected package in a bucket with versions, and leaves those of the others", async () => {
      await open({ hasLock: true, hasVersions: true });
      change(first, {
        "x-amz-object-lock-retain-until-date": new Date(Date.now() + 86_400_000).toISOString(),
      });
      const { said: done } = await archive.prune();
      assert.deepEqual(done, [`deleted ${second}`, `deleted ${third}`, `kept ${first}`]);
      assert.ok([...stub.versions.keys()].some((key) => key.startsWith(`parcels/${third}/`)));
      assert.ok(![...stub.versions.keys()].some((key) => key.startsWith(`parcels/${first}/`)));
      assert.deepEqual(await said(), []);
    });

    it("removes nothing that was stored later where a package was deleted", async () => {
      await open();
      await archive.prune();
      stub.objects.set(`parcels/${first}/image.jpg`, {
        body: Buffer.of(),
        headers: {},
        storedAt: new Date(Date.now() + 5),
      });
      const { said: done } = await archive.prune({ leftoverAgeMs: -60_000 });
      assert.deepEqual(done, [`kept ${first}`]);
    });

    it("can be ended between two packages", async () => {
      await open();
      const controller = new AbortController();
      const ended = archive.prune({ signal: controller.signal, onPackage: () => controller.abort() });
      await assert.rejects(ended, { code: "ERR_CANCELLED" });
      assert.deepEqual(await said(), []);
      assert.ok((await archive.keys()).length > 0);
    });
  });

  it("does not follow keys that would lead elsewhere on a disk", async () => {
    const stub = await startStub();
    const archive = await packages.upload(stub.url("parcels"), await openSqlite());
    try {
      const content = { body: Buffer.of(), headers: {} };
      const odd = ["x/../../other/a", `${first}/../${second}/hold`, "//a", "x//b", "./c", `${first}/.`];
      odd.forEach((key) => stub.objects.set(`parcels/${key}`, content));
      stub.objects.set("other/a", content);
      const { said } = await verify(archive.url, null);
      assert.deepEqual(said.filter((one) => one.startsWith("stray")).toSorted(), [
        `stray .`,
        `stray ${first}/.`,
        `stray ${first}/..`,
        "stray x/..",
      ]);
      const pruned = await archive.prune();
      assert.deepEqual(pruned.said, [`deleted ${second}`, `deleted ${third}`, `kept ${first}`]);
      assert.ok(stub.objects.has("other/a"));
    } finally {
      await archive.close();
      await archive.index.close();
      await stub.close();
    }
  });
});
