import { assert as check, asyncProperty, gen, nat } from "fast-check";
import { runWorkerOrder } from "./worker-orders.ts";

/** More orders take minutes: test/long/archive-orders.ts */
const orders = 30;

describe("archive: two workers on one database", () => {
  it(`make one package of each job in ${orders} orders, whenever the lease of one ends`, async () => {
    await check(
      asyncProperty(gen(), async (choose) => {
        await runWorkerOrder((count) => choose(nat, { max: count - 1 }));
      }),
      { numRuns: orders, endOnFailure: true },
    );
  });
});
