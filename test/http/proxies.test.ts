import assert from "node:assert/strict";
import { once } from "node:events";
import { type Socket, connect, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { CloudClient, type CloudClientOptions } from "../../src/cloud/client.ts";
import { DeviceClient } from "../../src/device/client.ts";
import type { ErrorDetails, Outcome } from "../../src/errors/dimensioner-error.ts";
import type { SentenceKey } from "../../src/errors/sentences.ts";
import { file } from "../support/downloads.ts";
import { failsWith } from "../support/failures.ts";
import { closesAfterEach } from "../support/opened.ts";
import { deviceCode, token } from "../support/operations.ts";
import { readBody } from "../support/read-body.ts";
import { type RawServer, closedPort, listen, reply, replyJson, startServer } from "../support/servers.ts";
import { identity, pem } from "../support/tls.ts";

const notSent = { code: "ERR_UNREACHABLE", outcome: "not-sent" } as const;

/** A proxy that responds to CONNECT, and records what clients sent to it and through its tunnels. */
interface Proxy {
  readonly port: number;
  readonly heads: readonly string[];
  /** The bytes that clients sent through the tunnels. */
  seen(): string;
  readonly sockets: ReadonlySet<Socket>;
  close(): Promise<void>;
}

type OnConnect = (socket: Socket, target: string) => "tunnel" | "done";

async function startProxy(onConnect: OnConnect = () => "tunnel"): Promise<Proxy> {
  const heads: string[] = [];
  const sockets = new Set<Socket>();
  const seen: Buffer[] = [];
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    socket.once("data", (chunk) => {
      const head = chunk.toString("latin1");
      heads.push(head);
      const target = head.split(" ")[1] ?? "";
      if (onConnect(socket, target) === "done") {
        return;
      }
      const peer = connect(Number(target.split(":")[1]), "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 Connected\r\n\r\n");
        socket.on("data", (bytes) => {
          seen.push(bytes);
          peer.write(bytes);
        });
        peer.pipe(socket);
      });
      peer.on("error", () => socket.destroy());
      peer.on("close", () => socket.destroy());
      socket.on("close", () => peer.destroy());
    });
  });
  const port = await listen(server);
  return {
    port,
    heads,
    sockets,
    seen: () => Buffer.concat(seen).toString("latin1"),
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      sockets.forEach((socket) => socket.destroy());
      await closed;
    },
  };
}

describe("proxies", () => {
  const opened = closesAfterEach();
  const ca = pem("authority.crt");
  const login = "user:pa%24s";
  const saved = new Map<string, string | undefined>();
  const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];

  beforeEach(() => names.forEach((name) => saved.set(name, process.env[name])));
  afterEach(() => {
    for (const [name, value] of saved) {
      if (value === undefined) {
        delete process.env[name];
      } else {
        process.env[name] = value;
      }
    }
  });

  const serve = async (): Promise<RawServer> =>
    opened(await startServer((_, socket) => replyJson(socket, []), { tls: identity("good") }));
  const through = (server: RawServer, proxy: Proxy, options: Partial<CloudClientOptions> = {}): CloudClient =>
    opened(
      new CloudClient({
        baseUrl: server.origin,
        token,
        tls: { ca },
        proxyUrl: `http://${login}@127.0.0.1:${proxy.port}`,
        timeoutMs: 60_000,
        ...options,
      }),
    );

  it("of the environment are not used by any client", async () => {
    const proxy = opened(await startProxy());
    names.forEach((name) => (process.env[name] = `http://127.0.0.1:${proxy.port}`));
    const device = opened(
      await startServer((request, socket) =>
        replyJson(socket, request.target.includes("measure") ? { errorCode: 0 } : { msg: "ping" }),
      ),
    );
    const cloud = await serve();
    for (const generation of ["newer", "earlier"] as const) {
      const client = opened(new DeviceClient({ address: device.origin, generation }));
      await client.measure();
      await client.ping();
    }
    await through(cloud, proxy, { proxyUrl: undefined }).devices();
    assert.deepEqual([device.requests.length, cloud.requests.length, proxy.heads.length], [4, 1, 0]);
  });

  it("see host and port of the peer only, not the token", async () => {
    const proxy = opened(await startProxy());
    const server = await serve();
    assert.deepEqual(await through(server, proxy).devices(), []);
    assert.equal(server.requests[0]?.headers["authorization"], `Bearer ${token}`);
    assert.equal(server.requests[0]?.headers["proxy-authorization"], undefined);
    assert.equal(proxy.heads.length, 1);
    assert.ok(proxy.heads[0]?.startsWith(`CONNECT 127.0.0.1:${server.port} HTTP/1.1\r\n`));
    assert.match(proxy.heads[0] ?? "", /proxy-authorization: Basic dXNlcjpwYSRz\r\n/i);
    assert.ok(!(proxy.heads[0] + proxy.seen()).includes(token));
  });

  it("are used for downloads and commands too", async () => {
    const proxy = opened(await startProxy());
    const server = opened(
      await startServer((_, socket) => reply(socket, { body: file }), { tls: identity("good") }),
    );
    const cloud = through(server, proxy);
    const content = await readBody(cloud.media("1", "2"));
    await cloud.stopVideo(deviceCode);
    assert.ok(content.equals(file));
    assert.deepEqual([server.requests.length, proxy.heads.length], [2, 2]);
  });

  it("are asked for a tunnel to plain HTTP as well", async () => {
    const proxy = opened(await startProxy());
    const server = opened(await startServer((_, socket) => replyJson(socket, [])));
    await through(server, proxy).devices();
    assert.ok(proxy.heads[0]?.startsWith("CONNECT "));
  });

  const failing: [string, OnConnect, RegExp][] = [
    [
      "answers 407",
      (socket) => (socket.end("HTTP/1.1 407 Login\r\ncontent-length: 0\r\n\r\n"), "done"),
      /407/,
    ],
    ["answers 403", (socket) => (socket.end("HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n"), "done"), /403/],
    ["answers 502", (socket) => (socket.end("HTTP/1.1 502 No\r\ncontent-length: 0\r\n\r\n"), "done"), /502/],
    ["hangs up", (socket) => (socket.end(), "done"), /The proxy does not connect/],
    ["resets", (socket) => (socket.resetAndDestroy(), "done"), /proxy/],
    ["does not speak HTTP", (socket) => (socket.end("SSH-2.0-x\r\n"), "done"), /proxy/],
  ];
  for (const [name, onConnect, words] of failing) {
    it(`one that ${name}: nothing is sent, and it is asked once`, async () => {
      const proxy = opened(await startProxy(onConnect));
      const server = await serve();
      const cloud = through(server, proxy);
      const expected: { code: "ERR_UNREACHABLE"; surface: ErrorDetails["surface"] } = {
        code: "ERR_UNREACHABLE",
        surface: "cloud",
      };
      const error = await failsWith(cloud.measure(deviceCode, "x"), { ...expected, outcome: "not-sent" });
      assert.match(error.message, words);
      assert.ok(!JSON.stringify(error).includes("pa$s") && !error.message.includes("user:"));
      assert.equal(error.sentence, "unreachableProxy" satisfies SentenceKey);
      assert.equal(proxy.heads.length, 1);
      await failsWith(cloud.devices(), { ...expected, outcome: null });
      assert.equal(server.connections, 0);
      assert.equal(proxy.heads.length, 2);
    });
  }

  it("that are not reachable are named in the error", async () => {
    const server = await serve();
    const proxyUrl = `http://${login}@127.0.0.1:${closedPort}`;
    const cloud = opened(new CloudClient({ baseUrl: server.origin, token, tls: { ca }, proxyUrl }));
    const error = await failsWith(cloud.measure(deviceCode, "x"), notSent);
    assert.equal(error.sentence, "unreachableProxy" satisfies SentenceKey);
  });

  it("that never respond end in an error that names them", async () => {
    const proxy = opened(await startProxy(() => "done"));
    const server = await serve();
    const cloud = through(server, proxy, { timeoutMs: 200 });
    await failsWith(cloud.measure(deviceCode, "x"), notSent);
    await cloud.close();
    await new Promise<void>((resolve) => {
      const look = (): void => (proxy.sockets.size === 0 ? resolve() : void setTimeout(look, 10));
      look();
    });
  });

  it("that never respond keep no connection after the error, of any number of reads", async () => {
    const proxy = opened(await startProxy(() => "done"));
    const server = await serve();
    const cloud = through(server, proxy, { timeoutMs: 1_000 });
    const reads = Array.from({ length: 20 }, () => failsWith(cloud.devices(), { code: "ERR_UNREACHABLE" }));
    await Promise.all(reads);
    const closed = [...proxy.sockets].map((socket) => once(socket, "close"));
    // undici looks at its timers each half second.
    const signal = AbortSignal.timeout(3_000);
    await Promise.race([Promise.all(closed), once(signal, "abort")]);
    assert.equal(proxy.sockets.size, 0);
  });

  it("lose all connections when the client is closed, also those that wait for a tunnel", async () => {
    const silent = opened(await startServer(() => undefined, { tls: identity("good") }));
    const silentProxy = opened(await startProxy(() => "done"));
    const tunnel = through(silent, opened(await startProxy()));
    const noTunnel = through(silent, silentProxy);
    const cancelled = (outcome: Outcome | null) => ({ code: "ERR_CANCELLED", outcome }) as const;
    const running = [
      failsWith(noTunnel.measure(deviceCode, "x"), cancelled("not-sent")),
      failsWith(tunnel.measure(deviceCode, "x"), cancelled("unknown")),
      failsWith(readBody(tunnel.media("1", "2")), cancelled(null)),
    ];
    while (silent.requests.length < 2 || silentProxy.heads.length < 1) {
      await sleep(5);
    }
    await Promise.all([tunnel.close(), noTunnel.close()]);
    await Promise.all(running);
    await silent.allClosed();
  });

  it("are not blamed for a peer's certificate that is not trusted", async () => {
    const proxy = opened(await startProxy());
    const server = await serve();
    const error = await failsWith(
      through(server, proxy, { tls: undefined }).measure(deviceCode, "x"),
      notSent,
    );
    assert.equal(error.sentence, "unreachableTls" satisfies SentenceKey);
    assert.equal(server.requests.length, 0);
  });
});
