import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { type Query, searchIndex } from "../../src/evidence/search.ts";
import type { Manifest } from "../../src/vault/packages/manifest.ts";
import { PackageIndex, indexPackage } from "../../src/vault/packages/package-index.ts";
import { describeDatabases } from "../database/databases.ts";
import type { TestDatabase } from "../database/support.ts";

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
    ...more,
  };
}

describeDatabases("the index of a store's packages", (open) => {
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
    test = await open();
  });
  afterEach(() => test.close());

  type By = Extract<Query, { value: string }>["by"];
  const search = (by: By, value: string, limit: number) => searchIndex(test.database, { by, value }, limit);

  const lookups: readonly [by: By, value: string, found: readonly string[]][] = [
    ["reference", "order of a", ["a"]],
    ["reference", "wave 7", ["ccc", "bb", "a"]],
    ["transactionId", "id of bb", ["bb"]],
    ["barcode", "barcode of ccc", ["ccc"]],
    ["transactionId", "ID OF BB", ["bb"]],
    ["packageId", "a", ["a"]],
    ["text", "Order", ["ccc", "bb", "a"]],
    ["text", "barcode of c", ["ccc"]],
    ["text", "ID OF B", ["bb"]],
    ["text", "rder", []],
    ["text", "%", []],
    ["reference", "nobody's", []],
    ["reference", "' OR 1 = 1 --", []],
  ];
  for (const [by, value, found] of lookups) {
    it(`finds ${found.length} by ${by} “${value}”, the newest first`, async () => {
      await Promise.all([add("a"), add("bb"), add("ccc")]);
      assert.deepEqual(
        (await search(by, value, 100)).map(({ id }) => id),
        found,
      );
    });
  }

  it("finds a package by a reference that is longer than what the index has of it", async () => {
    const long = randomBytes(3_000).toString("base64");
    const { references } = manifestOf("a");
    await add("a", { references: { ...references, transactionReference: long, barcodeReference: long } });
    for (const by of ["reference", "barcode", "text"] as const) {
      assert.equal((await search(by, long, 9)).length, 1, by);
    }
  });

  it("gives no more than it is asked for", async () => {
    await Promise.all([add("a"), add("bb"), add("ccc")]);
    assert.deepEqual(
      (await search("reference", "wave 7", 2)).map(({ id }) => id),
      ["ccc", "bb"],
    );
  });

  it("finds the packages of a period, without its end, and all of them", async () => {
    await Promise.all([add("a"), add("bb"), add("ccc")]);
    const period = { from: "2026-11-22T09:00:01.000Z", to: "2026-11-22T09:00:03.000Z" };
    const found = await searchIndex(test.database, { by: "period", period }, 9);
    assert.deepEqual(
      found.map(({ id }) => id),
      ["bb", "a"],
    );
    assert.equal((await searchIndex(test.database, { by: "all" }, 9)).length, 3);
  });

  it("finds the newest first among very many that begin with the same text", async () => {
    await test.database.transaction([
      {
        sql: `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
          INSERT INTO packages (package_id, job_key, location, manifest_sha256, transaction_reference, archived_at, complete, files, bytes)
          SELECT 'p' || i, i, i, i, 'MANY-' || (3000 - i), 'time ' || (10000 + i), 1, 1, 1
          FROM n`,
      },
    ]);
    const found = await search("text", "many-", 3);
    assert.deepEqual(
      found.map(({ id }) => id),
      ["p3000", "p2999", "p2998"],
    );
  });

  it("finds as many as it is asked for, however many newer packages there are", async () => {
    await test.database.transaction([
      {
        sql: `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3500)
          INSERT INTO packages (package_id, job_key, location, manifest_sha256, transaction_reference, longest_mm,
            middle_mm, shortest_mm, archived_at, complete, files, bytes)
          SELECT 'p' || i, i, i, i, CASE WHEN i <= 1500 THEN 'CASE-' || i ELSE NULL END,
            CASE WHEN i <= 1500 THEN 300 ELSE 900 END, 200, 100, 'time ' || (10000 + i), 1, 1, 1
          FROM n`,
      },
    ]);
    const range = (mm: number) => ({ from: mm, to: mm });
    const size = { sides: [range(300), range(200), range(100)], weight: null } as const;
    for (const query of [
      { by: "text", value: "CASE-" },
      { by: "size", sizes: [size] },
    ] as const) {
      for (const [limit, count] of [
        [2_000, 1_500],
        [1_200, 1_200],
      ] as const) {
        assert.equal((await searchIndex(test.database, query, limit)).length, count, `${query.by} ${limit}`);
      }
    }
  });

  it("finds a package by a reference with spaces around it, with them and without", async () => {
    const { references } = manifestOf("a");
    await add("a", { references: { ...references, transactionReference: "ORDER-1   " } });
    await add("bb", { references: { ...references, transactionReference: "ORDER-1" } });
    for (const [value, found] of [
      ["ORDER-1   ", ["bb", "a"]],
      ["order-1   ", ["bb", "a"]],
      ["  ORDER-1", ["bb"]],
    ] as const) {
      const ids = (await search("reference", value, 9)).map(({ id }) => id);
      assert.deepEqual(ids, found, value);
    }
  });

  it("gives what a manifest says", async () => {
    await add("a", { complete: false });
    assert.deepEqual((await search("packageId", "a", 1))[0], {
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
    // At the same time they would come in any order.
    await add("a", {}, "same");
    await add("bb", {}, "same");
    await add("ccc");
    assert.deepEqual(
      (await index().ofKeys(["same"])).map(({ id }) => id),
      ["a", "bb"],
    );
  });

  it("knows the package that came last", async () => {
    assert.equal(await index().last(), undefined);
    await add("a");
    await add("b", { store: "another" });
    assert.equal((await index().last())?.path, "2026/b");
  });

  it("forgets what lay in a folder before another package took its place", async () => {
    await add("a");
    await test.database.transaction(
      indexPackage({ own: "key of b", measure: null }, { path: "2026/a", sha256: "other" }, manifestOf("b")),
    );
    assert.deepEqual(await search("packageId", "a", 9), []);
    assert.equal((await search("packageId", "b", 9)).length, 1);
  });

  it("takes a package in again without doubling it, as a rebuild does", async () => {
    await add("a");
    await add("a", { complete: false });
    assert.deepEqual(
      (await search("packageId", "a", 9)).map(({ complete }) => complete),
      [false],
    );
  });
});
