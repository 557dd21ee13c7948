import assert from "node:assert/strict";
import { isDimensionerError } from "../../src/errors/dimensioner-error.ts";
import { pruneArchive } from "../../src/vault/upkeep/upkeep.ts";
import { withFolder } from "../media/support.ts";
import { changeDatabase, fillArchive } from "./packages.ts";
import { forgeLog } from "./forger.ts";
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

  it("deletes nothing for space that an age would spare, with a clock that is years ahead", () =>
    withFolder(async (root) => {
      await fillArchive(root, ["m0", "m1", "m2"]);
      const forSpace = ["--use-at-most", "0.001kB"];
      const refused = await run(root, 5 * 365, ...forSpace);
      assert.deepEqual([refused.code, await count(root)], [2, 3]);
      assert.match(refused.stderr, /Nothing was deleted: the clock of this computer says 20\d\d/);
      // Where nothing has to be deleted, no clock is asked.
      assert.equal((await run(root, 5 * 365, "--use-at-most", "1TB")).code, 0);
      const insisted = await run(root, 5 * 365, ...forSpace, "--despite-clock");
      assert.deepEqual([insisted.code, await count(root)], [1, 2], insisted.stderr);
      // Without an age, the oldest one goes, whatever the time is.
      const ahead = ["--import", shiftedBy(5 * 365), ...[prune].flat()] as const;
      await runChild(ahead, [root, "--database", databaseOf(root), ...forSpace]);
      assert.equal(await count(root), 1);
    }));

  it("deletes nothing where the server of the database has another day", () =>
    withFolder(async (root) => {
      await fillArchive(root, ["m0", "m1", "m2"]);
      const file = databaseOf(root);
      // The newest package may be of a clock that was ahead as well: only the database tells it.
      const ahead = new Date(Date.now() + 5 * 365 * 86_400_000).toISOString();
      changeDatabase(
        file,
        `UPDATE packages SET archived_at = '${ahead}' WHERE package_id = (SELECT max(package_id) FROM packages)`,
      );
      const refused = await run(root, 5 * 365);
      assert.equal(refused.code, 2);
      assert.match(refused.stderr, /Nothing was deleted: .* and that of the database 20\d\d/);
      assert.equal(await count(root), 3);
      assert.equal((await run(root, 5 * 365, "--despite-clock")).code, 0);
    }));

  it("deletes nothing where the clock was put ahead of that of the devices, though packages were archived since", () =>
    withFolder(async (root) => {
      await fillArchive(
        root,
        Array.from({ length: 25 }, (_, n) => `m${n}`),
      );
      const database = databaseOf(root);
      const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString();
      const newest = "indexed_order > (SELECT max(indexed_order) - 3 FROM packages)";
      // Ten are of 60 days before the clock was put 40 days ahead, the last three of afterwards.
      changeDatabase(
        database,
        `UPDATE packages SET archived_at = '${daysAgo(40)}', measured_at = '${daysAgo(40)}';
        UPDATE packages SET archived_at = '${daysAgo(100)}', measured_at = '${daysAgo(100)}' WHERE indexed_order <= 10;
        UPDATE packages SET archived_at = '${daysAgo(0)}' WHERE ${newest}`,
      );
      const options = { before: new Date(daysAgo(90)), database };
      await assert.rejects(pruneArchive(root, options), (error) => {
        assert.ok(isDimensionerError(error) && error.sentence === "pruneClock", String(error));
        assert.ok(
          error.message.includes(`the newest package is of ${daysAgo(40).slice(0, 10)}`),
          error.message,
        );
        return true;
      });
      assert.equal(await count(root), 25);
      // Devices whose clocks have always been behind are no witnesses.
      changeDatabase(database, `UPDATE packages SET measured_at = '${daysAgo(400)}'`);
      assert.equal((await pruneArchive(root, { ...options, dryRun: true })).deleted, 10);
      changeDatabase(database, `UPDATE packages SET measured_at = archived_at`);
      assert.equal((await pruneArchive(root, options)).deleted, 10);
    }));

  it("deletes nothing after a month without packages, whatever the devices have written in place of a time", () =>
    withFolder(async (root) => {
      await fillArchive(root, ["m0", "m1", "m2"]);
      const database = databaseOf(root);
      const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString();
      const options = { before: new Date(daysAgo(30)), database, dryRun: false };
      const today = daysAgo(0).slice(0, 10);
      for (const told of [
        `${today}T99:99:99Z`,
        `${today} at noon`,
        today.replaceAll("-", "/").replace(/..$/, "xx"),
      ]) {
        changeDatabase(
          database,
          `UPDATE packages SET archived_at = '${daysAgo(40)}', measured_at = '${daysAgo(40)}';
          UPDATE packages SET measured_at = '${told}' WHERE transaction_id = 'm0'`,
        );
        await assert.rejects(pruneArchive(root, options), { sentence: "pruneClock" }, told);
        assert.equal(await count(root), 3);
      }
    }));

  it("counts the age from the time of the device in whatever way that is written", () =>
    withFolder(async (root) => {
      await fillArchive(root, ["m0", "m1", "m2", "m3"]);
      const database = databaseOf(root);
      const at = (days: number): Date => new Date(Date.now() - days * 86_400_000);
      const slashed = (time: Date): string =>
        time.toISOString().slice(0, 19).replace("T", " ").replaceAll("-", "/");
      const east = new Date(at(10).getTime() + 14 * 3_600_000).toISOString().replace("Z", "+14:00");
      // By their texts, the second one would be of this year's end, and the third one be younger than it is.
      changeDatabase(
        database,
        `UPDATE packages SET archived_at = '2020-01-01T00:00:00.000Z' WHERE transaction_id <> 'm3';
        UPDATE packages SET measured_at = '${slashed(at(5))}' WHERE transaction_id = 'm0';
        UPDATE packages SET measured_at = '${slashed(at(20))}' WHERE transaction_id = 'm1';
        UPDATE packages SET measured_at = '${east}' WHERE transaction_id = 'm2'`,
      );
      const { deleted } = await pruneArchive(root, { before: at(9.75), database });
      assert.equal(deleted, 2);
      const left = [...(await readPackages(root)).values()].map(({ transactionId }) => transactionId);
      assert.deepEqual(left.sort(), ["m0", "m3"]);
    }));

  it("deletes nothing after a pause that is long for the age", () =>
    withFolder(async (root) => {
      await fillArchive(root, ["m0", "m1", "m2"]);
      const database = databaseOf(root);
      const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString();
      const pause = (days: number): void =>
        changeDatabase(
          database,
          `UPDATE packages SET archived_at = '${daysAgo(days)}', measured_at = '${daysAgo(days)}';
          UPDATE packages SET archived_at = '${daysAgo(35)}', measured_at = '${daysAgo(35)}' WHERE transaction_id = 'm0'`,
        );
      // As with a clock that is 20 days ahead: the package of 15 days ago would go.
      for (const [days, age] of [
        [20, 30],
        [8, 30],
        [8, 1],
      ] as const) {
        pause(days);
        const options = { before: new Date(daysAgo(age)), database };
        await assert.rejects(pruneArchive(root, options), { sentence: "pruneClock" });
        assert.equal(await count(root), 3);
      }
      pause(7);
      assert.equal((await pruneArchive(root, { before: new Date(daysAgo(30)), database })).deleted, 1);
    }));

  it("deletes nothing where the clock was put ahead, and no device has told the time since", () =>
    withFolder(async (root) => {
      const paths = await fillArchive(root, ["m0", "m1", "m2", "m3", "m4"]);
      const database = databaseOf(root);
      const then = new Date(Date.now() - 3 * 365 * 86_400_000).toISOString();
      const later = new Set(paths.slice(3));
      await forgeLog(root, (events) =>
        events.map((event) =>
          event.what === "archived"
            ? later.has(event.path)
              ? event
              : { ...event, at: then, archived: then }
            : { ...event, at: then },
        ),
      );
      changeDatabase(
        database,
        `UPDATE packages SET measured_at = NULL;
        UPDATE packages SET archived_at = '${then}' WHERE transaction_id IN ('m0', 'm1', 'm2')`,
      );
      const options = { before: new Date(Date.now() - 2 * 365 * 86_400_000), database };
      await assert.rejects(pruneArchive(root, options), (error) => {
        assert.ok(isDimensionerError(error) && error.sentence === "pruneClock", String(error));
        assert.ok(error.message.includes(`newest package is of ${then.slice(0, 10)}`), error.message);
        return true;
      });
      assert.equal(await count(root), 5);
      changeDatabase(database, "UPDATE packages SET measured_at = archived_at WHERE transaction_id = 'm4'");
      assert.equal((await pruneArchive(root, options)).deleted, 3, "once a device has told it");
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

  it("counts the age of what was archived with a clock that was behind from the lines of the log before it", () =>
    withFolder(async (root) => {
      const paths = await fillArchive(root, ["m0", "m1", "m2", "m3", "m4"]);
      const database = databaseOf(root);
      // As after a power cut, until the network was there: no device has told the time.
      const then = new Date(Date.now() - 400 * 86_400_000).toISOString();
      const behind = new Set(paths.slice(3));
      await forgeLog(root, (events) =>
        events.map((event) =>
          event.what === "archived" && behind.has(event.path)
            ? { ...event, at: then, archived: then }
            : event,
        ),
      );
      changeDatabase(
        database,
        `UPDATE packages SET archived_at = '${then}', measured_at = NULL WHERE transaction_id IN ('m3', 'm4')`,
      );
      const before = new Date(Date.now() - 86_400_000);
      assert.equal((await pruneArchive(root, { before, database })).deleted, 0);
      const { deleted } = await pruneArchive(root, { useAtMost: 1, database });
      assert.deepEqual(
        [deleted, [...(await readPackages(root)).values()].map(({ transactionId }) => transactionId).sort()],
        [1, ["m1", "m2", "m3", "m4"]],
        "the oldest one goes first",
      );
    }));
});
