import assert from "node:assert/strict";
import { ToolThread } from "../../src/database/tool-database.ts";
import { sha256Of } from "../../src/model/sha256.ts";
import { plainDisk } from "../../src/vault/archive-disk.ts";
import { openForTool } from "../../src/vault/index-reader.ts";
import { removeUploads, tidyBucket } from "../../src/vault/upkeep/leftovers.ts";
import { StagedMedia } from "../../src/vault/staged-media.ts";
import { useCredentials } from "../support/s3-servers.ts";
import { type BucketStub, startStub } from "../support/s3-stub.ts";
import {
  type BucketArchive,
  type IndexDatabase,
  archiveForEach,
  bucketSuites,
  hexNames,
  indexDatabases,
  keysOf,
  packagesForBuckets,
  contentOf,
} from "./bucket-archive.ts";
import { verify } from "./packages.ts";

const [first = "", second = ""] = hexNames.map((name) => `2026-11-02/${name}`);
const left = "2026-11-02/0d0d0d0d0d0d";
const staged = ".dimensioner-archive/work";
const medium = "f".repeat(64);
const noPackages = { before: new Date(0) };

describe("archive: what is left in a bucket", () => {
  useCredentials();
  const packages = packagesForBuckets();
  const thread = new ToolThread();
  after(() => thread.close());
  let archive: BucketArchive;

  /** The content of the manifest of a package, changed. */
  async function manifestOf(
    path: string,
    change: (manifest: Record<string, unknown>) => object,
  ): Promise<string> {
    const content = await contentOf(archive.vault, `${path}/manifest.json`);
    const manifest = JSON.parse(String(content)) as Record<string, unknown>;
    return JSON.stringify({ ...manifest, ...change(manifest) });
  }
  /** Places a package of another one's job, as an interrupted worker does. */
  async function placeAgain(path: string, to = left): Promise<void> {
    for (const key of await archive.keys()) {
      if (key.startsWith(`${path}/`) && !key.endsWith("/manifest.json")) {
        await archive.put(`${to}${key.slice(path.length)}`, await contentOf(archive.vault, key));
      }
    }
    const [row] = await archive.index.run("SELECT store_id FROM store");
    const manifest = await manifestOf(path, () => ({ store: row?.["store_id"] }));
    await archive.put(`${to}/manifest.json`, manifest);
  }
  const addUpload = (location: string, job: string) =>
    archive.index.run(`INSERT INTO uploads VALUES ('${location}', '${job}', '2026-11-02T10:00:00.000Z')`);
  const addJob = (id: string, state: string) =>
    archive.index.run(
      `INSERT INTO jobs (job_id, node_id, state, accepted_at, changed_at, intent, intent_sha256)
        VALUES ('${id}', 'n', '${state}', '2026-11-02', '2026-11-02', '{}', '${sha256Of("{}")}')`,
    );
  const addMedium = (job: string, source: string) =>
    archive.index.run(
      `INSERT INTO job_media (job_id, slot, path, source, bytes, sha256)
        VALUES ('${job}', 's', 'p', '${source}', 1, '')`,
    );
  const uploads = async () =>
    (await archive.index.run("SELECT location FROM uploads")).map(({ location }) => location);
  const isThere = async (path: string) =>
    (await keysOf(archive.vault)).some((key) => key.startsWith(`${path}/`));
  const said = async () => (await verify(archive.url, archive.index.given)).said;

  for (const suite of bucketSuites.slice(0, 2)) {
    describe(`of ${suite.name}, with an index in ${suite.database}`, () => {
      archiveForEach(suite, "parcels", packages, (one) => (archive = one));

      it("is removed where jobs that have ended were uploading, and nowhere else", async () => {
        const states = ["accepted", "collecting", "sealing", "archived", "reported", "failed"];
        for (const [index, state] of states.entries()) {
          await addJob(`j${index}`, state);
          await addUpload(`x/00000000000${index}`, `j${index}`);
          await archive.put(`x/00000000000${index}/video.mp4`, "half");
        }
        await addUpload(left, "a job that was removed");
        await archive.put(`${left}/image.jpg`, "half");
        // As after a rebuild of the index.
        await addUpload(first, "a job that was removed");
        const dry = await archive.prune({ ...noPackages, dryRun: true });
        const expected = [left, "x/000000000004", "x/000000000005"].map((path) => `leftover ${path}`);
        assert.deepEqual(dry.said, expected);
        assert.equal((await uploads()).length, 8);
        const { report, said: removed } = await archive.prune(noPackages);
        assert.deepEqual([removed, report.leftovers, report.kept], [expected, 3, 0]);
        assert.deepEqual(
          (await uploads()).toSorted(),
          [0, 1, 2, 3].map((index) => `x/00000000000${index}`),
        );
        assert.deepEqual(
          (await archive.keys()).filter((key) => key.startsWith("x/")).length,
          4,
          "what open jobs upload stays",
        );
        assert.deepEqual(await said(), []);
      });

      it("is not removed if it is a whole package, unless the job has ended with another one", async () => {
        await placeAgain(first);
        await addUpload(left, "job");
        const unlisted = `x/${"1".repeat(12)}`;
        await archive.put(`${unlisted}/manifest.json`, await manifestOf(second, () => ({ job: "lost" })));
        await addUpload(unlisted, "lost");
        const { said: done, reasons } = await archive.prune(noPackages);
        assert.deepEqual(done, [`kept ${unlisted}`, `leftover ${left}`]);
        assert.match(reasons[unlisted] ?? "", /dimensioner rebuild/);
        assert.deepEqual([await isThere(left), await isThere(unlisted), await uploads()], [false, true, []]);
      });

      it("is removed if no row names it and the databases know all packages", async () => {
        await archive.put(`${left}/image.jpg`, "half");
        await archive.put(`letters/0e0e0e0e0e0/image.jpg`, "somebody else's");
        await archive.put(`x/aaaaaaaaaaaa/hold.txt`, "");
        await archive.vault.bucket.remove(`parcels/${first}/manifest.json`);
        const young = await archive.prune({ ...noPackages, leftoverAgeMs: 60_000 });
        assert.deepEqual(young.said, []);
        await placeAgain(second, "claims/bbbbbbbbbbbb");
        await archive.put(
          "claims/bbbbbbbbbbbb/manifest.json",
          await manifestOf(second, () => ({ job: "other" })),
        );
        const others = await archive.prune(noPackages);
        assert.deepEqual(
          others.said,
          [first, left, "x/aaaaaaaaaaaa"].map((path) => `kept ${path}`),
        );
        assert.match(others.reasons[left] ?? "", /the databases of all stores/);
        assert.match(others.reasons[first] ?? "", /manifest is missing/);
        await archive.vault.bucket.remove("parcels/claims/bbbbbbbbbbbb/manifest.json");
        const dry = await archive.prune({ ...noPackages, dryRun: true });
        const { said: done } = await archive.prune(noPackages);
        assert.deepEqual(done, dry.said);
        assert.deepEqual(done, [
          "held x/aaaaaaaaaaaa",
          `kept ${first}`,
          `leftover ${left}`,
          "leftover claims/bbbbbbbbbbbb",
        ]);
        assert.deepEqual((await said()).toSorted(), [
          `missing-package ${first}`,
          "stray letters/0e0e0e0e0e0/image.jpg",
        ]);
      });

      it("is removed if it is a second package of a job, and no copy that somebody has made", async () => {
        await placeAgain(first);
        await archive.put(`copies/0e0e0e0e0e0e/manifest.json`, await manifestOf(first, () => ({})));
        const copy = "2026-11-02/0f0f0f0f0f0f";
        for (const key of (await archive.keys()).filter((one) => one.startsWith(`${second}/`))) {
          await archive.put(copy + key.slice(second.length), await contentOf(archive.vault, key));
        }
        await placeAgain(second, "2026-11-02/aaaaaaaaaaaa");
        const [image = ""] = (await archive.keys()).filter(
          (key) => key.startsWith(`${second}/`) && key.endsWith(".jpg"),
        );
        const whole = await contentOf(archive.vault, image);
        await archive.vault.bucket.remove(`parcels/${image}`);
        assert.deepEqual((await archive.prune(noPackages)).said, [`leftover ${left}`]);
        await archive.put(image, whole);
        assert.deepEqual((await archive.prune(noPackages)).said, ["leftover 2026-11-02/aaaaaaaaaaaa"]);
        assert.deepEqual([await isThere(copy), await isThere("copies/0e0e0e0e0e0e")], [true, true]);
      });

      it("is removed if it was stored for another worker, and no job needs it any more", async () => {
        for (const [id, state] of [
          ["open", "collecting"],
          ["reported", "reported"],
          ["failed", "failed"],
          ["cloud", "failed"],
        ] as const) {
          await addJob(id, state);
          await archive.put(`${staged}/${id}/${medium}`, "x");
        }
        await addMedium("failed", "message");
        await addMedium("cloud", "cloud");
        await archive.put(`${staged}/unknown/${medium}`, "x");
        await archive.put(`${staged}/other/letter.pdf`, "x");
        assert.deepEqual((await archive.prune({ ...noPackages, leftoverAgeMs: 60_000 })).said, []);
        const { said: done, report } = await archive.prune(noPackages);
        assert.deepEqual(done, [
          `kept ${staged}/other`,
          ...["cloud", "reported", "unknown"].map((id) => `leftover ${staged}/${id}`),
        ]);
        assert.deepEqual([report.leftovers, report.kept, report.leftoversKept], [3, 1, null]);
        const verified = await verify(archive.url, archive.index.given);
        assert.deepEqual(
          [verified.said, verified.report.notes.map(({ kind, path }) => `${kind} ${path}`)],
          [[], [`work ${staged}`]],
        );
      });

      it("is removed by a worker if it was stored for another one, and its job is known to have ended", async () => {
        for (const [id, state] of [
          ["open", "collecting"],
          ["reported", "reported"],
          ["failed", "failed"],
        ] as const) {
          await addJob(id, state);
          await addMedium(id, "message");
          await archive.put(`${staged}/${id}/${medium}`, "x");
        }
        await archive.put(`${staged}/unknown/${medium}`, "x");
        await archive.put(`${staged}/other/letter.pdf`, "x");
        const given = await openForTool(archive.index.given, "write", thread);
        try {
          await new StagedMedia(archive.vault, plainDisk).removeOld(Date.now() + 60_000, given);
        } finally {
          await given.close();
        }
        const left = (await keysOf(archive.vault)).filter((key) => key.startsWith(`${staged}/`));
        assert.deepEqual(
          left.toSorted(),
          // The database may be an older one, and the job one that was accepted since.
          [`failed/${medium}`, `open/${medium}`, "other/letter.pdf", `unknown/${medium}`].map(
            (name) => `${staged}/${name}`,
          ),
        );
      });

      it("is removed by a worker with its own database, without a listing", async () => {
        await addUpload(left, "gone");
        await archive.put(`${left}/image.jpg`, "half");
        const given = await openForTool(archive.index.given, "write", thread);
        try {
          const removed: string[] = [];
          const young = removeUploads({ vault: archive.vault, database: given }, { beforeMs: 0 });
          for await (const { what, path } of young) {
            removed.push(`young ${what} ${path}`);
          }
          const old = removeUploads(
            { vault: archive.vault, database: given },
            { beforeMs: Date.now() + 1_000 },
          );
          for await (const { what, path } of old) {
            removed.push(`${what} ${path}`);
          }
          assert.deepEqual(removed, [`leftover ${left}`]);
        } finally {
          await given.close();
        }
      });
    });
  }

  describe("as it goes wrong", () => {
    let stub: BucketStub;
    beforeEach(async () => {
      stub = await startStub({ pageSize: 4 });
      archive = await packages.upload(
        stub.url("parcels"),
        await (indexDatabases["SQLite"] as () => Promise<IndexDatabase>)(),
      );
    });
    afterEach(async () => {
      await archive.close();
      await archive.index.close();
      await stub.close();
    });
    const denied = { status: 403, code: "AccessDenied" };

    it("is found again after an interruption at any change, and ends with the uploads below it", async () => {
      let isInterrupted = true;
      for (let served = 0; isInterrupted; served += 3) {
        await placeAgain(first);
        await addUpload(left, "gone");
        stub.uploads.set("u", {
          key: `parcels/${left}/video.mp4`,
          initiated: new Date(),
          parts: new Map(),
          headers: {},
        });
        stub.uploads.set("v", {
          key: `parcels/${left}9/video.mp4`,
          initiated: new Date(),
          parts: new Map(),
          headers: {},
        });
        let count = served;
        let isDown = false;
        stub.fault = ({ method }) => {
          isDown ||= method !== "GET" && method !== "HEAD" && count-- === 0;
          return isDown ? denied : undefined;
        };
        const interrupted = await archive.prune(noPackages).catch(() => undefined);
        isInterrupted = interrupted?.report.leftoversKept !== null;
        stub.fault = () => undefined;
        assert.deepEqual(await said(), [], `after ${served} changes`);
        await archive.prune(noPackages);
        assert.deepEqual(
          [await isThere(left), await uploads(), [...stub.uploads.keys()]],
          [false, [], ["v"]],
        );
        assert.deepEqual(await said(), [], `after ${served} changes, and again`);
      }
    });

    for (const [who, tidy] of [
      ["a worker", () => tidyOnce(archive, thread)],
      [
        "dimensioner prune",
        async () => void (await archive.prune({ ...noPackages, leftoverAgeMs: 86_400_000 })),
      ],
    ] as const) {
      it(`is ended by ${who} a day after a request was interrupted, and nothing of others`, async () => {
        const now = new Date();
        const longAgo = new Date(now.getTime() - 25 * 3_600_000);
        const begin = (key: string, initiated = longAgo) =>
          stub.uploads.set(key, { key, initiated, parts: new Map(), headers: {} });
        const put = (key: string, storedAt = longAgo) =>
          stub.objects.set(key, { body: Buffer.of(), headers: {}, storedAt });
        // The answer to the first request was lost: its job has sent the medium once more, and the package is there.
        begin(`parcels/${first}/video.mp4`);
        begin(`parcels/${staged}/job/${medium}`);
        const others = [`parcels/${first}/running.mp4`, "parcels/films/video.mp4", `other/${left}/video.mp4`];
        others.forEach((key, index) => begin(key, index === 0 ? now : longAgo));
        put("parcels/.dimensioner-archive/test-1");
        const objects = ["parcels/.dimensioner-archive/test-2", "parcels/.dimensioner-archive/test-3/a"];
        objects.forEach((key, index) => put(key, index === 0 ? now : longAgo));
        await tidy();
        assert.deepEqual([...stub.uploads.keys()], others);
        const tests = [...stub.objects.keys()].filter((key) => key.includes("/test-"));
        assert.deepEqual(tests, objects);
        assert.deepEqual(await said(), []);
      });
    }

    it("stays if it becomes a package, or an upload begins, while it is looked at", async () => {
      await archive.put(`${left}/image.jpg`, "half");
      const manifest = await manifestOf(second, () => ({ job: "new" }));
      stub.fault = async ({ query }) => {
        if (query.get("prefix") === `parcels/${left}/`) {
          stub.objects.set(`parcels/${left}/manifest.json`, { body: Buffer.from(manifest), headers: {} });
        }
        return undefined;
      };
      assert.deepEqual((await archive.prune(noPackages)).said, []);
      stub.objects.delete(`parcels/${left}/manifest.json`);
      stub.fault = async ({ query }) => {
        if (query.get("prefix") === "parcels/" && (await uploads()).length === 0) {
          await addJob("new", "collecting");
          await addUpload(left, "new");
        }
        return undefined;
      };
      assert.deepEqual((await archive.prune(noPackages)).said, []);
      assert.ok(stub.objects.has(`parcels/${left}/image.jpg`));
    });

    it("stays if somebody else has put it there, or the store protects it", async () => {
      await archive.put(`${left}/image.jpg`, "half");
      stub.objects.set(`parcels/${left}/letter.pdf`, { body: Buffer.of(), headers: {} });
      const foreign = await archive.prune(noPackages);
      assert.deepEqual(foreign.said, [`kept ${left}`]);
      assert.match(foreign.reasons[left] ?? "", /contains letter\.pdf/);
      const image = stub.objects.get(`parcels/${left}/image.jpg`);
      const until = new Date(Date.now() + 86_400_000).toISOString();
      stub.objects.delete(`parcels/${left}/letter.pdf`);
      stub.objects.set(`parcels/${left}/image.jpg`, {
        body: Buffer.of(),
        headers: { ...image?.headers, "x-amz-object-lock-retain-until-date": until },
      });
      const retained = await archive.prune(noPackages);
      assert.deepEqual(retained.said, [`kept ${left}`]);
      assert.match(retained.reasons[left] ?? "", new RegExp(`until ${until} \\(Object Lock\\)`));
    });

    it("is not searched for further if the bucket fails, and the report says why", async () => {
      await archive.put(`${left}/image.jpg`, "half");
      stub.fault = ({ method }) => (method === "DELETE" ? denied : undefined);
      const { report } = await archive.prune(noPackages);
      assert.equal(report.leftovers, 0);
      assert.match(report.leftoversKept ?? "", /denies access to s3:\/\/evidence\/parcels/);
    });
  });
});

/** Tidies a bucket as a worker does when it starts. */
async function tidyOnce({ vault, index }: BucketArchive, thread: ToolThread): Promise<void> {
  const database = await openForTool(index.given, "write", thread);
  try {
    const beforeMs = Date.now() - 24 * 3_600_000;
    await tidyBucket({ vault, database }, { beforeMs, signal: new AbortController().signal });
  } finally {
    await database.close();
  }
}
