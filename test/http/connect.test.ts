import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { CloudClient, type CloudClientOptions } from "../../src/cloud/client.ts";
import { DeviceClient } from "../../src/device/client.ts";
import type { ErrorCause } from "../../src/errors.ts";
import type { SentenceKey } from "../../src/sentences.ts";
import { failsWith, failureOf } from "../support/failures.ts";
import { startFullBacklog } from "../support/full-backlog.ts";
import { MemorySink } from "../support/memory-sink.ts";
import { closesAfterEach } from "../support/opened.ts";
import { commands, connectClients, deviceCode, reads, token } from "../support/operations.ts";
import { freePort, listen, replyJson, startServer, type RawServer } from "../support/servers.ts";

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

const pem = (name: string): string =>
  readFileSync(join(import.meta.dirname, "../fixtures/tls", name), "latin1");
const identity = (name: string): { key: string; cert: string } => ({
  key: pem(`${name}.key`),
  cert: pem(`${name}.crt`),
});

describe("TLS", () => {
  const opened = closesAfterEach();
  const ca = pem("authority.crt");

  const cloudAt = (baseUrl: string, options: Partial<CloudClientOptions> = {}): CloudClient =>
    opened(new CloudClient({ baseUrl, token, timeoutMs: 5000, ...options }));

  const untrusted: [string, string, Partial<CloudClientOptions>][] = [
    ["an unknown authority", "good", {}],
    ["a self-signed certificate", "self-signed", {}],
    ["another host's certificate", "wrong-host", { tls: { ca } }],
    ["an expired certificate", "expired", { tls: { ca } }],
    ["another authority than the one that is trusted", "self-signed", { tls: { ca } }],
  ];
  for (const [name, certificate, options] of untrusted) {
    it(`${name}: no request, the token stays here`, async () => {
      const server = opened(
        await startServer((_, socket) => replyJson(socket, []), { tls: identity(certificate) }),
      );
      const cloud = cloudAt(server.origin, options);
      const sink = new MemorySink();
      for (const [running, outcome] of [
        [cloud.measure(deviceCode, "x"), "not-sent"],
        [cloud.devices(), null],
        [cloud.media("1", "2", sink), null],
      ] as const) {
        const error = await failsWith(running, { code: "ERR_UNREACHABLE", outcome, retryable: false });
        assert.equal(error.sentence, "unreachableTls" satisfies SentenceKey);
      }
      assert.equal(server.requests.length, 0);
    });
  }

  it("plain HTTP where TLS is expected", async () => {
    const server = opened(
      await startServer(() => undefined, {
        onConnection: (socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"),
      }),
    );
    const cloud = cloudAt(server.origin.replace("http:", "https:"));
    await failsWith(cloud.devices(), { code: "ERR_UNREACHABLE" });
    await failsWith(cloud.stopVideo(deviceCode), notSent);
  });

  it("TLS where plain HTTP is expected", async () => {
    const server = opened(await startServer(() => undefined, { tls: identity("good") }));
    const device = opened(new DeviceClient({ address: `127.0.0.1:${server.port}`, timeoutMs: 5000 }));
    const { cause } = await failureOf(device.measure());
    assert.deepEqual([cause.outcome, cause.retryable], ["unknown", false]);
    assert.equal(server.requests.length, 0);
  });

  it("a handshake that is cut or never ends", async () => {
    const cutting = opened(
      await startServer(() => undefined, { onConnection: (socket) => socket.destroy() }),
    );
    await failsWith(cloudAt(cutting.origin.replace("http:", "https:")).cancelVideo(deviceCode), notSent);
    const silent = opened(await startServer(() => undefined));
    const patient = cloudAt(silent.origin.replace("http:", "https:"), { timeoutMs: 200 });
    await failsWith(patient.startVideo(deviceCode, { transactionReference: "x" }), notSent);
  });

  it("a connection that is made too late carries nothing", async () => {
    const server = opened(await startServer((_, socket) => replyJson(socket, []), { tls: identity("good") }));
    const sockets: Socket[] = [];
    let isOpen = false;
    const goOn = (socket: Socket): void => {
      const peer = connect(server.port, "127.0.0.1");
      socket.on("error", () => peer.destroy());
      peer.on("error", () => socket.destroy());
      socket.pipe(peer).pipe(socket);
      sockets.push(peer);
    };
    const between = createServer((socket) => {
      sockets.push(socket);
      if (isOpen) {
        goOn(socket);
      }
    });
    opened({
      close: () => {
        sockets.forEach((socket) => socket.destroy());
        return new Promise((resolve) => between.close(resolve));
      },
    });
    const cloud = cloudAt(`https://127.0.0.1:${await listen(between)}`, { tls: { ca } });
    const abort = new AbortController();
    const connected = once(between, "connection");
    const measuring = failsWith(cloud.measure(deviceCode, "first", { signal: abort.signal }), {
      code: "ERR_CANCELLED",
      outcome: "not-sent",
      retryable: true,
    });
    await connected;
    abort.abort();
    await measuring;
    isOpen = true;
    const closed = sockets.map((socket) => once(socket, "close"));
    [...sockets].forEach(goOn);
    // Made at last, the connection has nothing to carry, and undici gives it up.
    await Promise.all(closed);
    assert.deepEqual(await cloud.devices(), []);
    assert.deepEqual(
      server.requests.map(({ target }) => target),
      ["/api/deviceclients"],
    );
  });

  it("one's own authority is trusted where it is given", async () => {
    const server = opened(await startServer((_, socket) => replyJson(socket, []), { tls: identity("good") }));
    assert.deepEqual(await cloudAt(server.origin, { tls: { ca } }).devices(), []);
    assert.equal(server.requests[0]?.headers["authorization"], `Bearer ${token}`);
  });

  it("a client certificate is shown where it is given", async () => {
    const tls = { ...identity("good"), ca, requestCert: true, rejectUnauthorized: true };
    const server = opened(await startServer((_, socket) => replyJson(socket, []), { tls }));
    assert.deepEqual(await cloudAt(server.origin, { tls: { ca, ...identity("good") } }).devices(), []);
    await assert.rejects(cloudAt(server.origin, { tls: { ca } }).devices());
  });

  it("speaks HTTP/1.1 to a server that would rather speak HTTP/2", async () => {
    const server = opened(
      await startServer((_, socket) => replyJson(socket, []), {
        tls: { ...identity("good"), ALPNProtocols: ["h2", "http/1.1"] },
      }),
    );
    await cloudAt(server.origin, { tls: { ca, ALPNProtocols: ["h2"] } }).devices();
    assert.equal(server.requests.length, 1);
  });
});

/** A proxy that answers CONNECT, and what clients sent to it before the tunnel and through it. */
interface Proxy {
  readonly port: number;
  readonly heads: readonly string[];
  /** Bytes of the tunnels, from the client. */
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

describe("proxies", function () {
  this.timeout(10_000);
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
        timeoutMs: 5000,
        ...options,
      }),
    );

  it("the environment's are used by no client", async () => {
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

  it("the chosen one sees host and port alone, not the token", async () => {
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

  it("a download and a command go through it too", async () => {
    const proxy = opened(await startProxy());
    const server = await serve();
    const cloud = through(server, proxy);
    const sink = new MemorySink();
    await cloud.media("1", "2", sink);
    await cloud.stopVideo(deviceCode);
    assert.equal(sink.content.toString(), "[]");
    assert.deepEqual([server.requests.length, proxy.heads.length], [2, 2]);
  });

  it("one in front of plain HTTP is asked for a tunnel as well", async () => {
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
      const expected: { code: "ERR_UNREACHABLE"; surface: ErrorCause["surface"] } = {
        code: "ERR_UNREACHABLE",
        surface: "cloud",
      };
      const error = await failsWith(cloud.measure(deviceCode, "x"), { ...expected, outcome: "not-sent" });
      assert.match(error.message, words);
      assert.ok(!JSON.stringify(error).includes("pa$s") && !error.message.includes("user"));
      assert.equal(error.sentence, "unreachableProxy" satisfies SentenceKey);
      assert.equal(proxy.heads.length, 1);
      await failsWith(cloud.devices(), { ...expected, outcome: null });
      assert.equal(server.connections, 0);
      assert.equal(proxy.heads.length, 2);
    });
  }

  it("one that is not there", async () => {
    const server = await serve();
    const proxyUrl = `http://${login}@127.0.0.1:${await freePort()}`;
    const cloud = opened(new CloudClient({ baseUrl: server.origin, token, tls: { ca }, proxyUrl }));
    const error = await failsWith(cloud.measure(deviceCode, "x"), notSent);
    assert.equal(error.sentence, "unreachableProxy" satisfies SentenceKey);
  });

  it("one that never answers", async () => {
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

  it("a certificate that is not trusted behind it", async () => {
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
