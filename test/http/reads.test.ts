import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { Read } from "../../src/http/call.ts";
import { CommandQueues } from "../../src/http/command-queue.ts";
import type { Receiver, TimeLimit } from "../../src/http/exchange.ts";
import { delayMs, longestRetryAfterMs, readPolicy, readRetryAfterMs } from "../../src/http/retry.ts";
import { type RequestOptions, Transport, defaultQueueRules, readResponse } from "../../src/http/transport.ts";
import { failsWith } from "../support/failures.ts";
import { closesAfterEach } from "../support/opened.ts";
import { connectClients } from "../support/operations.ts";
import { type Answer, reply, replyJson, startServer } from "../support/servers.ts";

const status =
  (code: number, headers = {}): Answer =>
  (_, socket) =>
    reply(socket, { status: code, headers, body: "<html>nothing here" });

/** Notes within which limit each try is sent. */
class WatchedTransport extends Transport {
  readonly limits: TimeLimit[] = [];

  override sendRead(read: Read, receiver: Receiver, how: RequestOptions): Promise<void> {
    this.limits.push(how.limit);
    return super.sendRead(read, receiver, how);
  }
}

describe("a read is repeated where that can help, within its deadline", () => {
  const opened = closesAfterEach();

  it("a list of 10,000 is taken, one more is too large", async () => {
    let count = 10_000;
    const server = opened(
      await startServer((_, socket) =>
        replyJson(
          socket,
          Array.from({ length: count }, () => ({ contentId: "a", id: "a" })),
        ),
      ),
    );
    const clients = opened(connectClients({ newer: server, earlier: server, cloud: server }, 60_000));
    assert.equal((await clients.cloud.listMedia("1")).length, count);
    count++;
    for (const list of [clients.cloud.listMedia("1"), clients.cloud.devices(), clients.cloud.terminals()]) {
      await failsWith(list, { code: "ERR_TOO_LARGE", outcome: null });
    }
  });

  it("all tries have the same deadline", async () => {
    const server = opened(await startServer(status(503)));
    const peer = { surface: "cloud", origin: server.origin, host: server.origin.slice(7) } as const;
    const queues = new CommandQueues();
    const transport = opened(new WatchedTransport({ peer, timeoutMs: 60_000, queues, ...defaultQueueRules }));
    const read = {
      operation: "devices",
      acts: false,
      method: "GET",
      path: "/api/v1/devices",
      query: "",
    } as const;
    await failsWith(readResponse(transport, read), { code: "ERR_HTTP", outcome: null });
    const [first] = transport.limits;
    assert.equal(typeof (first?.kind === "deadline" ? first.since : undefined), "number");
    assert.deepEqual(
      transport.limits,
      Array.from({ length: readPolicy.tries }, () => first),
    );
  });

  for (const hours of [-1, 1, 24 * 366]) {
    it(`a cloud whose clock is ${hours} h ahead is asked again when its own clock says so`, async () => {
      const at = (ms: number): string => new Date(Date.now() + hours * 3_600_000 + ms).toUTCString();
      const answer: Answer = (_, socket) =>
        reply(socket, { status: 503, headers: { date: at(0), "retry-after": at(2_000) }, body: "busy" });
      const server = opened(await startServer(answer));
      const clients = opened(connectClients({ newer: server, earlier: server, cloud: server }, 10_000));
      const begun = performance.now();
      await failsWith(clients.cloud.devices(), { code: "ERR_HTTP" });
      const seconds = (performance.now() - begun) / 1_000;
      assert.ok(seconds >= 3.9 && seconds < 9, `${seconds} s for two waits of 2 s`);
    });
  }

  it("a signal ends it while it waits for the next try", async () => {
    const abort = new AbortController();
    const server = opened(await startServer(status(503, { "retry-after": "5" })));
    const clients = opened(connectClients({ newer: server, earlier: server, cloud: server }, 30_000));
    const answered = server.next();
    const ended = failsWith(clients.cloud.devices({ signal: abort.signal }), { code: "ERR_CANCELLED" });
    await answered;
    await sleep(20);
    abort.abort();
    await ended;
    assert.equal(server.requests.length, 1);
  });
});

describe("Retry-After", () => {
  const now = Date.UTC(2026, 0, 1);
  const date = (ms: number): string => new Date(now + ms).toUTCString();
  const table: [string | string[] | undefined, number | undefined][] = [
    [undefined, undefined],
    ["", undefined],
    ["0", 0],
    ["7", 7000],
    [" 7 ", 7000],
    ["7.5", undefined],
    ["-5", undefined],
    ["+5", undefined],
    ["1e3", undefined],
    ["0x10", undefined],
    ["99999999999999999999999", longestRetryAfterMs],
    ["9".repeat(400), longestRetryAfterMs],
    [date(9000), 9000],
    [date(-9000), 0],
    [date(86_400_000), longestRetryAfterMs],
    ["Thursday, 01-Jan-26 00:00:05 GMT", 5000],
    ["Thu, 99 Jan 2026 00:00:05 GMT", undefined],
    ["2026-01-01T00:00:05Z", undefined],
    ["soon", undefined],
    [["1", "2"], undefined],
  ];
  for (const [field, ms] of table) {
    it(`${JSON.stringify(field)?.slice(0, 40)} is ${ms}`, () =>
      assert.equal(readRetryAfterMs(field, now), ms));
  }

  it("makes the wait longer, never shorter, and the wait grows to a limit", () => {
    for (const [failures, shortest, longest] of [
      [1, 100, 200],
      [2, 200, 400],
      [9, 2500, 5000],
    ] as const) {
      const waits = Array.from({ length: 200 }, () => delayMs(readPolicy, failures));
      assert.ok(Math.min(...waits) >= shortest && Math.max(...waits) <= longest);
      assert.ok(new Set(waits).size > 100, "with jitter");
    }
    assert.equal(delayMs(readPolicy, 1, 9000), 9000);
  });
});
