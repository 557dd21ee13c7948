import assert from "node:assert/strict";
import { readStoreState } from "../../src/evidence/store-state.ts";
import { JobTable } from "../../src/jobs/job-rows.ts";
import { intentOf } from "../archive/support.ts";
import { type TestDatabase, openTestDatabase } from "../database/support.ts";
import { withFolder } from "../media/support.ts";
import { WallClock } from "../model-based/wall-clock.ts";

describe("the age of the oldest open job", () => {
  let test: TestDatabase;
  let clock: WallClock;
  beforeEach(async () => {
    test = await openTestDatabase();
    clock = new WallClock();
  });
  afterEach(async () => {
    clock.close();
    await test.close();
  });

  for (const days of [-400, 400]) {
    it(`is that since it was accepted, with a clock that was ${days} days ahead then`, () =>
      withFolder(async (path) => {
        const { database } = test;
        const age = async (): Promise<number | null> => {
          const vault = { kind: "folder", path } as const;
          return (await readStoreState({ database, kind: "file", vault })).oldestJobFor;
        };
        clock.jump(days * 86_400_000);
        const id = "job";
        await new JobTable(database, "worker").accept({
          id,
          node: "node",
          key: id,
          intent: intentOf(id),
          items: new Map(),
        });
        // Accepted a minute ago.
        await database.transaction([
          { sql: "UPDATE jobs SET accepted_steady_ms = accepted_steady_ms - 60000" },
        ]);
        clock.reset();
        const seconds = (await age()) ?? -1;
        assert.ok(seconds >= 60 && seconds < 120, `${seconds} s`);
        // Before the computer was started.
        const at = new Date(Date.now() - 3_600_000).toISOString();
        await database.transaction([
          { sql: "UPDATE jobs SET steady_clock = 'other', accepted_at = ?", values: [at] },
        ]);
        assert.equal(Math.round(((await age()) ?? 0) / 60), 60);
      }));
  }
});
