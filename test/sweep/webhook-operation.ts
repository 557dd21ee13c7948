import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { post } from "./webhook-server.ts";
import type { SweptOperation } from "./operations.ts";

const record = {
  errorCode: 0,
  dimensions: { length: 30.5, width: 20, height: 10.25 },
  barcodeReference: "5012345678900",
};

/** The operation of a record that the cloud posts, and posts again if it had no response. */
export const sweptWebhook: SweptOperation = {
  name: "webhook delivery",
  kind: "webhook",
  surface: "webhook",
  async prepare({ webhook }) {
    // Another id each time, since the receiver drops duplicates.
    const id = `record-${webhook.delivered.length}`;
    const deliveries = (): number => webhook.delivered.filter((one) => one === id).length;
    return {
      acts: deliveries,
      shut: () => webhook.redeploy(),
      async start({ webhookOrigin, signal, limitMs }) {
        const redeploy = (): void => webhook.redeploy();
        signal.addEventListener("abort", redeploy);
        try {
          const status = await post(webhookOrigin, { id, ...record }, limitMs);
          if (status !== 204) {
            throw new Error(`answered ${status}`);
          }
          // The record is handed on in the next turn of the event loop.
          while (deliveries() === 0) {
            await turn();
          }
        } finally {
          signal.removeEventListener("abort", redeploy);
        }
      },
      async again() {
        const status = await post(`http://127.0.0.1:${webhook.port}`, { id, ...record }, 10_000);
        assert.equal(status, 204);
        await turn();
        await turn();
        assert.equal(deliveries(), 1, "posted again until it was answered, a record arrives exactly once");
      },
    };
  },
};
