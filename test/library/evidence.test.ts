import assert from "node:assert/strict";
import {
  addNumbers,
  findPackages,
  holdPackages,
  listMissing,
  releasePackages,
  verifyArchive,
} from "../../src/index.ts";
import { fillArchive } from "../archive/packages.ts";
import { databaseOf } from "../archive/store.ts";
import { withFolder } from "../media/support.ts";

/** A call without TypeScript's help. */
type Untyped = (...given: unknown[]) => Promise<unknown>;

describe("the library: finding and keeping archived packages", () => {
  it("finds packages, puts them on hold with a reason, and releases them", () =>
    withFolder(async (root) => {
      const database = databaseOf(root);
      const paths = await fillArchive(root, ["m0", "m1"]);
      const found = await findPackages(root, { database, by: "text", value: "order" });
      assert.deepEqual(
        found.map(({ location }) => location),
        paths.toReversed(),
      );
      const one = { database, by: "transactionId", value: "m0" } as const;
      const [held] = await holdPackages(root, { ...one, reason: "claim", person: "Anna" });
      assert.deepEqual([held?.hold?.reason, held?.hold?.person], ["claim", "Anna"]);
      assert.equal((await verifyArchive(root, { database })).verdict, "ok");
      const [released] = await releasePackages(root, { ...one, reason: "settled" });
      assert.equal(released?.hold, null);
      const named = await addNumbers(root, { ...one, numbers: ["1Z 999"], person: "Anna" });
      assert.deepEqual(
        named.numbers.map(({ number, person }) => [number, person]),
        [["1Z 999", "Anna"]],
      );
      const [again] = await findPackages(root, { database, by: "reference", value: "1z 999" });
      assert.equal(again?.packageId, named.packageId);
      assert.deepEqual(await listMissing(root, { database, period: "1y" }), []);
    }));

  it("says which argument is not valid, and what is not there", () =>
    withFolder(async (root) => {
      const database = databaseOf(root);
      await fillArchive(root, ["m0"]);
      const by = "reference";
      const calls: readonly [Untyped, object, string][] = [
        [findPackages as Untyped, { database, by: "name" }, "ERR_INPUT"],
        [findPackages as Untyped, { database, by }, "ERR_INPUT"],
        [findPackages as Untyped, { database, by, value: "1", limit: 0 }, "ERR_INPUT"],
        [findPackages as Untyped, { database: `${root}/none.sqlite`, by, value: "1" }, "ERR_STORE"],
        [findPackages as Untyped, { database: `${database}/in-a-file.sqlite`, by, value: "1" }, "ERR_STORE"],
        [findPackages as Untyped, { database: "a\0b", by, value: "1" }, "ERR_STORE"],
        [holdPackages as Untyped, { database, by, value: "nobody's", reason: "1" }, "ERR_NOT_FOUND"],
        [holdPackages as Untyped, { database, by, value: "ORDER-1" }, "ERR_INPUT"],
        [addNumbers as Untyped, { database, by, value: "ORDER-1", numbers: "1Z" }, "ERR_INPUT"],
        [addNumbers as Untyped, { database, by, value: "nobody's", numbers: ["1Z"] }, "ERR_NOT_FOUND"],
        [listMissing as Untyped, { database, period: "2026-13" }, "ERR_INPUT"],
      ];
      for (const [call, options, code] of calls) {
        await assert.rejects(call(root, options), { code }, JSON.stringify(options));
      }
      await assert.rejects(findPackages(`${root}/none`, { database, by: "all" }), { code: "ERR_FILE" });
    }));
});
