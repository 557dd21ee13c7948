import assert from "node:assert/strict";
import { once } from "node:events";
import { get } from "node:http";
import { connect, createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { freePort } from "../support/servers.ts";
import { cloudGet, jsonOf, measure, measureRequest, useSimulators, video } from "./support.ts";

describe("simulator", () => {
  const start = useSimulators();

  it("repeats itself with the same seed, and differs with another", async () => {
    const tell = async (seed: number): Promise<string> => {
      const sim = await start({ seed, cloudDevices: 3, weightJitterKg: 0.2 });
      const results = [await measure(sim), await measure(sim)];
      const ids = results.map(({ imageIdentifier, elapsedMs, weight }) => [
        imageIdentifier,
        elapsedMs,
        weight,
      ]);
      return JSON.stringify([
        ids,
        sim.cloud.devices,
        sim.cloud.transactions.map(({ id, guid }) => [id, guid]),
      ]);
    };
    const first = await tell(7);
    assert.equal(await tell(7), first);
    assert.notEqual(await tell(8), first);
  });

  it("gives each start other ids without a seed, and the same registered devices", async () => {
    const sims = await Promise.all(Array.from({ length: 3 }, () => start({ cloudDevices: 2 })));
    const ids = [];
    for (const sim of sims) {
      for (let count = 0; count < 50; count += 1) {
        await sim.newer.pressAtDevice("measure");
      }
      ids.push(...sim.cloud.transactions.flatMap(({ id, guid }) => [id, guid]));
      ids.push(...sim.cloud.transactions.flatMap(({ media }) => media.map(({ contentId }) => contentId)));
    }
    assert.equal(new Set(ids).size, ids.length);
    assert.equal(ids.length, 3 * 50 * 5);
    assert.equal(new Set(sims.map(({ options }) => options.seed)).size, 3);
    const [first, ...others] = sims.map(({ cloud }) => cloud.devices);
    others.forEach((devices) => assert.deepEqual(devices, first));
  });

  it("lists each request with what became of it", async () => {
    const sim = await start();
    const arriving = sim.nextRequest(({ surface }) => surface === "newer");
    const url = `${sim.newer.origin}/api/v1/video/start?a=%20b`;
    await fetch(url, { method: "POST", headers: { "X-Test": "1" }, body: "hello" });
    const record = await sim.settled(await arriving);
    assert.deepEqual(
      [record.method, record.path, record.query, record.bodyBytes, record.outcome, record.statusCode],
      ["POST", "/api/v1/video/start", "a=%20b", 5, "answered", 200],
    );
    assert.equal(record.headers["x-test"], "1");
    assert.ok(record.remotePort > 0 && Math.abs(Date.now() - record.at) < 60_000);
    assert.deepEqual(sim.requestsTo("newer", "/api/v1/video"), [record]);
    assert.deepEqual(sim.requestsTo("newer", "/api/v1/measure"), []);
    assert.deepEqual(sim.requestsTo("cloud"), []);
  });

  it("tells listeners of requests as they arrive and end, until they stop listening", async () => {
    const sim = await start();
    const seen: string[] = [];
    const offs = [
      sim.onRequest(({ path, outcome }) => seen.push(`${path} ${outcome}`)),
      sim.onSettled(({ path, outcome }) => seen.push(`${path} ${outcome}`)),
      sim.onEvent(({ type }) => seen.push(type)),
    ];
    await fetch(`${sim.earlier.origin}/api/ping`);
    await sim.settled({ id: 1 });
    sim.newer.setParcel(null);
    offs.forEach((off) => off());
    await fetch(`${sim.earlier.origin}/api/ping`);
    assert.deepEqual(seen, ["/api/ping pending", "/api/ping answered", "state"]);
  });

  /** Asks for a measurement, and goes away before the answer; gives what became of the request. */
  async function measureAndGo(sim: Simulator): Promise<string> {
    const gone = new AbortController();
    const answer = fetch(`${sim.newer.origin}/api/v1/measure`, { signal: gone.signal });
    const record = await sim.nextRequest();
    gone.abort();
    await assert.rejects(answer);
    return (await sim.settled(record)).outcome;
  }

  it("notices a client that goes before the answer; the machine measures all the same", async () => {
    const slow = await start({ measureMs: 600_000 });
    assert.equal(await measureAndGo(slow), "aborted-by-client");
    assert.equal(slow.newer.state.measuring, true);

    const held = await start();
    const id = held.faults.add({ times: 0, fault: { kind: "delay", ms: 600_000, before: "action" } });
    await measureAndGo(held);
    const measured = held.nextEvent(({ type }) => type === "transaction");
    held.faults.remove(id);
    await measured;
    assert.equal(held.newer.actions.measures, 1);
  });

  it("reset brings back the start: nothing recorded, nothing listed, no fault, no late upload", async () => {
    const sim = await start({ mode: "video-only", mediaDelayMs: 20, cloudDevices: 1 });
    const code = sim.cloud.devices[1]?.code;
    await video(sim, "start");
    await video(sim, "stop");
    await cloudGet(sim, `/api/remotetrigger/startrecording?deviceReference=${code}&transactionReference=x`);
    sim.newer.setMode("measurement-only");
    await measure(sim);
    sim.faults.add({ fault: { kind: "close" } });
    sim.reset();
    assert.deepEqual([sim.requests.length, sim.cloud.transactions.length], [0, 0]);
    assert.deepEqual(sim.newer.actions, { measures: 0, starts: 0, stops: 0, cancels: 0 });
    assert.deepEqual([sim.newer.state.mode, sim.newer.state.savedVideo], ["video-only", null]);
    assert.equal((await fetch(`${sim.newer.origin}/api/v1/ping`)).status, 200);
    await new Promise((resolve) => setTimeout(resolve, 40));
    assert.equal(sim.cloud.transactions.length, 0);
  });

  it("closes everything: ports, open connections, watchers, waiting callers", async () => {
    // Ports that nobody else is given once they are closed.
    const ports = new Set<number>();
    while (ports.size < 4) {
      ports.add(await freePort());
    }
    const [newer = 0, earlier = 0, cloud = 0, control = 0] = ports;
    const sim = await startSimulator({
      measureMs: 60_000,
      mediaDelayMs: 60_000,
      ports: { newer, earlier, cloud, control },
    });
    const socket = connect(sim.newer.port, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.write(measureRequest);
    const watcher = get(`${sim.control.origin}/events`);
    watcher.on("error", () => undefined);
    const [stream] = await once(watcher, "response");
    stream.on("error", () => undefined).resume();
    const scan = assert.rejects(sim.newer.scanAtDevice("1"));
    const waiting = assert.rejects(
      sim.nextEvent(({ type }) => type === "webhook"),
      /closed/,
    );
    const ends = [socket, stream].map((one) => new Promise((resolve) => one.on("close", resolve)));
    await sim.close();
    await Promise.all([scan, waiting, ...ends]);
    for (const { port } of [sim.newer, sim.earlier, sim.cloud, sim.control]) {
      const probe = connect(port, "127.0.0.1");
      const [error] = await once(probe, "error");
      assert.match(String(error), /ECONNREFUSED/);
    }
  });

  it("leaves nothing open when a port is taken", async () => {
    const port = await freePort();
    const taken = createServer().listen(port, "127.0.0.1");
    await once(taken, "listening");
    await assert.rejects(startSimulator({ ports: { cloud: port } }), /EADDRINUSE/);
    await new Promise((resolve) => taken.close(resolve));
    const sim = await start({ ports: { cloud: port } });
    assert.equal(sim.cloud.port, port);
  });

  it("comes back on its port when somebody held it meanwhile", async () => {
    const sim = await start({ ports: { newer: await freePort() } });
    sim.newer.setPower(false);
    const occupant = createServer().listen(sim.newer.port, "127.0.0.1");
    await once(occupant, "listening");
    sim.newer.setPower(true);
    await new Promise((resolve) => setTimeout(resolve, 30));
    await new Promise((resolve) => occupant.close(resolve));
    let answer: unknown = null;
    while (answer === null) {
      answer = await fetch(`${sim.newer.origin}/api/v1/ping/x`).then(jsonOf, () => null);
    }
    assert.deepEqual(answer, { msg: "x" });
  });

  it("never listens beyond loopback unless told to", async () => {
    await assert.rejects(startSimulator({ host: "0.0.0.0" }), /the expose option is set/);
    const sim = await start({ host: "0.0.0.0", expose: true });
    assert.equal(sim.newer.origin, `http://0.0.0.0:${sim.newer.port}`);
  });

  it("listens on the loopback address of IPv6", async function () {
    const addresses = Object.values(networkInterfaces()).flatMap((one) => one ?? []);
    if (!addresses.some(({ address }) => address === "::1")) {
      // The machine has no IPv6, as in many containers.
      this.skip();
    }
    const v6 = await start({ host: "::1" });
    assert.equal((await fetch(`${v6.newer.origin}/api/v1/ping`)).status, 200);
  });

  it("refuses options that can't work", async () => {
    await assert.rejects(startSimulator({ deviceCode: "short" }), /8 letters or digits/);
    await assert.rejects(startSimulator({ parcel: "no such thing" }), /catalogue has/);
  });
});
