import assert from "node:assert/strict";
import { join } from "node:path";
import { copyArchive, pruneArchive, rebuildIndex } from "../../src/vault/upkeep/upkeep.ts";
import { packageFolder } from "../../src/vault/packages/layout.ts";
import { withFolder } from "../media/support.ts";
import { databaseOf } from "./store.ts";
import { useCredentials } from "../support/s3-servers.ts";
import { startStub } from "../support/s3-stub.ts";
import { fillArchive, verify } from "./packages.ts";

/** Archives one package with this layout; returns its path. */
async function archiveWith(root: string, layout: string, transactionId: string): Promise<string> {
  const values = { date: "2026-11-02", reference: "ORDER-1", transactionId, device: "Dock 4" };
  const [path = ""] = await fillArchive(root, [transactionId], () => ({
    folder: packageFolder(layout, values),
  }));
  return path;
}

describe("archive: a layout that is changed", () => {
  useCredentials();

  it("puts no package into another one, where nothing would find it", async () => {
    await withFolder(async (root) => {
      const paths = [
        await archiveWith(root, "{date}/{device}", "a"),
        await archiveWith(root, "{date}/{device}", "b"),
        await archiveWith(root, "{date}/{device}/{transactionId}", "c"),
        await archiveWith(root, "{date}/{device}/{transactionId}", "d"),
        await archiveWith(root, "{date}/{device}/{transactionId}/{reference}", "e"),
      ];
      assert.deepEqual(paths, [
        "2026-11-02/Dock 4",
        "2026-11-02/Dock 4 (1)",
        "2026-11-02/Dock 4 (2)/c",
        "2026-11-02/Dock 4 (2)/d",
        "2026-11-02/Dock 4 (2)/e/ORDER-1",
      ]);
      assert.deepEqual((await verify(root)).said, []);
      const stub = await startStub();
      try {
        assert.equal((await copyArchive(root, stub.url("parcels"), {})).copied, 5);
      } finally {
        await stub.close();
      }
      await withFolder(async (other) => {
        const { packages } = await rebuildIndex(root, { database: join(other, "index.sqlite") });
        assert.equal(packages, 5);
      });
      const before = new Date(Date.now() + 1_000);
      assert.equal((await pruneArchive(root, { before, database: databaseOf(root) })).deleted, 5);
    });
  });
});
