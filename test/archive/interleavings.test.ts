import { assert, asyncProperty, gen, nat } from "fast-check";
import { playOrder } from "./interleavings.ts";

/** More take minutes: test/long/archive-orders.ts */
const orders = 40;

describe("archive: whatever happens between two steps", () => {
  it(`keeps its promises in ${orders} orders of disk, database, cloud, clock, flow and close`, async function () {
    this.timeout(120_000);
    await assert(
      asyncProperty(gen(), async (choose) => {
        await playOrder((count) => choose(nat, { max: count - 1 }));
      }),
      { numRuns: orders, endOnFailure: true },
    );
  });
});
