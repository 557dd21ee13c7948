import assert from "node:assert/strict";
import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Database } from "../../src/database/database.ts";
import { ToolThread } from "../../src/database/tool-database.ts";
import { VerificationTable } from "../../src/database/verification-table.ts";
import type { Finding, VerifyReport } from "../../src/model/archive-reports.ts";
import { pruneArchive, rebuildIndex, verifyArchive } from "../../src/vault/upkeep/upkeep.ts";
import type { VaultLocation } from "../../src/vault/store.ts";
import { openForTool } from "../../src/vault/index-reader.ts";
import { describeDatabases } from "../database/databases.ts";
import { statementsOf, stepsOf } from "../database/plans.ts";
import type { TestDatabase } from "../database/support.ts";
import { withFolder } from "../media/support.ts";
import { useCredentials } from "../support/s3-servers.ts";
import {
  type BucketArchive,
  type IndexDatabase,
  archiveForEach,
  bucketSuites,
  hexNames,
  indexDatabases,
  packagesForBuckets,
} from "./bucket-archive.ts";
import { copiesOfArchive, fillArchive, verify } from "./packages.ts";
import { bundleVerb, runChild } from "./processes.ts";
import { databaseOf, storeIn } from "./store.ts";
import { pictureOf } from "./support.ts";

const dayMs = 24 * 3_600_000;
/** So little that the log takes all of it, and one package is verified. */
const forOneMs = 1;
/** More than any test needs for all packages. */
const forAllMs = 600_000;

interface Ran {
  readonly report: VerifyReport;
  readonly findings: readonly Finding[];
  readonly said: readonly string[];
}

async function scrub(
  place: string | VaultLocation,
  database: string | undefined,
  forMs: number,
): Promise<Ran> {
  const findings: Finding[] = [];
  const report = await verifyArchive(place, {
    database,
    forMs,
    mayBlock: true,
    onFinding: (finding) => findings.push(finding),
  });
  return { report, findings, said: findings.map(({ kind, path }) => `${kind} ${path}`) };
}

/** A database, opened as the commands do. */
async function inDatabase<T>(given: string, work: (database: Database) => Promise<T>): Promise<T> {
  const thread = new ToolThread();
  try {
    const database = await openForTool(given, "write", thread);
    try {
      return await work(database);
    } finally {
      await database.close();
    }
  } finally {
    await thread.close();
  }
}

/** What the database has noted of packages, in the order in which they were archived. */
async function noted(given: string): Promise<string[]> {
  const [rows = []] = await inDatabase(given, (database) =>
    database.transaction([
      {
        sql: `SELECT transaction_id, verified_at, finding FROM packages JOIN verifications USING (indexed_order)
          WHERE verified_at <> '' ORDER BY packages.archived_at`,
      },
    ]),
  );
  return rows.map(({ transaction_id: id, finding }) => `${String(id)} ${String(finding ?? "whole")}`);
}

const stateOf = (given: string) => inDatabase(given, (database) => new VerificationTable(database).state());

for (const [kind, openIndex] of Object.entries(indexDatabases)) {
  describe(`archive: verifying for a limited time, with an index in ${kind}`, () => {
    const archive = copiesOfArchive(["m0", "m1", "m2"]);
    let index: IndexDatabase;

    beforeEach(async () => {
      index = await openIndex();
    });
    afterEach(() => index.close());

    const withArchive = (body: (root: string, given: string) => Promise<void>) =>
      archive.withArchive(async (root) => {
        await rebuildIndex(root, { database: index.given });
        await body(root, index.given);
      });
    const damage = (root: string, place: number) =>
      writeFile(join(root, archive.paths[place] ?? "", "item.jpg"), pictureOf("m1 X"));

    it("begins with the oldest package, goes on where the last run has ended, and begins anew", () =>
      withArchive(async (root, given) => {
        assert.deepEqual(await stateOf(given), { oldestAt: null, never: 3, damaged: 0 });
        const seen: string[][] = [];
        for (let run = 0; run < 3; run += 1) {
          const { report, said } = await scrub(root, given, forOneMs);
          assert.deepEqual([report.verdict, report.packages, report.expected, said], ["ok", 1, 3, []]);
          seen.push(await noted(given));
        }
        assert.deepEqual(seen, [
          ["m0 whole"],
          ["m0 whole", "m1 whole"],
          ["m0 whole", "m1 whole", "m2 whole"],
        ]);
        const { oldestAt, never } = await stateOf(given);
        assert.ok(oldestAt !== null && never === 0);
        const { report } = await scrub(root, given, forOneMs);
        assert.ok((report.part?.oldestAtUtc ?? "") > oldestAt, "the first one is the newest now");
        assert.deepEqual(
          (await scrub(root, given, forAllMs)).report.packages,
          3,
          "each once, not for 10 minutes",
        );
      }));

    it("finds a damaged package with each run, before all others, until it is whole again", () =>
      withArchive(async (root, given) => {
        const path = archive.paths[1] ?? "";
        const original = await readFile(join(root, path, "item.jpg"));
        await damage(root, 1);
        const first = await scrub(root, given, forAllMs);
        assert.deepEqual([first.report.verdict, first.said], ["wrong", [`changed ${path}/item.jpg`]]);
        assert.deepEqual(await noted(given), ["m0 whole", "m1 changed", "m2 whole"]);
        assert.equal((await stateOf(given)).damaged, 1);
        for (let run = 0; run < 2; run += 1) {
          const again = await scrub(root, given, forOneMs);
          assert.deepEqual([again.report.packages, again.said], [1, [`changed ${path}/item.jpg`]]);
        }
        await writeFile(join(root, path, "item.jpg"), original);
        const mended = await scrub(root, given, forOneMs);
        assert.deepEqual([mended.report.verdict, mended.report.packages], ["ok", 1]);
        assert.deepEqual(await noted(given), ["m0 whole", "m1 whole", "m2 whole"]);
      }));

    it("says of a damaged package that there was no time to verify it again", () =>
      withArchive(async (root, given) => {
        await damage(root, 0);
        await damage(root, 2);
        assert.equal((await scrub(root, given, forAllMs)).findings.length, 2);
        const { report, findings } = await scrub(root, given, forOneMs);
        assert.deepEqual([report.verdict, report.packages, findings.length], ["wrong", 1, 2]);
        assert.match(findings[1]?.problem ?? "", /^it was damaged when it was last verified \(2\d{3}-/);
      }));

    it("forgets a damaged package that is deleted because of its age", () =>
      withArchive(async (root, given) => {
        await damage(root, 0);
        await scrub(root, given, forAllMs);
        await pruneArchive(root, { before: new Date(Date.now() + dayMs), database: given });
        assert.deepEqual(await stateOf(given), { oldestAt: null, never: 0, damaged: 0 });
        assert.deepEqual((await scrub(root, given, forAllMs)).said, []);
      }));

    it("knows of no verification after the database was rebuilt from the log", () =>
      withArchive(async (root, given) => {
        await scrub(root, given, forAllMs);
        const other = await openIndex();
        try {
          await rebuildIndex(root, { database: other.given });
          assert.deepEqual(await stateOf(other.given), { oldestAt: null, never: 3, damaged: 0 });
        } finally {
          await other.close();
        }
      }));

    it("shares the packages with another run at the same time, and waits for none that was killed", () =>
      withArchive(async (root, given) => {
        await inDatabase(given, async (database) => {
          const [one, other] = [new VerificationTable(database), new VerificationTable(database)];
          const before = new Date().toISOString();
          const take = async (table: VerificationTable, most: number) =>
            (await table.takeOldest(before, most)).map((row) => row["transaction_id"]);
          await one.addNew();
          assert.deepEqual([await take(one, 1), await take(other, 9)], [["m0"], ["m1", "m2"]]);
          assert.deepEqual(await take(other, 9), [], "all are taken");
          assert.deepEqual((await one.state()).never, 3, "and not verified");
          await database.transaction([
            { sql: "UPDATE verifications SET taken_until = '2026-01-01' WHERE taken_until <> ''" },
          ]);
          assert.deepEqual(await take(other, 9), ["m0", "m1", "m2"], "they were taken for some minutes only");
        });
        const both = await Promise.all([scrub(root, given, forAllMs), scrub(root, given, forAllMs)]);
        assert.deepEqual(
          both.map(({ report }) => report.packages),
          [0, 0],
        );
      }));

    it("holds each package against the log, and the log against the database", () =>
      withArchive(async (root, given) => {
        const path = archive.paths[0] ?? "";
        const file = join(root, path, "manifest.json");
        await writeFile(file, (await readFile(file, "utf8")).replace("ORDER-1", "ORDER-2"));
        const { said } = await scrub(root, given, forOneMs);
        assert.deepEqual(said, [`manifest ${path}`, `manifest ${path}`], "not as index and log name it");
        await inDatabase(given, (database) =>
          database.transaction([{ sql: "UPDATE log SET line = replace(line, 'm1', 'm7')" }]),
        );
        const changed = await scrub(root, given, forOneMs);
        assert.equal(changed.findings[0]?.kind, "log");
      }));

    it("names packages that the log names and the index does not list", () =>
      withArchive(async (root, given) => {
        const [gone = "", there = ""] = archive.paths;
        await rm(join(root, gone), { recursive: true });
        await inDatabase(given, (database) =>
          database.transaction([{ sql: "DELETE FROM packages WHERE transaction_id IN ('m0', 'm1')" }]),
        );
        const { report, said } = await scrub(root, given, forAllMs);
        assert.deepEqual([report.packages, said], [1, [`missing-package ${gone}`, `unlisted ${there}`]]);
        await rebuildIndex(root, { database: given });
        assert.deepEqual((await scrub(root, given, forAllMs)).said, [`missing-package ${gone}`]);
      }));

    it("is noted by a whole verification as well, with what it finds", () =>
      withArchive(async (root, given) => {
        await damage(root, 0);
        await rm(join(root, archive.paths[2] ?? ""), { recursive: true });
        await verify(root, given);
        assert.deepEqual(await noted(given), ["m0 changed", "m1 whole", "m2 missing-package"]);
        assert.deepEqual((await stateOf(given)).never, 0);
      }));

    it("is not noted of a copy, and goes through no copy", () =>
      withArchive(async (root, given) =>
        withFolder(async (copy) => {
          await cp(root, copy, { recursive: true });
          await verify(copy, given);
          assert.deepEqual(await noted(given), []);
          const { report } = await scrub(copy, given, forAllMs);
          assert.deepEqual([report.verdict, report.packages], ["unchecked", 0]);
        }),
      ));

    it("finds damaged packages also after the clock was put back", () =>
      withArchive(async (root, given) => {
        await damage(root, 0);
        await damage(root, 2);
        await scrub(root, given, forAllMs);
        const later = new Date(Date.now() + 3_600_000).toISOString();
        await inDatabase(given, (database) =>
          database.transaction([{ sql: `UPDATE verifications SET verified_at = '${later}'` }]),
        );
        const { report, findings } = await scrub(root, given, forOneMs);
        assert.deepEqual([report.verdict, report.packages, findings.length], ["wrong", 1, 2]);
        assert.equal((await stateOf(given)).never, 0);
      }));

    it("does not stop at packages whose rows a run that was killed has left when it had deleted them", () =>
      withArchive(async (root, given) => {
        await index.run("CREATE TABLE kept AS SELECT * FROM packages");
        const [, , last] = await index.run("SELECT archived_at AS at FROM packages ORDER BY archived_at");
        const before = new Date(String(last?.["at"]));
        const { deleted } = await pruneArchive(root, { before, database: given, despiteClock: true });
        assert.equal(deleted, 2);
        await index.run(
          "INSERT INTO packages SELECT * FROM kept WHERE package_id NOT IN (SELECT package_id FROM packages)",
        );
        const { report, said } = await scrub(root, given, forOneMs);
        assert.deepEqual([report.verdict, report.packages, said], ["ok", 1, []]);
        assert.deepEqual(await noted(given), ["m2 whole"]);
        // Each is looked at once, whatever time there is.
        await index.run("UPDATE verifications SET taken_until = ''");
        assert.equal((await scrub(root, given, 2_000)).report.packages, 1);
      }));

    it("does not put off packages that a wrong clock has verified in the future", () =>
      withArchive(async (root, given) => {
        await scrub(root, given, forAllMs);
        await inDatabase(given, (database) =>
          database.transaction([
            { sql: "UPDATE verifications SET verified_at = '2099-01-01T00:00:00.000Z'" },
          ]),
        );
        assert.equal((await scrub(root, given, forAllMs)).report.packages, 3);
      }));
  });
}

describe("archive: verifying the packages of several stores for a limited time", () => {
  it("comes to all of them, the oldest first", () =>
    withFolder(async (root) => {
      const folder = join(root, ".dimensioner-archive");
      const files = [databaseOf(root), join(folder, "other.sqlite")];
      for (const [place, id] of ["m0", "m1", "m2", "m3"].entries()) {
        await fillArchive(root, [id], undefined, { store: storeIn(root, undefined, files[place % 2]) });
      }
      const seen: string[] = [];
      for (let run = 0; run < 4; run += 1) {
        await scrub(root, folder, forOneMs);
        const all = (await Promise.all(files.map(noted))).flat().map((one) => one.slice(0, 2));
        seen.push(...all.filter((one) => !seen.includes(one)));
      }
      assert.deepEqual(seen, ["m0", "m1", "m2", "m3"]);
    }));
});

describe("archive: verifying for a limited time on the command line", () => {
  const archive = copiesOfArchive(["m0", "m1"]);

  it("is only a note where a whole verification cannot write when it was", () =>
    archive.withArchive(async (root, file) => {
      const other = new DatabaseSync(file);
      other.exec("BEGIN IMMEDIATE");
      const { report, said } = await verify(root, file);
      other.close();
      assert.deepEqual([report.verdict, said], ["ok", []]);
      assert.match(
        report.notes.find(({ kind }) => kind === "not-noted")?.text ?? "",
        /has locked the database/,
      );
    }));

  it("exits with 0, 1 and 2 as for all packages, and says how much was verified", async () => {
    const script = await bundleVerb("verify");
    await archive.withArchive(async (root, file) => {
      const args = [root, "--database", file, "--for", "10m"];
      const whole = await runChild(script, args);
      assert.equal(whole.code, 0, whole.stderr);
      assert.match(whole.stdout, /: 2 packages of 2, 6 files, .*: what was checked is as it was archived\n/);
      assert.match(whole.stdout, /; every package was verified at least once; the oldest .*: 2\d{3}-/);
      await rm(join(root, archive.paths[1] ?? "", "item.jpg"));
      assert.equal((await runChild(script, args)).code, 1);
      assert.equal((await runChild(script, [root, "--for", "10m"])).code, 2);
      const wrong = await runChild(script, [root, "--for", "10 days"]);
      assert.deepEqual([wrong.code, /--for needs a duration such as 10m/.test(wrong.stderr)], [2, true]);
    });
  });
});

describe("archive: verifying for a limited time in a bucket", () => {
  useCredentials();
  const packages = packagesForBuckets();
  for (const suite of bucketSuites.slice(0, 2)) {
    describe(`in ${suite.name}, with an index in ${suite.database}`, () => {
      let archive: BucketArchive;
      archiveForEach(suite, "scrub", packages, (one) => (archive = one));

      it("reads all objects of each package, and goes on", async () => {
        const { given } = archive.index;
        const first = await scrub(archive.location, given, forOneMs);
        assert.deepEqual([first.report.verdict, first.said], ["ok", []]);
        assert.ok(first.report.packages < 3 || first.report.part?.never === 0);
        await archive.put(`2026-11-02/${hexNames[2]}/item.jpg`, pictureOf("m9 9"));
        const rest = await scrub(archive.location, given, forAllMs);
        assert.deepEqual(rest.said, [`changed 2026-11-02/${hexNames[2]}/item.jpg`]);
        assert.equal((await scrub(archive.location, given, forOneMs)).report.verdict, "wrong");
      });
    });
  }
});

/** As many as make an index the faster way, also for a planner that knows how many there are. */
const many = 20_000;

describeDatabases("archive: which of many packages are verified next", (open) => {
  let test: TestDatabase;

  before(async () => {
    test = await open();
    await test.database.transaction([
      {
        sql: `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${many})
          INSERT INTO packages (package_id, job_key, location, manifest_sha256, archived_at, complete, files, bytes)
          SELECT 'p' || i, 'key ' || i, '2026/' || i, 'sha ' || i, 'time ' || (100000 + i), 1, 1, 1 FROM n`,
      },
      { sql: "ANALYZE" },
    ]);
  });
  after(() => test.close());

  /** Of damaged packages there is an index by themselves. */
  const isWhole =
    /^SCAN (packages|verifications|known)(?! USING INDEX verifications_damaged)\b(?!_)|Seq Scan on (packages|verifications)\b(?!_)/;

  it("is known without reading the index as a whole", async () => {
    const table = new VerificationTable(test.database);
    const before = "2026-11-02T00:00:00.000Z";
    assert.equal((await table.state()).never, 10_000, "no more are counted");
    await table.addNew();
    const first = await table.takeOldest(before, 3);
    assert.deepEqual(
      first.map((row) => row["package_id"]),
      ["p1", "p2", "p3"],
    );
    assert.equal((await table.state()).never, 10_000);
    const orders = Array.from({ length: many }, (_, index) => ({ order: index + 1, finding: null }));
    await table.note(orders, "2026-11-01T00:00:00.000Z");
    assert.deepEqual(await table.state(), { oldestAt: "2026-11-01T00:00:00.000Z", never: 0, damaged: 0 });
    await test.database.transaction([{ sql: "ANALYZE" }]);
    const steps = await stepsOf(test, async (database) => {
      const noting = new VerificationTable(database);
      assert.equal((await noting.takeOldest(before, 5)).length, 5);
      assert.equal((await noting.takeDamaged(before, 5)).length, 0);
      await noting.forgetFuture(Date.parse(before));
      await noting.headOf("oldest", before);
      await noting.headOf("damaged", before);
      await noting.damaged(before, 5);
      await noting.addNew();
      await noting.of(["p1", "p2"]);
      await noting.state();
    });
    assert.deepEqual(
      steps.filter((step) => isWhole.test(step)),
      [],
      steps.join("\n"),
    );
    const forgotten = await statementsOf(test, (database) =>
      new VerificationTable(database).forgetFuture(Date.parse("2026-10-01T00:00:00.000Z")),
    );
    assert.ok(forgotten.length > many / 2_000, "in small steps, each of which others may wait for");
    assert.equal((await table.state()).never, 10_000);
    const damaged = await stepsOf(test, (database) => new VerificationTable(database).takeDamaged(before, 5));
    assert.ok(
      damaged.some((step) => step.includes("verifications_damaged")),
      damaged.join("\n"),
    );
  });
});
