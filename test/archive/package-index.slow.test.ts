import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { type SqlValue, type Statement, fromPackagesWithTriples } from "../../src/database/database.ts";
import { type Query, listDevices, searchIndex, suggestTexts } from "../../src/evidence/search.ts";
import { searchWords, timeMarks, tripleOfMark } from "../../src/rules/search-words.ts";
import type { Manifest } from "../../src/vault/packages/manifest.ts";
import { PackageIndex, indexPackage } from "../../src/vault/packages/package-index.ts";
import { describeDatabases } from "../database/databases.ts";
import { noting } from "../database/plans.ts";
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
    ["text", "rder", ["ccc", "bb", "a"]],
    ["text", "bb ORDER", ["bb"]],
    ["text", "order nobody", []],
    ["text", "dock wave 7", ["ccc", "bb", "a"]],
    ["text", "c", ["ccc"]],
    ["text", "cc", ["ccc"]],
    ["text", "b", ["ccc", "bb", "a"]],
    ["text", "\u001d", []],
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

  it("finds a package by a reference of a thousand words, in an archive of any size", async () => {
    const words = Array.from({ length: 1_050 }, (_, n) => String.fromCodePoint(0x4e00 + n)).join(" ");
    const { references } = manifestOf("a");
    await add("a", { references: { ...references, transactionReference: words } });
    const look = async (): Promise<void> => {
      for (const by of ["reference", "text"] as const) {
        assert.deepEqual(
          (await search(by, `${words} ${by === "text" ? words : ""}`, 9)).map(({ id }) => id),
          ["a"],
          by,
        );
      }
    };
    await look();
    await addMany(1_500, () => ({ archived_at: "2026-11-23T09:00:00.000Z", words: "other" }));
    await look();
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

  /** Adds many rows, as an archive does. */
  const addMany = (count: number, row: (n: number) => Readonly<Record<string, SqlValue>>): Promise<unknown> =>
    test.database.transaction(
      Array.from({ length: count / 500 }, (_, part) => {
        const rows = Array.from({ length: 500 }, (_, n) => {
          const { archived_at: at = "", words = null, ...more } = row(500 * part + n);
          const given = {
            archived_at: at,
            search_words: searchWords(String(at), [words === null ? null : String(words)], []),
            ...more,
          };
          const id = `p${500 * part + n}`;
          const kept = { package_id: id, job_key: id, location: id, manifest_sha256: id };
          return { ...kept, complete: 1, files: 1, bytes: 1, ...given };
        });
        const columns = Object.keys(rows[0] ?? {});
        const marks = `(${columns.map(() => "?").join(", ")})`;
        return {
          sql: `INSERT INTO packages (${columns.join(", ")}) VALUES ${rows.map(() => marks).join(", ")}`,
          values: rows.flatMap((one) => Object.values(one)),
        };
      }),
    );
  const hour = (n: number): string => new Date(1_700_000_000_000 + n * 3_600_000).toISOString();
  const range = (mm: number) => ({ from: mm, to: mm });
  const size = { sides: [range(300), range(200), range(100)], weight: null } as const;
  const carton = { longest_mm: 300, middle_mm: 200, shortest_mm: 100 };
  const other = { longest_mm: 900, middle_mm: 200, shortest_mm: 100 };

  it("finds the newest first among very many that begin with the same text", async () => {
    await addMany(3_000, (n) => ({ archived_at: hour(n), words: `many-${3_000 - n}` }));
    const found = await search("text", "many-", 3);
    assert.deepEqual(
      found.map(({ id }) => id),
      ["p2999", "p2998", "p2997"],
    );
  });

  it("finds as many as it is asked for, however many newer packages there are", async () => {
    await addMany(3_500, (n) => ({
      archived_at: hour(n),
      words: n < 1_500 ? `case-${n}` : null,
      ...(n < 1_500 ? carton : other),
    }));
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

  for (const [title, time] of [
    ["some each month", hour],
    ["many a day", (n: number) => new Date(1_700_000_000_000 + n * 20_000).toISOString()],
  ] as const) {
    it(`finds the newest of many that are all older than the newest packages, ${title}`, async () => {
      // Neither the order in which they come into the index, nor that of their references, is that of their times.
      const place = (n: number): number => (n * 7_919) % 9_000;
      await addMany(9_000, (n) => ({
        archived_at: time(place(n)),
        words: `${place(n) < 4_000 ? "old" : "new"}-${n}`,
        ...(place(n) < 4_000 ? carton : other),
      }));
      for (const query of [
        { by: "text", value: "OLD-" },
        { by: "size", sizes: [size] },
      ] as const) {
        const found = await searchIndex(test.database, query, 24);
        assert.deepEqual(
          found.map(({ archivedAt }) => archivedAt),
          Array.from({ length: 24 }, (_, n) => time(3_999 - n)),
        );
      }
    });
  }

  it("finds what is rare of a device, a kind of work or a short time among very many with the same text", async () => {
    const place = (n: number): number => (n * 7_919) % 9_000;
    await addMany(9_000, (n) => ({
      archived_at: hour(place(n)),
      words: place(n) < 4_000 ? "old" : "new",
      device: place(n) % 1_000 === 1 ? "rare" : "usual",
      work: place(n) % 2_000 === 1 ? "inspection" : null,
    }));
    const period = { from: hour(1_000), to: hour(3_001) };
    const all = Array.from({ length: 9_000 }, (_, n) => n).toReversed();
    const isRare = (n: number): boolean => n % 1_000 === 1;
    const isInspected = (n: number): boolean => n % 2_000 === 1;
    for (const [value, filter, isFound] of [
      ["new", { device: "rare" }, (n: number) => n >= 4_000 && isRare(n)],
      ["old", { work: "inspection" }, (n: number) => n < 4_000 && isInspected(n)],
      ["old", { work: "packing", device: "rare" }, (n: number) => n < 4_000 && isRare(n) && !isInspected(n)],
      ["old", { device: "rare", work: "inspection", period }, (n: number) => n === 2_001],
      ["old", { device: "usual", period }, (n: number) => n >= 1_000 && n < 3_001 && !isRare(n)],
      ["new", { period }, () => false],
    ] as const) {
      const given: Statement[] = [];
      const found = await searchIndex(noting(test.database, given), { by: "text", value }, 24, filter);
      const text = JSON.stringify({ value, filter });
      assert.deepEqual(
        found.map(({ archivedAt }) => archivedAt),
        all.filter(isFound).map(hour).slice(0, 24),
        text,
      );
      // The index of the text would have half of all packages.
      const ofText = given.filter(({ sql }) => sql.includes(fromPackagesWithTriples));
      const months = ["2023-12", "2024-01", "2024-02", "2024-03"].flatMap(timeMarks).map(tripleOfMark);
      assert.deepEqual(
        ofText.filter(({ values = [] }) => !months.some((month) => String(values[0]).includes(month))),
        [],
        text,
      );
    }
  });

  it("finds first what has exactly the words of a text", async () => {
    const { references } = manifestOf("a");
    const named = (transactionReference: string) => ({ references: { ...references, transactionReference } });
    await add("a", named("PO-4711"));
    await add("bb", named("PO-47110"));
    await add("ccc", named("XPO-4711"));
    assert.deepEqual(
      (await search("text", "po-4711", 9)).map(({ id }) => id),
      ["a", "ccc", "bb"],
    );
  });

  const spellings: readonly [title: string, archived: string, typed: string][] = [
    ["composed and decomposed", "Größe-4711".normalize("NFC"), "größe-4711".normalize("NFD")],
    ["decomposed and composed", "Größe-4711".normalize("NFD"), "GRÖSSE-4711"],
    ["with a capital ß", "STRAẞE-1", "strasse-1"],
    ["with the sharp s in small letters", "straße-1", "STRAẞE-1"],
    ["with low quotation marks", "„KISTE“-1", '"kiste"-1'],
    ["with an accent for an apostrophe", "O'BRIEN-1", "o´brien-1"],
    ["with a letter for an apostrophe", "OʼBRIEN-1", "o’brien-1"],
    ["with the sign of inches", "BOX-12″", 'box-12"'],
    ["with the dotted and the dotless i", "SİPARIŞ-1", "sipariş-1"],
    ["with the dotless i in small letters", "ıstanbul-1", "ISTANBUL-1"],
    ["in full width", "ＯＲＤＥＲ－４７１１", "order-4711"],
    ["with the digits of another script", "ORDER-٤٧١١", "order-4711"],
    ["in such digits typed", "ORDER-4711", "order-४७११"],
    ["with a ligature", "ﬁlm-1", "FILM-1"],
    ["with characters that nobody sees", "OR\u200bDER\u00ad-\u202e4711", "order-4711"],
    ["pasted with such characters", "ORDER-4711", "\u2066ORDER-4711\u2069\ufeff"],
    ["with another dash", "ORDER\u20114711", "order–4711"],
    ["with a Greek sigma at the end", "ΟΔΟΣ-1", "οδος-1"],
  ];
  for (const [title, archived, typed] of spellings) {
    it(`finds a reference ${title}`, async () => {
      const { references } = manifestOf("a");
      await add("a", { references: { ...references, transactionReference: archived } });
      await add("bb");
      for (const by of ["text", "reference"] as const) {
        assert.deepEqual(
          (await search(by, typed, 9)).map(({ id }) => id),
          ["a"],
          by,
        );
      }
    });
  }

  it("finds what has accents without them, and the other way round only where nothing has them", async () => {
    const { references } = manifestOf("a");
    const named = (transactionReference: string) => ({ references: { ...references, transactionReference } });
    await add("a", named("ZOË-1"));
    await add("bb", named("zoe-2"));
    await add("ccc", named("Łódź Ørsted Nandu 北海道が Ёлка ΟΔΌΣ Þórður مُحَمَّد"));
    const found = async (by: "reference" | "text", text: string) =>
      (await search(by, text, 9)).map(({ id }) => id).toSorted();
    for (const [typed, ids] of [
      ["zoe", ["a", "bb"]],
      ["Zoë", ["a"]],
      ["zoë-2", ["bb"]],
      ["lodz orsted", ["ccc"]],
      ["łodz", ["ccc"]],
      ["ñandú", ["ccc"]],
      ["елка οδος", ["ccc"]],
      ["ὀδός", ["ccc"]],
      ["thordur", ["ccc"]],
      ["محمد", ["ccc"]],
      ["北海道が", ["ccc"]],
      ["北海道か", []],
    ] as const) {
      assert.deepEqual(await found("text", typed), ids, typed);
    }
    // Whoever holds or exports by a reference means this one.
    assert.deepEqual([await found("reference", "zoe-1"), await found("reference", "zoë-1")], [[], ["a"]]);
  });

  it("finds only what a filter leaves", async () => {
    const film = {
      path: "film.mp4",
      source: "cloud",
      contentId: null,
      description: null,
      url: null,
    } as const;
    const type = {
      contentTypeAnnounced: "video/mp4",
      contentTypeFound: null,
      bytes: 1,
      sha256: "d".repeat(64),
    };
    await add("a", { complete: false, device: "dock" });
    await add("bb", { items: [{ ...film, ...type }] });
    await add("ccc");
    const period = { from: "2026-11-22T09:00:02.000Z", to: "2026-11-22T09:00:03.000Z" };
    for (const [filter, ids] of [
      [{}, ["ccc", "bb", "a"]],
      [{ device: "dock 4" }, ["ccc", "bb"]],
      [{ device: "dock" }, ["a"]],
      [{ marks: ["film"] }, ["bb"]],
      [{ marks: ["incomplete"] }, ["a"]],
      [{ marks: ["film", "incomplete"] }, []],
      [{ period }, ["bb"]],
      [{ locations: ["2026/ccc", "2026/a", "2026/gone"] }, ["ccc", "a"]],
      [{ locations: [] }, []],
      [{ locations: ["2026/a", "2026/bb"], period, device: "dock 4", marks: ["film"] }, ["bb"]],
    ] as const) {
      for (const query of [
        { by: "all" },
        { by: "text", value: "order" },
        { by: "reference", value: "wave 7" },
      ] as const) {
        const found = await searchIndex(test.database, query, 9, filter);
        assert.deepEqual(
          found.map(({ id }) => id),
          ids,
          JSON.stringify({ query, filter }),
        );
      }
    }
  });

  it("lists the devices of packages, and suggests what of a text is found", async () => {
    await add("a", { device: "dock 10" });
    await add("bb", { device: null });
    await add("ccc", { device: "dock 4" });
    assert.deepEqual(await listDevices(test.database), ["dock 10", "dock 4"]);
    assert.deepEqual(await suggestTexts(test.database, "Barcode nobody"), ["Barcode"]);
    assert.deepEqual(await suggestTexts(test.database, "BARCODES"), ["BARCODE"]);
    assert.deepEqual(await suggestTexts(test.database, "xbarcode"), ["barcode"]);
    assert.deepEqual(await suggestTexts(test.database, "\u001d"), []);
  });

  it("forgets the words of a package whose row is removed or replaced", async () => {
    const { references } = manifestOf("a");
    await add("a");
    await add("a", { references: { ...references, transactionReference: "another" } });
    assert.equal((await search("text", "another", 9)).length, 1);
    assert.equal((await search("text", "order", 9)).length, 0);
    await test.database.transaction([{ sql: "DELETE FROM packages" }]);
    assert.equal((await search("text", "another", 9)).length, 0);
  });

  it("finds a package by a reference with spaces around it, with them and without", async () => {
    const { references } = manifestOf("a");
    await add("a", { references: { ...references, transactionReference: "ORDER-1   " } });
    await add("bb", { references: { ...references, transactionReference: "ORDER-1" } });
    for (const [value, found] of [
      ["ORDER-1   ", ["bb", "a"]],
      ["order-1   ", ["bb", "a"]],
      ["  ORDER-1", ["bb", "a"]],
    ] as const) {
      const ids = (await search("reference", value, 9)).map(({ id }) => id);
      assert.deepEqual(ids, found, value);
    }
  });

  it("finds the newest of a reference, however each of them is written", async () => {
    const { references } = manifestOf("a");
    const named = (transactionReference: string) => ({ references: { ...references, transactionReference } });
    await add("a", named("ORDER-1"));
    await add("bb", named("Order-1"));
    assert.deepEqual(
      (await search("reference", "ORDER-1", 1)).map(({ id }) => id),
      ["bb"],
    );
    await addMany(1_000, (n) => ({
      archived_at: hour(n),
      words: "order-2",
      transaction_reference: n < 500 ? "ORDER-2" : "Order-2",
    }));
    const found = await search("reference", "order-2", 700);
    assert.deepEqual(
      found.map(({ archivedAt }) => archivedAt),
      Array.from({ length: 700 }, (_, n) => hour(999 - n)),
    );
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
