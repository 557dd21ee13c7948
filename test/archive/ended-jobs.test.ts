import assert from "node:assert/strict";
import { Hours } from "../database/hours.ts";
import { fillArchive } from "./packages.ts";
import { storeKinds, withPlace, type OpenedStore } from "./store-places.ts";
import { intentOf, mediumOf, openArchive, until } from "./support.ts";

const dayMs = 24 * 3_600_000;
const daysAgo = (days: number): string => new Date(Date.now() - days * dayMs).toISOString();

/** Makes rows of jobs that have ended; `first` is the number of the first one. */
async function addEnded({ query }: OpenedStore, count: number, endedAt: string, first = 1): Promise<void> {
  await query(`INSERT INTO jobs (job_id, node_id, state, accepted_at, changed_at, intent, intent_sha256)
    WITH RECURSIVE numbers(n) AS (SELECT ${first} UNION ALL SELECT n + 1 FROM numbers WHERE n < ${first + count - 1})
    SELECT 'ended ' || n, 'node', 'reported', '${endedAt}', '${endedAt}', '{}', '' FROM numbers`);
}

for (const kind of storeKinds.filter(({ files }) => files === "folder")) {
  describe(`archive: jobs that have ended, in ${kind.database}`, () => {
    let hours: Hours;
    beforeEach(() => {
      hours = new Hours();
    });
    afterEach(() => hours.close());

    it("are removed after 30 days, however many there are, and also while the archive stays open", async () => {
      await withPlace(kind, async (place) => {
        const opened = await place.open();
        const { store, query } = opened;
        const count = async (): Promise<number> =>
          Number((await query("SELECT count(*) AS jobs FROM jobs"))[0]?.["jobs"]);
        await fillArchive("", [], () => ({}), { store });
        await addEnded(opened, 250, daysAgo(31));
        assert.equal(await count(), 250);

        const archive = await openArchive("", undefined, { store });
        await until(async () => (await count()) === 0, "all old ones are gone");
        // The young one first: a removal that still runs would take an old one before it is made younger.
        await addEnded(opened, 1, daysAgo(29));
        await addEnded(opened, 250, daysAgo(31), 2);
        hours.pass();
        await until(async () => (await count()) === 1, "those that have expired since are gone");
        hours.pass();
        await archive.close();
        assert.equal(await count(), 1);
      });
    });

    it("leave with their message, or after a day, if the index has their package; it is found nevertheless", async () => {
      await withPlace(kind, async (place) => {
        const opened = await place.open();
        const { store, query } = opened;
        await fillArchive("", ["a"], () => ({}), { store });
        const isAlone = kind.database === "SQLite";
        assert.equal((await query("SELECT 1 FROM jobs")).length, isAlone ? 0 : 1);
        assert.deepEqual(
          await query("SELECT 1 FROM job_media"),
          isAlone ? [] : [{ "?column?": 1 }, { "?column?": 1 }],
        );
        // As earlier versions have left it.
        await query(`INSERT INTO jobs (job_id, node_id, state, accepted_at, changed_at, intent, intent_sha256)
          SELECT package_id, 'node', 'reported', '', '', '{}', '' FROM packages WHERE true ON CONFLICT (job_id) DO NOTHING`);
        await query(`UPDATE jobs SET changed_at = '${daysAgo(0.9)}'`);
        await (await openArchive("", undefined, { store })).close();
        assert.equal((await query("SELECT 1 FROM jobs")).length, 1);
        await query(`UPDATE jobs SET changed_at = '${daysAgo(1.1)}'`);
        const { runner, close } = await openArchive("", undefined, { store });
        assert.deepEqual(await query("SELECT 1 FROM jobs"), []);
        const media = [0, 1].map((part) => mediumOf(`a ${part}`));
        const again = await runner.submitMedia(intentOf("a", { origin: null, raw: "{}" }), media, null);
        assert.equal((await again.end()).wasThere, true);
        again.messageSent();
        await close();
      });
    });
  });
}
