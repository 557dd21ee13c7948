/**
 * The archive, and a webhook with a store, in many orders of what can happen at once:  node test/long/archive-orders.ts [orders] [seed]
 *
 * A failure prints the seed and the order.
 */
import { assert, asyncProperty, gen, nat } from "fast-check";
import { runFindingOrder } from "../archive/finding-orders.ts";
import { runOrder } from "../archive/interleavings.ts";
import { runWorkerOrder } from "../archive/worker-orders.ts";
import { runWebhookOrder } from "../webhook/webhook-orders.ts";

const [numRuns, seed] = [Number(process.argv[2] ?? 3_000), Number(process.argv[3] ?? Date.now())];
for (const run of [runOrder, runFindingOrder, runWorkerOrder, runWebhookOrder]) {
  await assert(
    asyncProperty(gen(), async (choose) => {
      await run((count) => choose(nat, { max: count - 1 }));
    }),
    { numRuns, seed, endOnFailure: true },
  );
}
console.log(`archive and webhook: ${numRuns} orders of each kind, seed ${seed}`);
