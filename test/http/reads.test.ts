import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { delayMs, readPolicy } from "../../src/http/repeat.ts";
import { longestRetryAfterMs, readRetryAfterMs } from "../../src/http/retry-after.ts";
import { failsWith, type ExpectedFailure } from "../support/failures.ts";
import { manyAtOnce, closesAfterEach, type Opened } from "../support/opened.ts";
import { connectClients, reads, surfaceNames } from "../support/operations.ts";
import { reply, replyBytes, replyJson, resetAfter, startServer, type Answer } from "../support/servers.ts";

interface Case {
  /** How the first requests are answered; the last of them also all further ones. */
  readonly answers: readonly (Answer | "well")[];
  /** Left out: the read succeeds. */
  readonly ends?: ExpectedFailure;
  readonly requests: number;
  readonly timeoutMs?: number;
  /** Shortest and longest duration. */
  readonly takesMs?: readonly [number, number];
}

const lost = { code: "ERR_CONNECTION_LOST", retryable: true } as const;
const bad = { code: "ERR_BAD_RESPONSE", retryable: false } as const;
const huge = { code: "ERR_TOO_LARGE", retryable: false } as const;
const fin: Answer = (_, socket) => socket.end();
const reset: Answer = (_, socket) => socket.resetAndDestroy();
const silence: Answer = () => undefined;
const status =
  (code: number, headers = {}): Answer =>
  (_, socket) =>
    reply(socket, { status: code, headers, body: "<html>nothing here" });
const body =
  (text: string | Uint8Array, headers = {}): Answer =>
  (_, socket) =>
    reply(socket, { body: text, headers });
const http = (statusCode: number, retryable = false): ExpectedFailure =>
  ({ code: "ERR_HTTP", statusCode, retryable }) as const;

const cases: Readonly<Record<string, Case>> = {
  "reset, then well": { answers: [reset, "well"], requests: 2 },
  "closed twice, then well": { answers: [fin, fin, "well"], requests: 3 },
  "closed for ever": { answers: [fin], ends: lost, requests: 3 },
  "reset for ever": { answers: [reset], ends: lost, requests: 3 },
  "cut, then well": {
    answers: [(_, socket) => socket.end(replyBytes({ body: "[1,2]" }).subarray(0, -2)), "well"],
    requests: 2,
  },
  "reset in the body, then well": {
    answers: [(_, socket) => resetAfter(socket, replyBytes({ body: "[1,2]" }).subarray(0, -2)), "well"],
    requests: 2,
  },
  ...Object.fromEntries(
    [408, 429, 500, 502, 503, 504].flatMap((code): [string, Case][] => [
      [`${code}, then well`, { answers: [status(code), "well"], requests: 2 }],
      [`${code} for ever`, { answers: [status(code)], ends: http(code, true), requests: 3 }],
    ]),
  ),
  ...Object.fromEntries(
    [300, 301, 302, 303, 304, 307, 308, 400, 403, 405, 409, 410, 418, 451].map((code): [string, Case] => [
      `${code}`,
      {
        answers: [status(code, { location: "http://127.0.0.1:9/elsewhere" }), "well"],
        ends: http(code),
        requests: 1,
      },
    ]),
  ),
  "404": { answers: [status(404)], ends: { code: "ERR_NOT_FOUND", statusCode: 404 }, requests: 1 },
  silence: {
    answers: [silence],
    ends: { code: "ERR_TIMEOUT", retryable: true },
    requests: 1,
    timeoutMs: 300,
    takesMs: [290, 1500],
  },
  "a head, then silence": {
    answers: [(_, socket) => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")],
    ends: { code: "ERR_TIMEOUT" },
    requests: 1,
    timeoutMs: 300,
  },
  "a drip": {
    answers: [
      async (_, socket) => {
        socket.write("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n");
        while (socket.writable) {
          socket.write(" ");
          await sleep(20);
        }
      },
    ],
    ends: { code: "ERR_TIMEOUT" },
    requests: 1,
    timeoutMs: 300,
  },
  "provisional answers without end": {
    answers: [
      async (_, socket) => {
        while (socket.writable) {
          socket.write("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n");
          await sleep(20);
        }
      },
    ],
    ends: { code: "ERR_TIMEOUT" },
    requests: 1,
    timeoutMs: 300,
  },
  "a provisional answer, then well": {
    answers: [
      (_, socket) => {
        socket.write("HTTP/1.1 103 Early Hints\r\n\r\n");
        fin(_, socket);
      },
      "well",
    ],
    requests: 2,
  },
  "not HTTP": { answers: [(_, socket) => socket.end("220 ftp ready\r\n")], ends: bad, requests: 1 },
  "a web page": { answers: [body("<html>", { "content-type": "text/html" })], ends: bad, requests: 1 },
  "invalid JSON": { answers: [body("{]")], ends: bad, requests: 1 },
  "truncated JSON": { answers: [body('[{"id":')], ends: bad, requests: 1 },
  "an empty body": { answers: [body("")], ends: bad, requests: 1 },
  "204": { answers: [(_, socket) => reply(socket, { status: 204 })], ends: bad, requests: 1 },
  "206": { answers: [status(206)], ends: bad, requests: 1 },
  "a string": { answers: [body('"[]"')], ends: bad, requests: 1 },
  "a number": { answers: [body("17")], ends: bad, requests: 1 },
  null: { answers: [body("null")], ends: bad, requests: 1 },
  "6 MB announced": {
    answers: [body("", { "content-length": 6 * 1024 * 1024 })],
    ends: huge,
    requests: 1,
  },
  "6 MB in chunks": {
    answers: [(_, socket) => reply(socket, { body: Buffer.alloc(6 * 1024 * 1024, " "), framing: "chunked" })],
    ends: huge,
    requests: 1,
  },
  "Retry-After 0": {
    answers: [status(503, { "retry-after": "0" }), "well"],
    requests: 2,
    takesMs: [100, 1500],
  },
  "Retry-After 1": {
    answers: [status(503, { "retry-after": "1" }), "well"],
    requests: 2,
    takesMs: [990, 3000],
  },
  "Retry-After as a date": {
    answers: [
      (_, socket) => {
        const inTwoSeconds = new Date(Date.now() + 2000).toUTCString();
        reply(socket, { status: 429, headers: { "retry-after": inTwoSeconds } });
      },
      "well",
    ],
    requests: 2,
    takesMs: [990, 4000],
  },
  "Retry-After in the past": {
    answers: [status(503, { "retry-after": "Sun, 06 Nov 1994 08:49:37 GMT" }), "well"],
    requests: 2,
    takesMs: [100, 1500],
  },
  "Retry-After of rubbish": {
    answers: [status(503, { "retry-after": "soon" }), "well"],
    requests: 2,
    takesMs: [100, 1500],
  },
  "Retry-After below 0": {
    answers: [status(503, { "retry-after": "-5" }), "well"],
    requests: 2,
    takesMs: [100, 1500],
  },
  "Retry-After beyond the deadline": {
    answers: [status(503, { "retry-after": "99999999999999999999" }), "well"],
    ends: http(503, true),
    requests: 1,
    timeoutMs: 3000,
    takesMs: [0, 1500],
  },
};

describe("a read is repeated where that can help, within its deadline", function () {
  this.timeout(20_000);

  const run = async (
    { answers, ends, requests, timeoutMs = 10_000, takesMs }: Case,
    opened: Opened,
  ): Promise<void> => {
    await Promise.all(
      reads.map(async (read) => {
        const server = opened(
          await startServer((request, socket) => {
            const answer = answers[Math.min(request.index, answers.length - 1)] ?? "well";
            if (answer === "well") {
              replyJson(socket, read.answer);
            } else {
              answer(request, socket);
            }
          }),
        );
        const clients = opened(connectClients({ newer: server, earlier: server, cloud: server }, timeoutMs));
        const since = performance.now();
        if (ends === undefined) {
          await read.run(clients);
        } else {
          await failsWith(read.run(clients), {
            surface: surfaceNames[read.surface],
            operation: read.operation,
            outcome: null,
            url: server.origin + read.path,
            ...ends,
          });
        }
        const took = performance.now() - since;
        assert.equal(server.requests.length, requests, read.operation);
        const [shortest, longest] = takesMs ?? [0, timeoutMs + 1000];
        assert.ok(took >= shortest && took < longest, `${read.operation} took ${took} ms`);
      }),
    );
  };

  describe("with every answer", () => manyAtOnce(cases, run));

  const opened = closesAfterEach();

  it("401 of the cloud is a matter of the token, on a device any other status", async () => {
    const server = opened(await startServer(status(401)));
    const clients = opened(connectClients({ newer: server, earlier: server, cloud: server }, 5000));
    for (const read of reads) {
      const code = read.surface === "cloud" ? "ERR_UNAUTHORIZED" : "ERR_HTTP";
      await failsWith(read.run(clients), { code, statusCode: 401, retryable: false });
    }
    assert.equal(server.requests.length, reads.length);
  });

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
    const clients = opened(connectClients({ newer: server, earlier: server, cloud: server }, 5000));
    assert.equal((await clients.cloud.listMedia("1")).length, count);
    count++;
    for (const list of [clients.cloud.listMedia("1"), clients.cloud.devices(), clients.cloud.terminals()]) {
      await failsWith(list, { code: "ERR_TOO_LARGE", outcome: null });
    }
  });

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
