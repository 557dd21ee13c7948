import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { createServer as createHttpServer } from "node:http";
import { Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { Pool, buildConnector } from "undici";
import { DeviceClient } from "../../src/device/client.ts";
import { failsWith } from "../support/failures.ts";
import { closesAfterEach } from "../support/opened.ts";
import { commands, connectClients } from "../support/operations.ts";
import { closedPort, listen, replyBytes, startServer } from "../support/servers.ts";

const root = join(import.meta.dirname, "..", "..");

describe("undici", () => {
  it("is loaded with the first connection, and not with the package", () => {
    const client = JSON.stringify(pathToFileURL(join(root, "src", "device", "client.ts")).href);
    const script = `
      import { createRequire } from "node:module";
      const { cache } = createRequire(${client});
      const isThere = () => Object.keys(cache).some((path) => /[\\\\/]undici[\\\\/]/.test(path));
      const { DeviceClient } = await import(${client});
      const device = new DeviceClient({ address: "127.0.0.1:1", timeoutMs: 60_000 });
      const before = isThere();
      await device.ping().catch(() => undefined);
      await device.close();
      console.log(before, isThere());
    `;
    const args = [...process.execArgv, "--input-type=module", "--eval", script];
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });
    assert.equal(stdout.trim(), "false true", stderr);
  });
});

describe("undici as it is installed", () => {
  const opened = closesAfterEach();

  /** The calls of a handler during one GET, in order. */
  async function hear(origin: string, onData: (chunk: Buffer) => void = () => undefined): Promise<string[]> {
    const pool = opened(new Pool(origin));
    const heard: string[] = [];
    await new Promise<void>((resolve) => {
      pool.dispatch(
        { path: "/", method: "GET" },
        {
          onRequestStart: () => void heard.push("start"),
          onResponseStart: (_, status) => void heard.push(String(status)),
          onResponseData: (_, chunk) => onData(chunk),
          onResponseEnd: () => resolve(void heard.push("end")),
          onResponseError: (_, error) => resolve(void heard.push(`${error.name}: ${error.message}`)),
        },
      );
    });
    return heard;
  }

  it("still ends a connection on 100 Continue", async () => {
    const server = opened(
      await startServer((_, socket) =>
        socket.write(
          Buffer.concat([Buffer.from("HTTP/1.1 100 Continue\r\n\r\n"), replyBytes({ body: "x" })]),
        ),
      ),
    );
    const heard = await hear(server.origin);
    assert.match(
      heard.join(),
      /bad response/,
      "undici passes over 100 Continue now: src/http/connections.ts and its call can go.",
    );
  });

  it("says that a request begins only when it is about to be written", async () => {
    const message = "The line between not-sent and unknown (src/http/exchange.ts) is drawn by this order.";
    const heard = await hear(`http://127.0.0.1:${closedPort}`);
    assert.ok(!heard.includes("start"), message);
    const server = opened(await startServer((_, socket) => socket.write(replyBytes({ body: "x" }))));
    assert.deepEqual(await hear(server.origin), ["start", "200", "end"], message);
    const silent = opened(await startServer((_, socket) => socket.destroy()));
    assert.equal((await hear(silent.origin))[0], "start", message);
  });

  it("names the errors of its parser as src/http/failures.ts tells them from lost connections", async () => {
    const kinds = {
      "SSH-2.0-x\r\n": /^HTTPParserError: (?!.*EOF)/,
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab":
        /^(?:HTTPParserError: .*EOF|SocketError: )/,
      "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nConnection: close\r\n\r\nab":
        /^(?:ResponseContentLengthMismatchError|HTTPParserError: .*EOF|SocketError: )/,
    };
    for (const [bytes, kind] of Object.entries(kinds)) {
      const server = opened(await startServer((_, socket) => socket.end(bytes)));
      assert.match((await hear(server.origin)).at(-1) ?? "", kind, "wireFailure() has to be looked at anew.");
    }
  });

  it("hands over memory that nobody writes to again", async () => {
    const body = Buffer.from(Uint32Array.from({ length: 5_000_000 }, (_, index) => index).buffer);
    const server = createHttpServer((_, response) => response.end(body));
    const port = await listen(server);
    opened({ close: () => new Promise((resolve) => server.close(resolve)) });
    const chunks: Buffer[] = [];
    const copies: Buffer[] = [];
    await hear(`http://127.0.0.1:${port}`, (chunk) => {
      chunks.push(chunk);
      copies.push(Buffer.from(chunk));
    });
    assert.ok(
      chunks.length > 10 && chunks.every((chunk, index) => chunk.equals(copies[index] ?? chunk)),
      "A chunk has changed after it was handed over: what is hashed would not be what is written. Copy chunks at once.",
    );
  });

  it("returns the socket that it is connecting, which its types do not promise", async () => {
    const server = opened(await startServer(() => undefined));
    const { hostname, port } = new URL(server.origin);
    const to = { hostname, port, protocol: "http:" };
    const [begun, socket] = await new Promise<[unknown, unknown]>((resolve) => {
      const returned: unknown = buildConnector({ allowH2: false })(to, (_, connected) =>
        resolve([returned, connected]),
      );
    });
    assert.ok(socket instanceof Socket);
    assert.equal(
      begun,
      socket,
      "A close does not end connections that are being established any more (watched() in src/http/connections.ts).",
    );
    socket.destroy();
  });

  it("makes one attempt to connect for a refused command", async () => {
    let attempts = 0;
    const count = (message: unknown): void => {
      const { port: to } = (message as { connectParams: { port: string } }).connectParams;
      attempts += Number(to === String(closedPort));
    };
    subscribe("undici:client:beforeConnect", count);
    try {
      const peer = { origin: `http://127.0.0.1:${closedPort}` };
      const clients = opened(connectClients({ newer: peer, earlier: peer, cloud: peer }, 60_000));
      for (const command of commands) {
        attempts = 0;
        await failsWith(command.run(clients), { code: "ERR_UNREACHABLE", outcome: "not-sent" });
        await sleep(5);
        assert.equal(attempts, 1, command.operation);
      }
    } finally {
      unsubscribe("undici:client:beforeConnect", count);
    }
  });
});

describe("a device that resets its idle connections", () => {
  const opened = closesAfterEach();

  /** Resets each connection some milliseconds after a response, so that the next command may meet the reset. */
  async function measureAfterResets(
    resetAfterMs: number,
    pauseMs: number,
    rounds: number,
  ): Promise<string[]> {
    const timers = new Set<NodeJS.Timeout>();
    const server = opened(
      await startServer((_, socket: Socket) => {
        socket.write(replyBytes({ body: '{"errorCode":0,"measuredObjects":[]}' }));
        timers.add(setTimeout(() => socket.resetAndDestroy(), resetAfterMs));
      }),
    );
    const device = opened(new DeviceClient({ address: server.origin, timeoutMs: 60_000 }));
    const outcomes: string[] = [];
    for (let round = 0; round < rounds; round++) {
      const before = server.requests.length;
      outcomes.push(
        await device.measure().then(
          () => "measured",
          ({ details }: { details: { outcome: string } }) => details.outcome,
        ),
      );
      assert.ok(server.requests.length - before <= 1, "sent twice");
      await sleep(pauseMs);
    }
    timers.forEach(clearTimeout);
    return outcomes;
  }

  it("is commanded on a new connection, once, where nothing had been written to the dead one", async () => {
    const all: string[] = [];
    for (const [resetAfterMs, pauseMs] of [
      [1, 1],
      [2, 2],
      [3, 3],
      [3, 2],
    ] as const) {
      const outcomes = await measureAfterResets(resetAfterMs, pauseMs, 100);
      assert.ok(!outcomes.includes("not-sent"), "a command that was not sent could have been sent");
      all.push(...outcomes);
    }
    assert.ok(all.includes("measured"), "nothing was measured");
  });
});
