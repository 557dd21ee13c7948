import { assert as check, asyncProperty, gen, nat } from "fast-check";
import { runWorkerOrder } from "./worker-orders.ts";

/** More orders take minutes: test/long/archive-orders.ts */
const orders = 30;

describe("archive: two workers on one database", () => {
  for (const place of ["folder", "bucket", "folder that is away for a while"] as const) {
    it(`make one package of each job in a ${place}, in ${orders} orders, whenever the lease of one ends`, async () => {
      await check(
        asyncProperty(gen(), async (choose) => {
          await runWorkerOrder((count) => choose(nat, { max: count - 1 }), place);
        }),
        { numRuns: orders, endOnFailure: true },
      );
    });
  }
});
