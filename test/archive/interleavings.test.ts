import assert from "node:assert/strict";
import { assert as check, asyncProperty, gen, nat } from "fast-check";
import { runFindingOrder } from "./finding-orders.ts";
import { runOrder } from "./interleavings.ts";
import { Scheduler } from "./scheduler.ts";
import { VirtualClock } from "./virtual-clock.ts";

/** More orders take minutes: test/long/archive-orders.ts */
const orders = 40;
const findingOrders = 150;

describe("archive: the order of concurrent steps", () => {
  it("happens in the order that is chosen, one step at a time", async () => {
    const clock = new VirtualClock(0);
    try {
      const scheduler = new Scheduler((count) => count - 1, clock);
      const steps = ["first", "second", "third"].map((name) =>
        scheduler.schedule(name, async () => {
          await new Promise((resolve) => setImmediate(resolve));
          return scheduler.log.at(-1);
        }),
      );
      await scheduler.runUntil(Promise.all(steps));
      assert.deepEqual(scheduler.log, ["third", "second", "first"]);
      assert.deepEqual(await Promise.all(steps), ["first", "second", "third"]);
    } finally {
      clock.close();
    }
  });

  it(`keeps its promises in ${orders} orders of disk, database, cloud, clock, flow and close`, async () => {
    await check(
      asyncProperty(gen(), async (choose) => {
        await runOrder((count) => choose(nat, { max: count - 1 }));
      }),
      { numRuns: orders, endOnFailure: true },
    );
  });

  it(`gives a transaction to one of two measurements at most, in ${findingOrders} orders`, async () => {
    let given = 0;
    await check(
      asyncProperty(gen(), async (choose) => {
        given += await runFindingOrder((count) => choose(nat, { max: count - 1 }));
      }),
      { numRuns: findingOrders, endOnFailure: true },
    );
    assert.ok(given > 0, "none was found in any order");
  });
});
