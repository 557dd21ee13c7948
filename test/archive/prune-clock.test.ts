import assert from "node:assert/strict";
import { pruneArchive } from "../../src/vault/commands.ts";
import { withFolder } from "../media/support.ts";
import { changeDatabase, fillArchive } from "./packages.ts";
import { bundleVerb, runChild, type Script } from "./processes.ts";
import { databaseOf } from "./store.ts";
import { readPackages } from "./support.ts";

/** A module that sets the clock of a process ahead by so many days. */
function shiftedBy(days: number): string {
  const source = `const Real = Date, by = ${days} * 864e5;
    globalThis.Date = class extends Real {
      constructor(...given) { given.length === 0 ? super(Real.now() + by) : super(...given); }
      static now() { return Real.now() + by; }
    };`;
  return `data:text/javascript,${encodeURIComponent(source)}`;
}

describe("archive: deleting packages with a clock that may be wrong", () => {
  let prune: Script;
  before(async () => {
    prune = await bundleVerb("prune");
  });

  const run = (root: string, days: number, ...more: string[]) =>
    runChild(
      ["--import", shiftedBy(days), ...[prune].flat()],
      [root, "--database", databaseOf(root), "--older-than", "2y", ...more],
    );
  const count = async (root: string): Promise<number> => (await readPackages(root)).size;

  it("deletes nothing with a clock that is years ahead, and says so, unless somebody insists", () =>
    withFolder(async (root) => {
      await fillArchive(root, ["m0", "m1", "m2"]);
      const refused = await run(root, 5 * 365);
      assert.equal(refused.code, 2);
      assert.match(
        refused.stderr,
        /Nothing was deleted: the clock of this computer says 20\d\d.*--despite-clock/,
      );
      assert.equal(await count(root), 3);
      const insisted = await run(root, 5 * 365, "--despite-clock");
      assert.equal(insisted.code, 0, insisted.stderr);
      assert.equal(await count(root), 0);
    }));

  it("deletes nothing if nearly all packages are due at once", () =>
    withFolder(async (root) => {
      await fillArchive(
        root,
        Array.from({ length: 25 }, (_, n) => `m${n}`),
      );
      const file = databaseOf(root);
      const options = { before: new Date(Date.now() - 3_600_000), database: file };
      changeDatabase(
        file,
        "UPDATE packages SET archived_at = '2020-01-01T00:00:00.000Z' WHERE package_id <> (SELECT max(package_id) FROM packages)",
      );
      await assert.rejects(pruneArchive(root, options), { code: "ERR_CONFIG", sentence: "pruneNearlyAll" });
      assert.equal(await count(root), 25);
      changeDatabase(
        file,
        `UPDATE packages SET archived_at = '${new Date().toISOString()}' WHERE package_id > (SELECT package_id FROM packages ORDER BY package_id LIMIT 1 OFFSET 4)`,
      );
      const { deleted } = await pruneArchive(root, options);
      assert.equal(deleted, 5);
    }));

  it("counts the age of what was archived with a clock that was behind from the time of the device", () =>
    withFolder(async (root) => {
      const now = new Date();
      await fillArchive(root, ["m0", "m1", "m2"], (id) => ({
        deviceUtcTime: id === "m0" ? now.toISOString() : id === "m1" ? "0001-01-01T00:00:00Z" : null,
      }));
      const file = databaseOf(root);
      changeDatabase(
        file,
        "UPDATE packages SET archived_at = '2020-01-01T00:00:00.000Z' WHERE transaction_id <> 'm2'",
      );
      const { deleted } = await pruneArchive(root, {
        before: new Date(now.getTime() - 86_400_000),
        database: file,
      });
      assert.equal(deleted, 1, "only the one whose device does not know the time");
      assert.deepEqual(
        [...(await readPackages(root)).values()].map(({ transactionId }) => transactionId).sort(),
        ["m0", "m2"],
      );
    }));
});
