import assert from "node:assert/strict";
import { Hours } from "../database/hours.ts";
import { fillArchive } from "./packages.ts";
import { storeKinds, withPlace, type OpenedStore } from "./store-places.ts";
import { openArchive, until } from "./support.ts";

const dayMs = 24 * 3_600_000;
const daysAgo = (days: number): string => new Date(Date.now() - days * dayMs).toISOString();

/** Makes many rows of the only job, with other ids. */
async function copyJob({ query }: OpenedStore, count: number, endedAt: string): Promise<void> {
  const [job] = await query("SELECT * FROM jobs WHERE job_id NOT LIKE 'copy%'");
  const columns = Object.keys(job ?? {}).filter((name) => !["changed_at", "job_id"].includes(name));
  await query(`INSERT INTO jobs (job_id, changed_at, ${columns.join(", ")})
    WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
    SELECT 'copy ' || n, '${endedAt}', ${columns.join(", ")} FROM jobs, numbers WHERE job_id NOT LIKE 'copy%'`);
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
        await fillArchive("", ["a"], () => ({}), { store });
        await copyJob(opened, 2_500, daysAgo(31));
        assert.equal(await count(), 2_501);

        const archive = await openArchive("", undefined, { store });
        await until(async () => (await count()) === 1, "all old ones are gone");
        await copyJob(opened, 2_500, daysAgo(31));
        await query(`UPDATE jobs SET changed_at = '${daysAgo(29)}' WHERE job_id = 'copy 7'`);
        hours.pass();
        await until(async () => (await count()) === 2, "those that have expired since are gone");
        hours.pass();
        await archive.close();
        assert.equal(await count(), 2);
      });
    });
  });
}
