import assert from "node:assert/strict";
import { join } from "node:path";
import { readS3Url } from "../../src/vault/s3/bucket-address.ts";
import { type BucketLocation, Store } from "../../src/vault/store.ts";
import { copyArchive, pruneArchive, rebuildIndex } from "../../src/vault/upkeep/upkeep.ts";
import { withFolder } from "../media/support.ts";
import { WallClock } from "../model-based/wall-clock.ts";
import { forTests, useCredentials } from "../support/s3-servers.ts";
import { type BucketStub, startStub } from "../support/s3-stub.ts";
import { changeDatabase, copiesOfArchive } from "./packages.ts";
import { newDatabases } from "./store.ts";
import { intentOf, mediumOf, openArchive } from "./support.ts";

const dayMs = 86_400_000;
const now = Date.now.bind(Date);

describe("archive: a bucket, and a computer whose clock is wrong", () => {
  useCredentials();
  const archive = copiesOfArchive(["m0", "m1"]);
  const clock = { now: undefined as WallClock | undefined };
  let stub: BucketStub;
  beforeEach(async () => {
    stub = await startStub({ hasLock: true, hasVersions: true });
  });
  afterEach(async () => {
    clock.now?.close();
    await stub.close();
  });
  const jump = (days: number): void => {
    clock.now = new WallClock();
    clock.now.jump(days * dayMs);
  };
  const daysOf = (at: string | undefined): number => (Date.parse(at ?? "") - now()) / dayMs;
  const retentions = (): number[] =>
    [...stub.objects]
      .filter(([key]) => !key.includes(".dimensioner-archive"))
      .map(([, { headers }]) => daysOf(headers["x-amz-object-lock-retain-until-date"]));
  const areThirty = (days: readonly number[]): void =>
    assert.ok(days.length > 0 && days.every((one) => one > 29.9 && one < 30.1), days.join());
  const locationOf = async (folder: string, { url }: BucketStub): Promise<BucketLocation> => ({
    kind: "s3",
    address: readS3Url(url("parcels")),
    credentials: await forTests.credentials.get(),
    workFolder: join(folder, "work"),
    retainDays: 30,
  });
  const storeIn = async (folder: string): Promise<Store> =>
    new Store(
      { kind: "file", file: join(folder, "store.sqlite") },
      await locationOf(folder, stub),
      newDatabases(),
    );

  for (const days of [-400, 5 * 365]) {
    it(`protects packages for as long as was asked for, ${days} days ahead`, () =>
      withFolder(async (folder) => {
        jump(days);
        const opened = await openArchive("", undefined, { store: await storeIn(folder) });
        const intent = intentOf("1", { origin: null });
        const submission = await opened.runner.submitMedia(intent, [mediumOf("1")], null);
        const { manifest } = await submission.end();
        submission.messageSent();
        await opened.close();
        areThirty([daysOf(manifest.times.retainedUntil), ...retentions()]);
      }));

    it(`protects copies for as long as was asked for, ${days} days ahead`, () =>
      archive.withArchive(async (root) => {
        jump(days);
        await copyArchive(root, stub.url("parcels"), { retainDays: 30 });
        areThirty(retentions());
      }));
  }

  it("protects packages for as long as was asked for after a computer has slept for days", () =>
    withFolder(async (folder) => {
      await stub.close();
      stub = await startStub({ hasLock: true, hasVersions: true, clockAheadMs: () => 0 });
      const opened = await openArchive("", undefined, { store: await storeIn(folder) });
      const archiveOne = async (id: string): Promise<string | undefined> => {
        const submission = await opened.runner.submitMedia(
          intentOf(id, { origin: null }),
          [mediumOf(id)],
          null,
        );
        const { manifest } = await submission.end();
        submission.messageSent();
        return manifest.times.retainedUntil;
      };
      await archiveOne("1");
      // Both clocks of the day go on meanwhile; the one that nobody sets does not.
      jump(3);
      const until = await archiveOne("2");
      await opened.close();
      areThirty([daysOf(until) - 3]);
    }));

  it("ends no upload, and removes nothing that was stored just now, years ahead", () =>
    archive.withArchive(async (root) => {
      const begun = { key: "parcels/2026/film.mp4", initiated: new Date(), parts: new Map(), headers: {} };
      stub.uploads.set("new", begun);
      jump(5 * 365);
      const { endedUploads } = await copyArchive(root, stub.url("parcels"), {});
      assert.deepEqual([endedUploads, [...stub.uploads.keys()]], [0, ["new"]]);
    }));

  it("deletes no package because of its age where the object store has another day", () =>
    withFolder(async (folder) => {
      const behind = await startStub({ clockAheadMs: () => -5 * 365 * dayMs });
      try {
        const file = join(folder, "index.sqlite");
        const location = await locationOf(folder, behind);
        await archive.withArchive(async (root) => void (await copyArchive(root, behind.url("parcels"), {})));
        await rebuildIndex(location, { database: file });
        // As by a computer that is ahead, and has archived one more since then.
        changeDatabase(
          file,
          "UPDATE packages SET archived_at = '2022-01-01T00:00:00.000Z' WHERE transaction_id = 'm0'",
        );
        const options = { database: file, before: new Date(now() - 365 * dayMs) };
        const packages = (): string[] =>
          [...behind.objects.keys()].filter((key) => key.endsWith("manifest.json"));
        await assert.rejects(pruneArchive(location, options), { sentence: "pruneStoreClock" });
        assert.equal(packages().length, 2);
        await pruneArchive(location, { ...options, despiteClock: true });
        assert.equal(packages().length, 1);
      } finally {
        await behind.close();
      }
    }));

  it("removes nothing that jobs have stored just now, years ahead", () =>
    withFolder(async (folder) => {
      const opened = await openArchive("", undefined, { store: await storeIn(folder) });
      await opened.close();
      const key = "parcels/2026-11-02/0d0d0d0d0d0d/color.jpg";
      const headers = { "x-amz-meta-sha256": "0".repeat(64) };
      stub.objects.set(key, { body: Buffer.from("half"), headers, storedAt: new Date() });
      jump(5 * 365);
      const options = { database: join(folder, "store.sqlite"), before: new Date(0) };
      await pruneArchive(stub.url("parcels"), options);
      assert.ok(stub.objects.has(key));
      clock.now?.reset();
      await pruneArchive(stub.url("parcels"), { ...options, leftoverAgeMs: -60_000 });
      assert.ok(!stub.objects.has(key), "a day later");
    }));
});
