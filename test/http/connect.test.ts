import assert from "node:assert/strict";
import { DeviceClient } from "../../src/device/client.ts";
import type { SentenceKey } from "../../src/sentences.ts";
import { failsWith } from "../support/failures.ts";
import { startFullBacklog } from "../support/full-backlog.ts";
import { closesAfterEach } from "../support/opened.ts";
import { commands, connectClients, reads } from "../support/operations.ts";
import { freePort } from "../support/servers.ts";

const notSent = { code: "ERR_UNREACHABLE", outcome: "not-sent" } as const;

let patient: Promise<{ readonly message: string; readonly took: number }>;

/** Begun before all other tests, since it does nothing but wait. */
before(() => {
  patient = waitLongest();
});

async function waitLongest(): Promise<{ message: string; took: number }> {
  const full = await startFullBacklog();
  const device = new DeviceClient({ address: `127.0.0.1:${full.port}`, timeoutMs: 600_000 });
  const since = performance.now();
  try {
    const { message } = await failsWith(device.ping(), { code: "ERR_UNREACHABLE" });
    return { message, took: performance.now() - since };
  } finally {
    await device.close();
    await full.close();
  }
}

describe("no connection", function () {
  this.timeout(20_000);
  const opened = closesAfterEach();

  it("nothing listens: told at once, commands as not sent", async () => {
    const nowhere = { origin: `http://127.0.0.1:${await freePort()}` };
    const clients = opened(connectClients({ newer: nowhere, earlier: nowhere, cloud: nowhere }, 30_000));
    const since = performance.now();
    await Promise.all([
      ...commands.map((one) => failsWith(one.run(clients), { ...notSent, retryable: true })),
      ...reads.map((one) => failsWith(one.run(clients), { ...notSent, outcome: null, retryable: true })),
    ]);
    assert.ok(performance.now() - since < 1000);
  });

  it("nothing listens under either address of a name", async () => {
    const device = opened(new DeviceClient({ address: `localhost:${await freePort()}` }));
    const error = await failsWith(device.measure(), notSent);
    assert.equal(error.sentence, "unreachableRefused" satisfies SentenceKey);
  });

  it("no such host", async () => {
    const device = opened(new DeviceClient({ address: "dock.invalid", timeoutMs: 8000 }));
    const error = await failsWith(device.measure(), notSent);
    // Without any name server the answer can also be silence.
    assert.match(error.message, /^No connection to dock\.invalid/);
  });

  it("a connection that is never made: within the deadline or 10 s", async () => {
    const full = opened(await startFullBacklog());
    const nobody = { origin: `http://127.0.0.1:${full.port}` };
    const clients = opened(connectClients({ newer: nobody, earlier: nobody, cloud: nobody }, 300));
    const since = performance.now();
    const silent: SentenceKey = "unreachableSilent";
    await Promise.all([
      ...commands.map(async (one) => {
        const error = await failsWith(one.run(clients), { ...notSent, retryable: true });
        assert.equal(error.sentence, silent);
        assert.match(error.message, /within 0\.3 s/);
      }),
      ...reads.map((one) => failsWith(one.run(clients), { ...notSent, outcome: null, retryable: true })),
    ]);
    // Both devices' and the cloud's commands come one after another: five to the newer device's one queue.
    const took = performance.now() - since;
    assert.ok(took > 290 && took < 3500, `${took} ms`);
  });

  it("10 s are enough for a connection, however long an answer may take", async () => {
    const { message, took } = await patient;
    assert.match(message, /within 10 s/);
    assert.ok(took > 9_900 && took < 12_000, `${took} ms`);
  });
});
