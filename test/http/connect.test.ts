import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { DeviceClient } from "../../src/device/client.ts";
import type { SentenceKey } from "../../src/errors/sentences.ts";
import { isInContainer } from "../../src/http/failures.ts";
import { failsWith } from "../support/failures.ts";
import { startFullBacklog } from "../support/full-backlog.ts";
import { closesAfterEach } from "../support/opened.ts";
import { closedPort } from "../support/servers.ts";

const notSent = { code: "ERR_UNREACHABLE", outcome: "not-sent" } as const;

type FullBacklog = Awaited<ReturnType<typeof startFullBacklog>>;

let patient: Promise<{ readonly message: string; readonly took: number }>;

/** Started before all other tests, because it only waits. */
before(async () => {
  // Other tests count open resources, so this one must have ended before.
  patient = waitLongest(await startFullBacklog());
  await turn();
});

async function waitLongest(full: FullBacklog): Promise<{ message: string; took: number }> {
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

describe("no connection", () => {
  const opened = closesAfterEach();

  it("is ERR_UNREACHABLE if nothing listens at either address of a name", async () => {
    const device = opened(new DeviceClient({ address: `localhost:${closedPort}` }));
    const error = await failsWith(device.measure(), notSent);
    const expected: SentenceKey = isInContainer() ? "unreachableContainer" : "unreachableRefused";
    assert.equal(error.sentence, expected);
  });

  it("ends after 10 s, however long a response may take", async () => {
    const { message, took } = await patient;
    assert.match(message, /within 10 s/);
    assert.ok(took > 9_900 && took < 100_000, `${took} ms`);
  });
});
