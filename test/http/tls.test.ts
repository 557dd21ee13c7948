import assert from "node:assert/strict";
import { once } from "node:events";
import { type Socket, connect, createServer } from "node:net";
import { CloudClient, type CloudClientOptions } from "../../src/cloud/client.ts";
import { DeviceClient } from "../../src/device/client.ts";
import { failsWith, failureOf } from "../support/failures.ts";
import { closesAfterEach } from "../support/opened.ts";
import { deviceCode, token } from "../support/operations.ts";
import { listen, replyJson, startServer } from "../support/servers.ts";
import { identity, pem } from "../support/tls.ts";

const notSent = { code: "ERR_UNREACHABLE", outcome: "not-sent" } as const;

describe("TLS", () => {
  const opened = closesAfterEach();
  const ca = pem("authority.crt");

  const cloudAt = (baseUrl: string, options: Partial<CloudClientOptions> = {}): CloudClient =>
    opened(new CloudClient({ baseUrl, token, timeoutMs: 60_000, ...options }));

  it("says so if the peer speaks plain HTTP", async () => {
    const server = opened(
      await startServer(() => undefined, {
        onConnection: (socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"),
      }),
    );
    const cloud = cloudAt(server.origin.replace("http:", "https:"));
    await failsWith(cloud.devices(), { code: "ERR_UNREACHABLE" });
    await failsWith(cloud.stopVideo(deviceCode), notSent);
  });

  it("says so if the peer speaks TLS and the address has http", async () => {
    const server = opened(await startServer(() => undefined, { tls: identity("good") }));
    const device = opened(new DeviceClient({ address: `127.0.0.1:${server.port}`, timeoutMs: 60_000 }));
    const { details } = await failureOf(device.measure());
    assert.deepEqual([details.outcome, details.retryable], ["unknown", false]);
    assert.equal(server.requests.length, 0);
  });

  it("fails without sending anything if the handshake is cut or never ends", async () => {
    const cutting = opened(
      await startServer(() => undefined, { onConnection: (socket) => socket.destroy() }),
    );
    await failsWith(cloudAt(cutting.origin.replace("http:", "https:")).cancelVideo(deviceCode), notSent);
    const silent = opened(await startServer(() => undefined));
    const patient = cloudAt(silent.origin.replace("http:", "https:"), { timeoutMs: 200 });
    await failsWith(patient.startVideo(deviceCode, { transactionReference: "x" }), notSent);
  });

  it("sends nothing on a connection that is established too late", async () => {
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
    // A connection that a client ends before it has read everything is reset, which is an end, too.
    const closed = sockets.map((socket) => new Promise((resolve) => socket.once("close", resolve)));
    [...sockets].forEach(goOn);
    // When the connection is established at last, there is nothing to send, and undici closes it.
    await Promise.all(closed);
    assert.deepEqual(await cloud.devices(), []);
    assert.deepEqual(
      server.requests.map(({ target }) => target),
      ["/api/deviceclients"],
    );
  });

  it("trusts a certificate authority that is given", async () => {
    const server = opened(await startServer((_, socket) => replyJson(socket, []), { tls: identity("good") }));
    assert.deepEqual(await cloudAt(server.origin, { tls: { ca } }).devices(), []);
    assert.equal(server.requests[0]?.headers["authorization"], `Bearer ${token}`);
  });

  it("sends a client certificate that is given", async () => {
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
