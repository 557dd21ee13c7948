import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { DatabaseLocation } from "../../src/database/database.ts";
import { isPostgresUrl, readPostgresUrl } from "../../src/database/postgres-address.ts";
import {
  exportPackages,
  findPackages,
  holdPackages,
  pruneArchive,
  rebuildIndex,
  verifyArchive,
} from "../../src/index.ts";
import { readStoreFile, storeFileOf } from "../../src/vault/store-file.ts";
import { withFolder } from "../media/support.ts";
import { useCredentials } from "../support/s3-servers.ts";
import { type TestPlace, storeKinds, withPlace } from "./store-places.ts";
import { intentOf, mediumOf, openArchive } from "./support.ts";

const ids = ["first", "second"] as const;

for (const kind of storeKinds) {
  describe(`archive: the maintenance of packages in a ${kind.files}, with ${kind.database}`, () => {
    useCredentials();

    async function fill(place: TestPlace): Promise<void> {
      const { store } = await place.open();
      const { runner, close } = await openArchive("", undefined, { store });
      for (const id of ids) {
        const intent = intentOf(id, { origin: null, raw: `{"id":"${id}"}` });
        const submission = await runner.submitMedia(intent, [mediumOf(id)], null);
        await submission.end();
        submission.messageSent();
      }
      await close();
    }

    it("finds its store by a file without secrets, and verifies, finds, holds, exports, indexes and prunes", async () => {
      await withPlace(kind, (place) =>
        withFolder(async (folder) => {
          await fill(place);
          const file = join(folder, "store.json");
          await writeFile(file, JSON.stringify(storeFileOf(place.vault, locationOf(place.database))));
          const { address, database } = await readStoreFile(file);
          const verified = async (): Promise<readonly [string, number]> => {
            const { verdict, packages } = await verifyArchive(address, { database });
            return [verdict, packages];
          };
          assert.deepEqual(await verified(), ["ok", 2]);

          const one = { database, by: "transactionId", value: "first" } as const;
          assert.equal((await findPackages(address, one)).length, 1);
          const [held] = await holdPackages(address, { ...one, reason: "claim", person: "Anna" });
          assert.equal(held?.hold?.reason, "claim");

          const { verification } = await exportPackages(address, { database, by: "all", to: folder });
          assert.deepEqual([verification.verdict, verification.packages], ["ok", 2]);

          const other = join(folder, "other.sqlite");
          assert.equal((await rebuildIndex(address, { database: other })).packages, 2);
          assert.equal((await findPackages(address, { ...one, database: other })).length, 1);

          const before = new Date(Date.now() + 60_000);
          const { deleted, held: kept } = await pruneArchive(address, { before, database });
          assert.deepEqual([deleted, kept], [1, 1]);
          assert.deepEqual(await verified(), ["ok", 1]);
          assert.deepEqual(await findPackages(address, { ...one, value: "second" }), []);
        }),
      );
    });
  });
}

function locationOf(database: string): DatabaseLocation {
  return isPostgresUrl(database)
    ? { kind: "postgres", address: readPostgresUrl(database) }
    : { kind: "file", file: database };
}
