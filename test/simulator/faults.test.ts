import assert from "node:assert/strict";
import { request as httpRequest, Agent } from "node:http";

import type { Fault, FaultRule, Simulator } from "../../src/simulator/index.ts";
import { exchange, headerOf, measureRequest, measure, useSimulators } from "./support.ts";

/** Sends a request on an agent's connection and gives the status, or the error's code. */
function call(agent: Agent, url: string): Promise<number | string> {
  return new Promise((resolve) => {
    const sent = httpRequest(url, { agent }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    });
    sent.on("error", (error) => resolve("code" in error ? String(error.code) : error.message));
    sent.end();
  });
}

describe("simulator: faults", () => {
  const start = useSimulators();
  const withFault = async (fault: Fault, more: Omit<FaultRule, "fault"> = {}): Promise<Simulator> => {
    const sim = await start({ mode: "video-with-measurement" });
    sim.faults.add({ ...more, fault });
    return sim;
  };

  describe("of the answer as a whole", () => {
    for (const acts of [true, false]) {
      const cases: readonly [Fault, string, string][] = [
        [{ kind: "reset", acts }, "reset", "^$"],
        [{ kind: "close", acts }, "fin", "^$"],
        [{ kind: "silence", acts }, "open", "^$"],
        [{ kind: "headers-then-silence", acts }, "open", "^HTTP/1.1 200 OK\r\n[^]*\r\n\r\n$"],
        [{ kind: "not-http", acts, text: "SSH-2.0-x\r\n" }, "fin", "^SSH-2.0-x\r\n$"],
        [{ kind: "not-http", acts, base64: "AAEC", end: "hold" }, "open", "^\0\x01\x02$"],
        [
          { kind: "status", acts, status: 503, headers: { "retry-after": "-1" } },
          "open",
          "^HTTP/1.1 503 [^]*retry-after: -1\r\n",
        ],
      ];
      for (const [fault, end, pattern] of cases) {
        it(`${fault.kind}, the machine ${acts ? "acts" : "does not act"}`, async () => {
          const sim = await withFault(fault, { name: "mine" });
          const begun = acts ? sim.nextEvent(() => sim.newer.actions.measures > 0) : sim.nextRequest();
          const silentFrom = end === "open" && pattern === "^$" ? begun : undefined;
          const quietMs = end === "open" ? 120 : undefined;
          const { end: how, text } = await exchange(sim.newer.port, measureRequest, quietMs, silentFrom);
          assert.equal(how, end);
          assert.match(text, new RegExp(pattern));
          assert.equal(sim.newer.actions.measures, acts ? 1 : 0);
          assert.equal(sim.cloud.transactions.length, acts ? 1 : 0);
          const [record] = sim.requests;
          assert.equal((await sim.settled({ id: record?.id ?? 0 })).outcome, "fault:mine");
          assert.equal((await measure(sim))["errorCode"], 0);
        });
      }
    }

    it("acts by default where the answer is lost, and not where another one comes", async () => {
      for (const [fault, measures] of [
        [{ kind: "reset" }, 1],
        [{ kind: "close", afterMs: 5 }, 1],
        [{ kind: "status", status: 500 }, 0],
        [{ kind: "not-http", text: "x" }, 0],
        [{ kind: "body", text: "null" }, 1],
      ] satisfies [Fault, number][]) {
        const sim = await withFault(fault);
        await exchange(sim.newer.port, measureRequest, 60);
        assert.equal(sim.newer.actions.measures, measures, fault.kind);
      }
    });
  });

  describe("of the connection", () => {
    const connected = async (sim: Simulator): Promise<void> => {
      while (sim.newer.connections === 0) {
        await new Promise((resolve) => setImmediate(resolve));
      }
    };

    it("refuse: nothing listens until the fault is removed", async () => {
      const sim = await start();
      await measure(sim);
      const id = sim.faults.add({ surface: "newer", fault: { kind: "refuse" } });
      assert.equal((await exchange(sim.newer.port, measureRequest)).end, "reset");
      assert.equal((await fetch(`${sim.earlier.origin}/api/ping`)).status, 200);
      assert.equal(sim.faults.remove(id), true);
      assert.equal((await measure(sim))["errorCode"], 0);
      assert.equal(sim.requestsTo("newer").length, 2);
      assert.equal(sim.faults.remove(id), false);
    });

    it("refuse: on all surfaces, until it is removed or for a time", async () => {
      const sim = await start();
      const id = sim.faults.add({ fault: { kind: "refuse" } });
      for (const { port } of [sim.newer, sim.earlier, sim.cloud]) {
        assert.equal((await exchange(port, measureRequest)).end, "reset");
      }
      sim.faults.add({ fault: { kind: "refuse", forMs: 40 } });
      sim.faults.remove(id);
      while (sim.faults.list().length > 0) {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      assert.equal((await measure(sim))["errorCode"], 0);
    });

    it("connect-silence and connect-reset: no request is ever read", async () => {
      const silent = await withFault({ kind: "connect-silence" }, { surface: "newer" });
      const { end, bytes } = await exchange(silent.newer.port, measureRequest, 80, connected(silent));
      assert.deepEqual([end, bytes.length, silent.requests.length], ["open", 0, 0]);
      assert.equal((await measure(silent))["errorCode"], 0);
      const reset = await withFault({ kind: "connect-reset" }, { surface: "newer" });
      assert.equal((await exchange(reset.newer.port, measureRequest)).end, "reset");
      assert.equal(reset.requests.length, 0);
    });

    it("keep-alive-dies: the next request on the connection is reset, done or not", async () => {
      for (const acts of [true, false]) {
        const sim = await withFault({ kind: "keep-alive-dies", acts });
        const agent = new Agent({ keepAlive: true, maxSockets: 1 });
        const url = `${sim.newer.origin}/api/v1/measure`;
        assert.equal(await call(agent, url), 200);
        assert.equal(await call(agent, url), "ECONNRESET");
        assert.equal(await call(agent, url), 200);
        const ports = sim.requests.map(({ remotePort }) => remotePort);
        assert.equal(ports[0], ports[1]);
        assert.notEqual(ports[1], ports[2]);
        assert.equal(sim.newer.actions.measures, acts ? 3 : 2);
        assert.equal(sim.requests[1]?.outcome, "fault:keep-alive-dies");
        agent.destroy();
      }
    });

    it("keep-alive-dies after the answer: promised, then closed", async () => {
      const sim = await withFault({ kind: "keep-alive-dies", when: "after-answer" });
      const { end, text } = await exchange(sim.newer.port, measureRequest);
      assert.equal(end, "fin");
      assert.equal(headerOf(text, "connection"), "keep-alive");
    });
  });

  describe("rules", () => {
    const status = (code: number): Fault => ({ kind: "status", status: code });
    const ask = async (sim: Simulator, path: string, method = "GET"): Promise<number> =>
      (await fetch(sim.newer.origin + path, { method })).status;

    it("are applied in order, as often as they say, after as many matches as they say", async () => {
      const sim = await start();
      sim.faults.add({ fault: status(501), after: 1 });
      sim.faults.add({ fault: status(502), times: 2 });
      const statuses: number[] = [];
      for (let n = 0; n < 5; n += 1) {
        statuses.push(await ask(sim, "/api/v1/ping"));
      }
      assert.deepEqual(statuses, [502, 501, 502, 200, 200]);
      assert.deepEqual(sim.faults.list(), []);
    });

    it("are applied until they are removed, and count how often", async () => {
      const sim = await start();
      const id = sim.faults.add({ fault: status(503), times: 0, after: 1 });
      for (let n = 0; n < 4; n += 1) {
        await ask(sim, "/api/v1/ping");
      }
      assert.deepEqual(
        sim.faults.list().map(({ id: one, matches, applied }) => [one, matches, applied]),
        [[id, 4, 3]],
      );
      sim.faults.clear();
      assert.equal(await ask(sim, "/api/v1/ping"), 200);
    });

    it("match by surface, method and path, as a beginning or an expression", async () => {
      const sim = await start({ mode: "video-only" });
      sim.faults.add({ surface: "cloud", times: 0, fault: status(501) });
      sim.faults.add({ method: "post", path: "/api/v1/video", times: 0, fault: status(502) });
      sim.faults.add({ path: "^/api/v1/(ping|measure)$", times: 0, fault: status(503) });
      assert.deepEqual(
        [
          await ask(sim, "/api/v1/video/start", "POST"),
          await ask(sim, "/api/v1/video/download"),
          await ask(sim, "/API/v1/PING"),
          await ask(sim, "/api/v1/ping/x"),
          (await fetch(`${sim.cloud.origin}/api/terminals`)).status,
        ],
        [502, 404, 503, 200, 501],
      );
      assert.equal(sim.newer.actions.starts, 0);
    });

    it("are refused when they are not valid", async () => {
      const sim = await start();
      assert.throws(() => sim.faults.add({ path: "(", fault: { kind: "close" } }), /regular expression/);
      assert.throws(() => sim.faults.add({ times: -1, fault: { kind: "close" } }));
      // @ts-expect-error: what a caller without types might send
      assert.throws(() => sim.faults.add({ fault: { kind: "explode" } }));
      // @ts-expect-error: what is cut is the answer of a device that acted
      assert.throws(() => sim.faults.add({ fault: { kind: "cut", acts: false } }));
    });
  });
});
