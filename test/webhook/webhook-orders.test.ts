import assert from "node:assert/strict";
import { assert as check, asyncProperty, gen, nat } from "fast-check";
import { runWebhookOrder } from "./webhook-orders.ts";

/** More orders take minutes: test/long/archive-orders.ts */
const orders = 150;

describe("a webhook with a store: the order of concurrent steps", () => {
  it(`sends each stored record once in ${orders} orders of posts, deploys and a database that hangs`, async () => {
    let unanswered = 0;
    await check(
      asyncProperty(gen(), async (choose) => {
        unanswered += await runWebhookOrder((count) => choose(nat, { max: count - 1 }));
      }),
      { numRuns: orders, endOnFailure: true },
    );
    assert.ok(unanswered > 0, "no record was stored without an answer in any order");
  });
});
