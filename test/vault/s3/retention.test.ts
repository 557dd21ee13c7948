import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { isDimensionerError } from "../../../src/errors/dimensioner-error.ts";
import { verifyArchive } from "../../../src/vault/upkeep/upkeep.ts";
import type { Finding } from "../../../src/model/archive-reports.ts";
import { Store } from "../../../src/vault/store.ts";
import { newDatabases } from "../../archive/store.ts";
import { intentOf, mediumOf, openArchive } from "../../archive/support.ts";
import { withFolder } from "../../media/support.ts";
import { readS3Url } from "../../../src/vault/s3/bucket-address.ts";
import { Bucket, probeRetention } from "../../../src/vault/s3/bucket.ts";
import { forTests, sourceOf, useCredentials } from "../../support/s3-servers.ts";
import { type BucketStub, startStub } from "../../support/s3-stub.ts";

describe("the retention of objects in a bucket", () => {
  useCredentials();
  const running: { stub?: BucketStub; bucket?: Bucket } = {};

  async function open(retention: "keptForWhole" | "never" | "obeyed") {
    const stub = await startStub({ hasLock: true, hasVersions: true, retention });
    const bucket = await Bucket.open(readS3Url(stub.url("")), forTests);
    Object.assign(running, { stub, bucket });
    return { stub, bucket };
  }
  afterEach(async () => {
    await running.bucket?.close();
    await running.stub?.close();
  });

  const retainUntil = new Date(Date.now() + 86_400_000);
  const large = randomBytes(9 * 1024 * 1024);
  const untilOf = (stub: BucketStub, key: string): string | undefined =>
    stub.objects.get(key)?.headers["x-amz-object-lock-retain-until-date"];
  const isNotRetained = (error: unknown): boolean =>
    isDimensionerError(error) && error.sentence === "bucketNotRetained" && /film/.test(error.message);

  it("is set where the object store has dropped it, as for what was sent in parts", async () => {
    const { stub, bucket } = await open("keptForWhole");
    assert.equal(await bucket.store("film", sourceOf(large), { isNew: true, retainUntil }), "stored");
    assert.equal(untilOf(stub, "film"), retainUntil.toISOString());
    await bucket.store("picture", sourceOf(Buffer.from("small")), { retainUntil });
    const sets = stub.requests.filter(({ query }) => query.has("retention")).map(({ key }) => key);
    assert.deepEqual(sets, ["film"], "what is retained is not set again");
    await probeRetention(bucket, "parcels/");
  });

  it("is an error where it cannot be set, also of a small object", async () => {
    const { bucket } = await open("never");
    await assert.rejects(bucket.store("film", sourceOf(large), { retainUntil }), isNotRetained);
    await assert.rejects(
      bucket.store("film", sourceOf(Buffer.from("small")), { retainUntil }),
      isNotRetained,
    );
    await assert.rejects(probeRetention(bucket, "film/"), isNotRetained);
    assert.equal(await bucket.store("free", sourceOf(Buffer.from("small"))), "stored");
  });

  it("is in the manifest of each package, and verify reports where it is missing", async () => {
    const { stub } = await open("obeyed");
    await withFolder(async (folder) => {
      const file = join(folder, "store.sqlite");
      const address = readS3Url(stub.url("parcels"));
      const credentials = await forTests.credentials.get();
      const files = {
        kind: "s3",
        address,
        credentials,
        workFolder: join(folder, "work"),
        retainDays: 30,
      } as const;
      const store = new Store({ kind: "file", file }, files, newDatabases());
      const opened = await openArchive("", undefined, { store });
      const submission = await opened.runner.submitMedia(
        intentOf("1", { origin: null }),
        [mediumOf("1")],
        null,
      );
      const { manifest, path } = await submission.end();
      submission.messageSent();
      await opened.close();
      const days = (Date.parse(manifest.times.retainedUntil ?? "") - Date.now()) / 86_400_000;
      assert.ok(days > 29.9 && days <= 30, `${days} days`);
      const said = async (): Promise<readonly string[]> => {
        const findings: string[] = [];
        const onFinding = (one: Finding): void => void findings.push(`${one.kind} ${one.path}`);
        const { verdict } = await verifyArchive(stub.url("parcels"), { database: file, onFinding });
        return [verdict, ...findings];
      };
      assert.deepEqual(await said(), ["ok"]);
      const key = `parcels/${path}/manifest.json`;
      const kept = stub.objects.get(key) ?? assert.fail();
      const until = new Date(Date.now() + 86_400_000).toISOString();
      stub.objects.set(key, {
        ...kept,
        headers: { ...kept.headers, "x-amz-object-lock-retain-until-date": until },
      });
      assert.deepEqual(await said(), ["wrong", `retention ${path}/manifest.json`]);
    });
  });

  it("is tried with an object in parts, of which nothing is listed afterwards", async () => {
    const { stub, bucket } = await open("obeyed");
    await probeRetention(bucket, "parcels/");
    assert.ok(stub.requests.some(({ query }) => query.has("uploads")));
    assert.deepEqual([...stub.objects.keys()], []);
  });
});
