import assert from "node:assert/strict";
import { assert as check, asyncProperty, gen, nat } from "fast-check";
import { playOrder } from "./interleavings.ts";
import { Turns } from "./turns.ts";
import { VirtualClock } from "./virtual-clock.ts";

/** More take minutes: test/long/archive-orders.ts */
const orders = 40;

describe("archive: whatever happens between two steps", () => {
  it("happens in the order that is chosen, one step at a time", async () => {
    const clock = new VirtualClock(0);
    try {
      const turns = new Turns((count) => count - 1, clock);
      const steps = ["first", "second", "third"].map((name) =>
        turns.take(name, async () => {
          await new Promise((resolve) => setImmediate(resolve));
          return turns.log.at(-1);
        }),
      );
      await turns.until(Promise.all(steps));
      assert.deepEqual(turns.log, ["third", "second", "first"]);
      assert.deepEqual(await Promise.all(steps), ["first", "second", "third"]);
    } finally {
      clock.close();
    }
  });

  it(`keeps its promises in ${orders} orders of disk, database, cloud, clock, flow and close`, async function () {
    this.timeout(120_000);
    await check(
      asyncProperty(gen(), async (choose) => {
        await playOrder((count) => choose(nat, { max: count - 1 }));
      }),
      { numRuns: orders, endOnFailure: true },
    );
  });
});
