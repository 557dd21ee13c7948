import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import type { Database } from "../../src/database/database.ts";
import {
  addNumbers,
  demandListed,
  findPackages,
  verifyPackages,
  withSource,
} from "../../src/evidence/packages.ts";
import type { Finding } from "../../src/model/archive-reports.ts";
import { rebuildIndex } from "../../src/vault/upkeep/upkeep.ts";
import { entryOf } from "../../src/vault/log/events.ts";
import { provePackages } from "../../src/vault/log/package-proof.ts";
import { emptyPostgresOptions } from "../database/databases.ts";
import { readLogged } from "./logged.ts";
import { changeDatabase, copiesOfArchive, verify } from "./packages.ts";

describe("archive: numbers that come later", () => {
  const archive = copiesOfArchive(["m0", "m1", "m2"]);
  const number = "1Z999AA10123456784";
  const change = { numbers: [number, "JD01 4600"], person: "Anna", reason: "label" };

  const find = async (
    folder: string,
    database: string,
    by: "reference" | "text",
    value: string,
  ): Promise<readonly string[]> =>
    withSource({ folder, database, operation: "find" }, async (source) =>
      (await findPackages(source, { by, value, limit: 9 })).map(({ location }) => location),
    );
  const name = (folder: string, database: string, index: number, numbers = change) =>
    withSource(
      { folder, database, operation: "name" },
      async (source) => {
        const [one] = await findPackages(source, { by: "all", limit: 9 }).then((all) =>
          all.filter(({ location }) => location === archive.paths[index]),
        );
        return addNumbers(source, { by: "packageId", value: one?.packageId }, numbers);
      },
      { access: "write" },
    );

  /** What the packages' own verification finds; `between` comes while what proves them is read. */
  const verifyOne = (folder: string, database: string, between?: () => Promise<unknown>) =>
    withSource({ folder, database, operation: "verify" }, async (source) => {
      const packages = await demandListed(source, { by: "all", limit: 9 });
      const reader: Pick<Database, "transaction"> = {
        transaction: async (statements) => {
          const rows = await source.database.transaction(statements);
          await between?.();
          between = undefined;
          return rows;
        },
      };
      const proven = await provePackages({ ...source, database: reader }, packages, undefined);
      const findings: Finding[] = [];
      const onFinding = (one: Finding): void => void findings.push(one);
      const signal = AbortSignal.timeout(60_000);
      await verifyPackages(source.vault, proven, { onFinding, onProgress: () => undefined, signal });
      return findings.map(({ kind, path }) => `${kind} ${path}`);
    });

  const databases: Readonly<Record<string, (file: string) => Promise<string>>> = {
    SQLite: async (file) => file,
    PostgreSQL: async () => (await emptyPostgresOptions()).address.url,
  };
  for (const [kind, databaseFor] of Object.entries(databases)) {
    it(`are in the log, and lead to their package, also after a rebuild: ${kind}`, () =>
      archive.withArchive(async (root, file) => {
        const database = await databaseFor(file);
        await rebuildIndex(root, { database });
        const [, path = ""] = archive.paths;
        const before = (await readLogged(root)).length;
        await name(root, database, 1);
        const looked = async (where: string): Promise<void> => {
          assert.deepEqual(await find(root, where, "reference", number.toLowerCase()), [path]);
          assert.deepEqual(await find(root, where, "reference", "JD01 4600"), [path]);
          assert.deepEqual(await find(root, where, "reference", "4600"), []);
          assert.deepEqual(await find(root, where, "text", "0123456"), [path]);
          const { report, said } = await verify(root, where);
          assert.deepEqual([report.verdict, said], ["ok", []]);
        };
        await looked(database);
        const added = (await readLogged(root)).slice(before);
        assert.deepEqual(
          added.map((event) =>
            event.what === "named" ? [event.number, event.person, event.reason] : event.what,
          ),
          change.numbers.map((one) => [one, "Anna", "label"]),
        );
        // A package that is noted again keeps them, and a lost database gets them from the log.
        await rebuildIndex(root, { database });
        await looked(database);
        const other = kind === "SQLite" ? file : (await emptyPostgresOptions()).address.url;
        await (kind === "SQLite" ? rm(file) : undefined);
        await rebuildIndex(root, { database: other });
        await looked(other);
      }));
  }

  it("are taken from the log by a database that was restored from a backup", () =>
    archive.withArchive(async (root, file) => {
      const { address } = await emptyPostgresOptions();
      await rebuildIndex(root, { database: address.url });
      await name(root, file, 2);
      assert.deepEqual(await find(root, address.url, "text", number), []);
      await rebuildIndex(root, { database: address.url });
      assert.deepEqual(await find(root, address.url, "text", number), [archive.paths[2]]);
    }));

  it("are missed by a verification where the index does not have them, or the package is not known", () =>
    archive.withArchive(async (root, file) => {
      await name(root, file, 0);
      const archived = "substr(search_words, 1, length(search_words) - length(added_words))";
      changeDatabase(file, `UPDATE packages SET search_words = ${archived}, added_words = ''`);
      assert.ok((await verify(root)).said.includes(`index ${archive.paths[0]}`));
      assert.deepEqual(await verifyOne(root, file), [`index ${archive.paths[0]}`]);
      await rebuildIndex(root, { database: file });
      assert.deepEqual((await verify(root)).said, []);
      const later = { ...change, numbers: ["comes while it is read"] };
      assert.deepEqual(await verifyOne(root, file, () => name(root, file, 0, later)), []);
      const at = new Date().toISOString();
      const { line } = entryOf({
        what: "named",
        at,
        package: "nobody's",
        path: "nowhere",
        sha256: "0".repeat(64),
        number,
        person: null,
        reason: null,
      });
      await withSource(
        { folder: root, database: file, operation: "name" },
        async ({ database, log, vault }) => {
          const n = (await readLogged(root)).length;
          await database.transaction([
            {
              sql: "INSERT INTO log (n, what, package_id, writer, line) VALUES (?, 'named', ?, 'x', ?)",
              values: [n, "nobody's", line],
            },
            { sql: "UPDATE log_head SET size = size + 1" },
          ]);
          await vault.appendLog(log.store, "x", [{ n, line }]);
        },
        { access: "write" },
      );
      const { findings } = await verify(root);
      assert.deepEqual(
        findings.map(({ problem }) => problem.replace(/\d+/, "n")),
        ["the line n is about nowhere, and no line before says that it was archived"],
      );
    }));
});
