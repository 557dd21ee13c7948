import assert from "node:assert/strict";
import type { Manifest } from "../../src/archive/packages/manifest.ts";
import { indexPackage, PackageIndex, type Lookup } from "../../src/archive/packages/package-index.ts";
import { openTestDatabase, type TestDatabase } from "../store/support.ts";

function manifestOf(job: string, more: Partial<Manifest> = {}): Manifest {
  return {
    schemaVersion: 1,
    software: { name: "test", version: "0" },
    job,
    store: "own",
    source: "cloud",
    cloud: "https://cloud.example",
    transactionId: `id of ${job}`,
    references: {
      transactionReference: `order of ${job}`,
      customReference1: null,
      customReference2: "wave 7",
      customReference3: null,
      barcodeReference: `barcode of ${job}`,
    },
    device: "dock 4",
    times: {
      deviceLocal: null,
      deviceUtc: null,
      accepted: "",
      archived: `2026-11-22T09:00:0${job.length}.000Z`,
    },
    legalForTrade: true,
    complete: true,
    missing: [],
    items: [],
    measurement: null,
    raw: { path: "measurement.raw", bytes: 7, sha256: "c".repeat(64) },
    previous: null,
    ...more,
  };
}

describe("the index of a store's packages", () => {
  let test: TestDatabase;
  const index = () => new PackageIndex(test.database);
  const add = (job: string, more: Partial<Manifest> = {}, key = `key of ${job}`) =>
    test.database.transaction(
      indexPackage(
        { own: key, measure: null },
        { path: `2026/${job}`, sha256: `sha256 of ${job}` },
        manifestOf(job, more),
      ),
    );

  beforeEach(async () => {
    test = await openTestDatabase();
  });
  afterEach(() => test.close());

  const lookups: readonly [by: Lookup, value: string, found: readonly string[]][] = [
    ["reference", "order of a", ["a"]],
    ["reference", "wave 7", ["ccc", "bb", "a"]],
    ["transactionId", "id of bb", ["bb"]],
    ["barcode", "barcode of ccc", ["ccc"]],
    ["packageId", "a", ["a"]],
    ["reference", "nobody's", []],
    ["reference", "' OR 1 = 1 --", []],
  ];
  for (const [by, value, found] of lookups) {
    it(`finds ${found.length} by ${by} “${value}”, the newest first`, async () => {
      await Promise.all([add("a"), add("bb"), add("ccc")]);
      assert.deepEqual(
        (await index().find(by, value, 100)).map(({ id }) => id),
        found,
      );
    });
  }

  it("gives no more than it is asked for", async () => {
    await Promise.all([add("a"), add("bb"), add("ccc")]);
    assert.deepEqual(
      (await index().find("reference", "wave 7", 2)).map(({ id }) => id),
      ["ccc", "bb"],
    );
  });

  it("gives what a manifest says", async () => {
    await add("a", { complete: false });
    assert.deepEqual((await index().find("packageId", "a", 1))[0], {
      id: "a",
      path: "2026/a",
      sha256: "sha256 of a",
      transactionId: "id of a",
      transactionReference: "order of a",
      archivedAt: "2026-11-22T09:00:01.000Z",
      complete: false,
      measurement: null,
      raw: "c".repeat(64),
      supplements: null,
    });
  });

  it("knows all packages of one key in their order", async () => {
    await Promise.all([add("a", {}, "same"), add("bb", {}, "same"), add("ccc")]);
    assert.deepEqual(
      (await index().ofKeys(["same"])).map(({ id }) => id),
      ["a", "bb"],
    );
  });

  it("knows the last package of a store's chain, in whatever order a restart has found them", async () => {
    assert.equal(await index().last("own"), undefined);
    const after = (job: string) => ({ previous: { path: `2026/${job}`, sha256: `sha256 of ${job}` } });
    await add("a");
    await add("d", after("c"));
    await add("c", after("b"));
    await add("b", after("a"));
    await add("newer", { store: "another" });
    assert.equal((await index().last("own"))?.path, "2026/d");
  });

  it("begins the chain of a new database with the newest package that there is", async () => {
    await Promise.all([add("ccc", { store: null }), add("a", { store: "lost" })]);
    assert.equal((await index().last("own"))?.path, "2026/ccc");
  });

  it("forgets what lay in a folder before another package took its place", async () => {
    await add("a");
    await test.database.transaction(
      indexPackage({ own: "key of b", measure: null }, { path: "2026/a", sha256: "other" }, manifestOf("b")),
    );
    assert.deepEqual(await index().find("packageId", "a", 9), []);
    assert.equal((await index().find("packageId", "b", 9)).length, 1);
  });

  it("takes a package in again without doubling it, as a rebuild does", async () => {
    await add("a");
    await add("a", { complete: false });
    assert.deepEqual(
      (await index().find("packageId", "a", 9)).map(({ complete }) => complete),
      [false],
    );
  });
});
