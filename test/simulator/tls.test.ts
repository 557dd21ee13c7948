import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { join } from "node:path";
import { connect } from "node:tls";

import type { Simulator } from "../../src/simulator/index.ts";
import { useSimulators } from "./support.ts";

const file = (name: string): Buffer => readFileSync(join(import.meta.dirname, "../fixtures/tls", name));

describe("simulator: TLS", () => {
  const start = useSimulators();
  const secure = (): Promise<Simulator> => start({ tls: { key: file("good.key"), cert: file("good.crt") } });

  /** Status of a GET to the cloud, or the error's code. */
  function get(sim: Simulator, agent: Agent): Promise<number | string> {
    return new Promise((resolve) => {
      const headers = { authorization: "Bearer simulator" };
      const options = { agent, headers, ca: file("authority.crt") };
      const sent = request(`${sim.cloud.origin}/api/terminals`, options, (response) => {
        response.resume().on("end", () => resolve(response.statusCode ?? 0));
      });
      sent.on("error", (error) => resolve("code" in error ? String(error.code) : error.message));
      sent.end();
    });
  }

  it("the cloud speaks https with the key and certificate given, the devices don't", async () => {
    const sim = await secure();
    const agent = new Agent();
    assert.match(sim.cloud.origin, /^https:/);
    assert.match(sim.newer.origin, /^http:/);
    assert.equal(await get(sim, agent), 200);
    agent.destroy();
  });

  it("resets, cuts and dying connections work below TLS too", async () => {
    const sim = await secure();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    sim.faults.add({ fault: { kind: "reset" } });
    assert.equal(await get(sim, agent), "ECONNRESET");
    sim.faults.add({ fault: { kind: "keep-alive-dies" } });
    assert.deepEqual([await get(sim, agent), await get(sim, agent)], [200, "ECONNRESET"]);
    sim.faults.add({ fault: { kind: "not-http", text: "what?" } });
    assert.match(String(await get(sim, agent)), /^HPE_/);
    assert.equal(await get(sim, agent), 200);
    agent.destroy();
  });

  it("connect-silence: the handshake never ends", async () => {
    const sim = await secure();
    sim.faults.add({ surface: "cloud", fault: { kind: "connect-silence" } });
    const socket = connect({
      port: sim.cloud.port,
      host: "127.0.0.1",
      rejectUnauthorized: false,
      timeout: 100,
    });
    const end = await new Promise((resolve) => {
      for (const event of ["secureConnect", "timeout", "error", "end"]) {
        socket.on(event, () => resolve(event));
      }
    });
    assert.equal(end, "timeout");
    while (sim.cloud.connections !== 1) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    socket.destroy();
  });
});
