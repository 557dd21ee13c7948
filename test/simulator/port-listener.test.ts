import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";

import type { Simulator } from "../../src/simulator/index.ts";
import { useSimulators } from "./support.ts";

const file = (name: string): Buffer => readFileSync(join(import.meta.dirname, "../fixtures/tls", name));
const addresses = ["127.0.0.1", "127.0.0.2"] as const;

/** Two connections from the same port of two addresses; null where the computer has only one loopback address. */
async function twoConnections(port: number): Promise<[Socket, Socket] | null> {
  const [one, other] = addresses;
  const first = connect({ port, host: "127.0.0.1", localAddress: one });
  await once(first, "connect");
  const second = connect({ port, host: "127.0.0.1", localAddress: other, localPort: first.localPort ?? 0 });
  try {
    await once(second, "connect");
    return [first, second];
  } catch (error) {
    first.destroy();
    assert.ok(error instanceof Error && "code" in error && error.code === "EADDRNOTAVAIL", String(error));
    return null;
  }
}

async function secured(socket: Socket): Promise<Socket> {
  const tls = connectTls({ socket, rejectUnauthorized: false });
  await once(tls, "secureConnect");
  return tls;
}

const request = "GET /api/terminals HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer simulator\r\n\r\n";

describe("C5: simulator: connections from the same port of two addresses", () => {
  const start = useSimulators();

  async function counted(sim: Simulator, count: number): Promise<void> {
    while (sim.cloud.connections !== count) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  it("are counted one by one", async function () {
    const sim = await start();
    const sockets = await twoConnections(sim.cloud.port);
    if (sockets === null) {
      this.skip();
    }
    await counted(sim, 2);
    sockets[0].destroy();
    await counted(sim, 1);
    sockets[1].destroy();
    await counted(sim, 0);
  });

  it("are told apart by a fault below TLS: it resets the one that it applies to", async function () {
    const sim = await start({ tls: { key: file("good.key"), cert: file("good.crt") } });
    const sockets = await twoConnections(sim.cloud.port);
    if (sockets === null) {
      this.skip();
    }
    const [first, second] = [await secured(sockets[0]), await secured(sockets[1])];
    sim.faults.add({ surface: "cloud", fault: { kind: "reset" } });
    const reset = new Promise((resolve) => first.on("error", () => undefined).on("close", resolve));
    first.write(request);
    await reset;
    const answer = once(second, "data");
    second.write(request);
    assert.match(String((await answer)[0]), /^HTTP\/1\.1 200 /);
    assert.deepEqual(
      sim.requests.map(({ remoteAddress, outcome }) => [remoteAddress, outcome]),
      [
        ["127.0.0.1", "fault:reset"],
        ["127.0.0.2", "answered"],
      ],
    );
    second.destroy();
  });
});
