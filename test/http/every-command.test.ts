import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import type { ErrorCode, Outcome } from "../../src/errors.ts";
import { startSimulator, type Fault, type FaultRule, type Simulator } from "../../src/simulator/index.ts";
import { failsWith } from "../support/failures.ts";
import { closesAfterEach } from "../support/opened.ts";
import {
  commands,
  connectClients,
  deviceCode,
  surfaceNames,
  token,
  type Clients,
  type CommandOperation,
} from "../support/operations.ts";
import { startServer } from "../support/servers.ts";

interface Expected {
  readonly code: ErrorCode;
  readonly outcome: Outcome;
  readonly retryable?: boolean;
  readonly statusCode?: number;
}

interface Case {
  readonly fault: Fault;
  /** `well`: the command succeeds all the same. */
  readonly ends: Expected | "well" | ((command: CommandOperation) => Expected | "well");
  /** Requests that reach the HTTP server; 1. */
  readonly requests?: number;
  /** Whether the machine does what it is told; what the simulator's fault says where it is left out. */
  readonly acts?: boolean;
  readonly only?: "measure" | "video";
}

/** Short only where it is to pass, so that a busy machine fails no other case. */
const shortMs = 250;
const longMs = 5_000;
const lost = { code: "ERR_CONNECTION_LOST", outcome: "unknown" } as const;
const late = { code: "ERR_TIMEOUT", outcome: "unknown" } as const;
const bad = { code: "ERR_BAD_RESPONSE", outcome: "unknown" } as const;
const huge = { code: "ERR_TOO_LARGE", outcome: "unknown" } as const;
/** A video command promises no body, so that what there is may be anything but a web page. */
const badMeasure = ({ kind }: CommandOperation): Expected | "well" => (kind === "measure" ? bad : "well");

function status(statusCode: number, ends: (command: CommandOperation) => Omit<Expected, "statusCode">): Case {
  const fault: Fault = { kind: "status", status: statusCode, body: "{}" };
  return { fault, ends: (command) => ({ ...ends(command), statusCode }), acts: false };
}

const refused = (code: ErrorCode, retryable = false) => ({ code, outcome: "refused", retryable }) as const;
const unclear = (code: ErrorCode) => ({ code, outcome: "unknown" }) as const;

const cases: Readonly<Record<string, Case>> = {
  "reset after the act": { fault: { kind: "reset" }, ends: lost, acts: true },
  "reset before the act": { fault: { kind: "reset", acts: false }, ends: lost, acts: false },
  "closed after the act without an answer": { fault: { kind: "close" }, ends: lost, acts: true },
  "closed before the act without an answer": {
    fault: { kind: "close", acts: false },
    ends: lost,
    acts: false,
  },
  "silence after the act": { fault: { kind: "silence" }, ends: late, acts: true },
  "silence without an act": { fault: { kind: "silence", acts: false }, ends: late, acts: false },
  "a head, then silence": {
    fault: { kind: "headers-then-silence" },
    // An answer without a body is whole with its head.
    ends: ({ kind }) => (kind === "measure" ? late : "well"),
    acts: true,
  },
  "a head one byte at a time": { fault: { kind: "slow-headers", everyMs: 20 }, ends: late, acts: true },
  "a body one byte at a time": {
    fault: { kind: "drip", everyMs: 20 },
    ends: late,
    acts: true,
    only: "measure",
  },
  "an answer after the deadline": { fault: { kind: "delay", ms: 3 * shortMs }, ends: late, acts: true },
  "cut at byte 0": { fault: { kind: "cut", atByte: 0 }, ends: lost, acts: true, only: "measure" },
  "cut at byte 1": { fault: { kind: "cut", atByte: 1 }, ends: lost, acts: true, only: "measure" },
  "cut in the middle": { fault: { kind: "cut" }, ends: lost, acts: true, only: "measure" },
  "cut before the last byte": { fault: { kind: "cut", atByte: -1 }, ends: lost, acts: true, only: "measure" },
  "cut by a reset": { fault: { kind: "cut", end: "reset" }, ends: lost, acts: true, only: "measure" },
  "cut in the middle of chunks": {
    fault: { kind: "cut", framing: "chunked" },
    ends: lost,
    acts: true,
    only: "measure",
  },
  "neither length nor chunks, whole": { fault: { kind: "no-framing" }, ends: "well", acts: true },
  "neither length nor chunks, cut": {
    fault: { kind: "no-framing", atFraction: 0.5 },
    ends: badMeasure,
    acts: true,
  },
  "a length too long": { fault: { kind: "wrong-length", by: 5 }, ends: lost, acts: true },
  "a length too short": { fault: { kind: "wrong-length", by: -5 }, ends: bad, acts: true, only: "measure" },
  "not HTTP": { fault: { kind: "not-http", text: "SSH-2.0-OpenSSH_9.2\r\n" }, ends: bad, acts: false },
  "no bytes of HTTP": { fault: { kind: "not-http", base64: "AAECAwQF/w==" }, ends: bad, acts: false },
  "a web page instead": {
    fault: { kind: "body", text: "<!DOCTYPE html><p>Sign in", contentType: "text/html", acts: false },
    ends: bad,
    acts: false,
  },
  "a web page that calls itself JSON": {
    fault: { kind: "body", text: "\r\n <html><body>Sign in</body></html>", acts: false },
    ends: bad,
    acts: false,
  },
  "invalid JSON": { fault: { kind: "body", text: "{'errorCode':0}" }, ends: badMeasure },
  "truncated JSON": { fault: { kind: "body", text: '{"errorCode":0,"measuredObj' }, ends: badMeasure },
  "an empty body": { fault: { kind: "body", text: "" }, ends: badMeasure },
  null: { fault: { kind: "body", text: "null" }, ends: badMeasure },
  "an array": { fault: { kind: "body", text: "[]" }, ends: badMeasure },
  "a string": { fault: { kind: "body", text: '"ok"' }, ends: badMeasure },
  "an object of nothing": { fault: { kind: "body", text: "{}" }, ends: badMeasure },
  "invalid UTF-8": { fault: { kind: "body", base64: "eyJlcnJvckNvZGUiOjAsIngiOiL/In0=" }, ends: badMeasure },
  "204": {
    fault: { kind: "status", status: 204, acts: true },
    ends: badMeasure,
    acts: true,
  },
  "206": { fault: { kind: "status", status: 206, body: "{}", acts: true }, ends: bad, acts: true },
  "200 with a part": {
    fault: { kind: "headers", set: { "content-range": "bytes 0-99/100000" } },
    ends: bad,
    acts: true,
  },
  "an encoding that was not asked for": {
    fault: { kind: "headers", set: { "content-encoding": "gzip" } },
    ends: bad,
    acts: true,
  },
  "10 GB of JSON with a length": { fault: { kind: "body", jsonBytes: 10e9 }, ends: huge },
  "10 GB of JSON in chunks": { fault: { kind: "body", jsonBytes: 10e9, framing: "chunked" }, ends: huge },
  "10 GB of JSON without an end": {
    fault: { kind: "status", status: 200, bodyBytes: 10e9 },
    ends: huge,
    acts: false,
  },
  "500 with a web page of 2 MB": {
    fault: {
      kind: "status",
      status: 500,
      headers: { "content-type": "text/html" },
      body: "<html>",
      bodyBytes: 2e6,
      acts: true,
    },
    ends: { code: "ERR_HTTP", outcome: "unknown", statusCode: 500 },
    acts: true,
  },
  "400": status(400, ({ surface }) => refused(surface === "cloud" ? "ERR_BAD_DEVICE_REFERENCE" : "ERR_HTTP")),
  "401": status(401, ({ surface, kind }) => {
    const ofDevice = kind === "video" ? "ERR_WRONG_MODE" : "ERR_HTTP";
    return refused(surface === "cloud" ? "ERR_UNAUTHORIZED" : ofDevice);
  }),
  "403": status(403, ({ surface, kind }) =>
    refused(surface !== "cloud" && kind === "video" ? "ERR_WRONG_MODE" : "ERR_HTTP"),
  ),
  "404": status(404, () => refused("ERR_NOT_FOUND")),
  "408": status(408, () => unclear("ERR_HTTP")),
  "418": status(418, () => refused("ERR_HTTP")),
  "429": status(429, () => refused("ERR_HTTP", true)),
  "500": status(500, () => unclear("ERR_HTTP")),
  "502": status(502, () => unclear("ERR_HTTP")),
  "503": status(503, () => unclear("ERR_HTTP")),
  "504": status(504, ({ surface }) => unclear(surface === "cloud" ? "ERR_DEVICE_TIMEOUT" : "ERR_HTTP")),
  "nothing listens": {
    fault: { kind: "refuse" },
    ends: { code: "ERR_UNREACHABLE", outcome: "not-sent", retryable: true },
    requests: 0,
    acts: false,
  },
  // What was written into a connection that nobody reads may have been read.
  "a connection that nobody reads": {
    fault: { kind: "connect-silence" },
    ends: late,
    requests: 0,
    acts: false,
  },
};

/** A simulated world in which the command would do something. */
async function worldFor(command: CommandOperation): Promise<Simulator> {
  const mode = command.kind === "video" ? "video-only" : "video-with-measurement";
  const sim = await startSimulator({ mode, token, deviceCode });
  if (command.operation.endsWith("stop")) {
    await fetch(`${sim.newer.origin}/api/v1/video/start`, { method: "POST" });
  }
  return sim;
}

describe("every command goes out once, and its end is told as it is", () => {
  const opened = closesAfterEach();

  async function begin(
    command: CommandOperation,
    timeoutMs = longMs,
  ): Promise<{ sim: Simulator; clients: Clients }> {
    const sim = opened(await worldFor(command));
    return { sim, clients: opened(connectClients(sim, timeoutMs)) };
  }

  for (const [name, { fault, ends, requests = 1, acts, only }] of Object.entries(cases)) {
    it(name, () =>
      Promise.all(
        commands
          .filter(({ kind }) => only === undefined || kind === only)
          .map(async (command) => {
            const expected = typeof ends === "function" ? ends(command) : ends;
            const { sim, clients } = await begin(command, expected === late ? shortMs : longMs);
            const rule: FaultRule = { surface: command.surface, times: 0, fault };
            sim.faults.add(rule);
            const before = sim.requestsTo(command.surface, command.path).length;
            const running = command.run(clients);
            if (expected === "well") {
              await running;
            } else {
              await failsWith(running, {
                ...expected,
                surface: surfaceNames[command.surface],
                operation: command.operation,
                url: sim[command.surface].origin + command.path,
              });
            }
            const seen = sim.requestsTo(command.surface, command.path).length - before;
            assert.equal(seen, requests, `${command.operation}: requests`);
            const { acts: toldTo = true } = "acts" in fault ? fault : {};
            assert.equal(command.done(sim), (acts ?? toldTo) ? 1 : 0, `${command.operation}: acts`);
          }),
      ),
    );
  }

  for (const statusCode of [300, 301, 302, 303, 307, 308]) {
    it(`${statusCode} to another origin is not followed`, async () => {
      const elsewhere = opened(await startServer(() => undefined));
      await Promise.all(
        commands.map(async (command) => {
          const { sim, clients } = await begin(command);
          const headers = { location: `${elsewhere.origin}${command.path}` };
          sim.faults.add({ times: 0, fault: { kind: "status", status: statusCode, headers } });
          const before = sim.requests.length;
          await failsWith(command.run(clients), {
            code: "ERR_HTTP",
            outcome: "refused",
            retryable: false,
            statusCode,
          });
          assert.equal(sim.requests.length - before, 1);
        }),
      );
      assert.equal(elsewhere.connections, 0);
    });
  }

  for (const acts of [true, false]) {
    it(`a kept-alive connection that dies under the next command, ${acts ? "after" : "before"} the act`, () =>
      Promise.all(
        commands.map(async (command) => {
          const { sim, clients } = await begin(command);
          sim.faults.add({
            surface: command.surface,
            path: command.path,
            fault: { kind: "keep-alive-dies", acts },
          });
          await command.run(clients);
          // A turn later undici takes the connection for free.
          await turn();
          const before = sim.requestsTo(command.surface, command.path);
          await failsWith(command.run(clients), { code: "ERR_CONNECTION_LOST", outcome: "unknown" });
          const after = sim.requestsTo(command.surface, command.path);
          assert.equal(after.length, before.length + 1);
          assert.equal(after.at(-1)?.remotePort, before.at(-1)?.remotePort, "the same connection");
        }),
      ));
  }

  it("a connection that was closed after the last answer is not used again", () =>
    Promise.all(
      commands.map(async (command) => {
        const { sim, clients } = await begin(command);
        const fault: Fault = { kind: "keep-alive-dies", when: "after-answer" };
        sim.faults.add({ surface: command.surface, path: command.path, fault });
        await command.run(clients);
        await command.run(clients).catch(() => undefined);
        assert.equal(sim.requestsTo(command.surface, command.path).length, 2);
      }),
    ));

  it("aborted by a signal while it runs", () =>
    Promise.all(
      commands.map(async (command) => {
        const { sim, clients } = await begin(command);
        sim.faults.add({ times: 0, fault: { kind: "silence" } });
        const arrived = sim.nextRequest();
        const abort = new AbortController();
        const failed = failsWith(command.run(clients, { signal: abort.signal }), {
          code: "ERR_CANCELLED",
          outcome: "unknown",
        });
        await arrived;
        abort.abort();
        await failed;
        assert.equal(sim.requestsTo(command.surface, command.path).length, 1);
      }),
    ));

  it("aborted by a signal before it began", () =>
    Promise.all(
      commands.map(async (command) => {
        const { sim, clients } = await begin(command);
        await failsWith(command.run(clients, { signal: AbortSignal.abort() }), {
          code: "ERR_CANCELLED",
          outcome: "not-sent",
          retryable: true,
        });
        assert.equal(sim.requestsTo(command.surface, command.path).length, 0);
      }),
    ));

  it("a connection that is reset as soon as it is made", () =>
    Promise.all(
      commands.map(async (command) => {
        const { sim, clients } = await begin(command);
        sim.faults.add({ surface: command.surface, times: 0, fault: { kind: "connect-reset" } });
        const before = sim.requests.length;
        // Whether the request was written before the reset came is a matter of microseconds.
        await assert.rejects(command.run(clients), /connection to/i);
        assert.equal(sim.requests.length, before);
        assert.equal(command.done(sim), 0);
      }),
    ));
});
