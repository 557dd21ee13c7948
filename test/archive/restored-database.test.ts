import assert from "node:assert/strict";
import { rebuildIndex, verifyArchive } from "../../src/archive/maintenance/commands.ts";
import { useCredentials } from "../support/s3-servers.ts";

import { ScriptedCloud } from "./scripted-sources.ts";
import { storeKinds, withPlace } from "./store-places.ts";
import { intentOf, openArchive, until } from "./support.ts";

const tables = ["jobs", "job_media", "packages", "uploads", "measurements"] as const;
const jpeg = "image/jpeg";

for (const kind of storeKinds) {
  describe(`archive: an older database of packages in a ${kind.files} that is restored to ${kind.database}`, () => {
    useCredentials();

    it("archives nothing twice if its index is completed before a worker is started", async () => {
      await withPlace(kind, async (place) => {
        const cloud = new ScriptedCloud();
        const first = await place.open();
        const archive = await openArchive("", undefined, { store: first.store, cloud: () => cloud });
        const wanted = { expect: [jpeg], waitMs: 600_000, giveUpMs: 3_600_000 };
        const submission = await archive.runner.submit(intentOf("1", wanted));
        await until(() => submission.running?.state === "waiting", "it waits for its medium");
        for (const table of tables) {
          await first.query(`CREATE TABLE dump_${table} AS SELECT * FROM ${table}`);
        }
        cloud.have = [{ id: "ColorImageJpeg", type: jpeg }];
        submission.running?.wake();
        const { path } = await submission.end();
        submission.messageSent();
        await archive.close();

        for (const table of tables.toReversed()) {
          await first.query(`DELETE FROM ${table}`);
        }
        for (const table of tables) {
          await first.query(`INSERT INTO ${table} SELECT * FROM dump_${table}`);
          await first.query(`DROP TABLE dump_${table}`);
        }
        await first.endLease();
        await first.close();
        assert.equal((await rebuildIndex(place.files, { database: place.database })).packages, 1);

        const second = await place.open();
        const again = await openArchive("", undefined, { store: second.store, cloud: () => cloud });
        const isMine = (): boolean => true;
        await again.archive.takeOver({ node: "node", isMine });
        const [resumed] = again.runner.resume(isMine);
        assert.ok(resumed !== undefined, "the job is open");
        const archived = await resumed.end();
        assert.deepEqual([archived.wasThere, archived.path], [true, path]);
        resumed.messageSent();
        await again.close();
        assert.deepEqual([...(await place.packages()).keys()], [path]);
        assert.deepEqual((await verifyArchive(place.files, { database: place.database })).verdict, "ok");
      });
    });
  });
}
