import assert from "node:assert/strict";
import type { FleetDevice } from "../../src/model/shapes.ts";
import { startSimulator, type Simulator, type StartOptions } from "../../src/simulator/index.ts";
import { nested } from "../support/deep-message.ts";
import { TestFlow, type FlowNode, type Sent } from "../support/flow.ts";

const payloadOf = (sent: readonly Sent[]): FleetDevice[] => sent[0]?.msg["payload"] as FleetDevice[];

describe("dimensioner-device-list", () => {
  let sim: Simulator;
  let flow: TestFlow;
  const start = async (
    properties: object = {},
    options: StartOptions = {},
    more: readonly FlowNode[] = [],
    timeout = 60,
  ): Promise<void> => {
    sim = await startSimulator(options);
    flow = await TestFlow.start(
      [
        { id: "cloud", type: "dimensioner-cloud", name: "Main", baseUrl: sim.cloud.origin, timeout },
        { id: "node", z: "tab", type: "dimensioner-device-list", cloud: "cloud", ...properties },
        ...more,
      ],
      { cloud: { token: sim.cloud.token }, other: { token: sim.cloud.token } },
    );
  };
  /** What the cloud says of its devices from now on. */
  const tell = (devices: object[]): void => {
    sim.faults.clear();
    const fault = { kind: "body", text: JSON.stringify(devices) } as const;
    sim.faults.add({ surface: "cloud", path: "/api/deviceclients", times: 0, fault });
  };
  const minutesAgo = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();

  afterEach(async () => {
    await flow.stop();
    await sim.close();
  });

  for (const terminalIds of ["number", "string"] as const) {
    it(`joins a thousand devices with their terminals, whose ids come as ${terminalIds}s`, async () => {
      await start({}, { cloudDevices: 1000, terminalIds });
      const { error, sent } = await flow.run("node", {});
      assert.equal(error, undefined);
      const devices = payloadOf(sent);
      assert.equal(devices.length, 1001);
      for (const device of devices) {
        assert.deepEqual(Object.keys(device), [
          "id",
          "name",
          "registrationCode",
          "appVersion",
          "terminal",
          "lastHeartbeatUtc",
          "silentFor",
        ]);
        assert.equal(typeof device.terminal?.id, "string");
        assert.ok(device.silentFor !== null && device.silentFor >= 0);
      }
      const names = new Set(devices.map(({ terminal }) => terminal?.name));
      assert.equal(names.size, 51);
      assert.equal(flow.lastStatus("node")?.text, "devices: 1001");
    });
  }

  it("says how long each device has been silent, and null where nobody knows", async () => {
    await start();
    tell([
      { id: "a", lastHeartbeatUtc: minutesAgo(10) },
      { id: "b", lastHeartbeatUtc: minutesAgo(10).replace("Z", "") },
      { id: "c", lastHeartbeatUtc: minutesAgo(-60) },
      { id: "d", lastHeartbeatUtc: null },
      { id: 5, lastHeartbeatUtc: "yesterday", terminalId: 77 },
      { id: "e", lastHeartbeatUtc: "0001-01-01T00:00:00Z" },
    ]);
    const devices = payloadOf((await flow.run("node", {})).sent);
    assert.deepEqual(
      devices.map(({ id, silentFor, terminal }) => [
        id,
        // In minutes: the computer may take some seconds for it.
        silentFor === null ? null : Math.floor(silentFor / 60),
        terminal,
      ]),
      [
        ["a", 10, null],
        ["b", 10, null],
        ["c", 0, null],
        ["d", null, null],
        ["5", null, null],
        ["e", null, null],
      ],
    );
  });

  for (const hours of [-24 * 400, 1, 24 * 400]) {
    it(`says it by the cloud's clock, also where that is ${hours} h away from this computer's`, async () => {
      await start();
      let ahead = NaN;
      const silentHours = async () => {
        const { sent } = await flow.run("node", {});
        const [device] = payloadOf(sent);
        ahead = Number(sent[0]?.msg["clockAhead"]);
        return Math.round((device?.silentFor ?? -1) / 3600);
      };
      const before = await silentHours();
      assert.equal(ahead, 0);
      // A copy that a proxy has kept is older, too: a clock that was put back is believed at its second time.
      for (const seconds of [0, 2]) {
        const date = new Date(Date.now() + hours * 3_600_000 + seconds * 1000).toUTCString();
        const fault = { kind: "headers", set: { Date: date } } as const;
        sim.faults.clear();
        sim.faults.add({ surface: "cloud", times: 0, fault });
        await silentHours();
      }
      assert.equal(await silentHours(), Math.max(0, before + hours));
      assert.equal(Math.round(ahead / 3600), hours);
    });
  }

  it("lists the devices also where the cloud has no terminals, and fails where it does not answer", async () => {
    await start();
    const warnings: string[] = [];
    flow.node("node").warn = (warning: unknown) => void warnings.push(String(warning));
    const path = "/api/terminals";
    sim.faults.add({ surface: "cloud", path, times: 0, fault: { kind: "status", status: 404 } });
    const { error, sent } = await flow.run("node", {});
    assert.equal(error, undefined);
    assert.equal(payloadOf(sent)[0]?.terminal, null);
    assert.deepEqual(warnings, []);
    for (const status of [403, 500]) {
      sim.faults.clear();
      sim.faults.add({ surface: "cloud", path, times: 0, fault: { kind: "status", status } });
      for (const { error: failed, sent: listed } of [
        await flow.run("node", {}),
        await flow.run("node", {}),
      ]) {
        assert.deepEqual([failed, payloadOf(listed)[0]?.terminal], [undefined, null]);
      }
      assert.equal(warnings.length, 1, "it warns once");
      assert.match(warnings.splice(0).join(), new RegExp(String(status)));
      sim.faults.clear();
      assert.notEqual(payloadOf((await flow.run("node", {})).sent)[0]?.terminal, null);
    }
    sim.faults.add({ surface: "cloud", path, times: 0, fault: { kind: "status", status: 401 } });
    assert.equal((await flow.run("node", {})).error?.code, "ERR_UNAUTHORIZED");
  });

  it("warns of each cloud once, whichever other clouds are asked in between", async () => {
    const other = await startSimulator();
    try {
      await start({ cloudFrom: "cloud" }, {}, [
        { id: "other", type: "dimensioner-cloud", name: "Other", baseUrl: other.cloud.origin },
      ]);
      const warnings: string[] = [];
      flow.node("node").warn = (warning: unknown) => void warnings.push(String(warning));
      const path = "/api/terminals";
      sim.faults.add({ surface: "cloud", path, times: 0, fault: { kind: "status", status: 403 } });
      for (const cloud of ["Main", "Other", "Main", "Other"]) {
        const { error, sent } = await flow.run("node", { cloud });
        assert.deepEqual([error, payloadOf(sent)[0]?.terminal === null], [undefined, cloud === "Main"]);
      }
      assert.equal(warnings.length, 1);
    } finally {
      await other.close();
    }
  });

  it("gives up both calls when their one deadline has passed", async () => {
    await start({}, {}, [], 2);
    sim.faults.add({ surface: "cloud", times: 0, fault: { kind: "silence" } });
    // One after the other, the second one would never be sent.
    const areBothSent = () =>
      ["/api/deviceclients", "/api/terminals"].every((path) => sim.requestsTo("cloud", path).length > 0);
    // On a computer that stands still for that long, the deadline passes before they are.
    const mostAttempts = 10;
    let code: string | undefined;
    for (
      let attempt = 0;
      attempt < mostAttempts && !(code === "ERR_TIMEOUT" && areBothSent());
      attempt += 1
    ) {
      code = (await flow.run("node", {})).error?.code;
    }
    assert.deepEqual([code, areBothSent()], ["ERR_TIMEOUT", true]);
  });

  it("splits into messages that a Join node puts together again", async () => {
    await start({ emit: "split", wires: [["joiner"]] }, { cloudDevices: 3 }, [
      { id: "joiner", z: "tab", type: "join", mode: "auto", wires: [["out-0"]] },
    ]);
    const joined = new Promise((resolve) => flow.node("out-0").once("input", resolve));
    const { sent } = await flow.run("node", { topic: "fleet" });
    assert.deepEqual(
      sent.map(({ msg }) => [(msg["parts"] as { index: number }).index, msg["topic"]]),
      [0, 1, 2, 3].map((index) => [index, "fleet"]),
    );
    const { payload } = (await joined) as { payload: FleetDevice[] };
    assert.deepEqual(
      payload.map(({ name }) => name),
      sent.map(({ msg }) => (msg["payload"] as FleetDevice).name),
    );
  });

  it("copies for none of the messages a payload that is replaced", async () => {
    await start({ emit: "split" }, { cloudDevices: 2 });
    const payload = new Proxy({}, { ownKeys: () => assert.fail("the payload was copied") });
    const given = { payload };
    const { error, sent } = await flow.run("node", given);
    assert.equal(error, undefined);
    assert.ok(sent.length > 1);
  });

  it("refuses to split for a message that is nested too deeply to be copied", async () => {
    await start({ emit: "split" }, { cloudDevices: 2 });
    const given = { order: nested(10_000) };
    const { error, sent } = await flow.run("node", given);
    assert.deepEqual([error?.code, sent], ["ERR_INPUT", []]);
    assert.match(error?.message ?? "", /nested too deeply/);
  });

  describe("with changesOnly", () => {
    const device = { id: "a", name: "Dock 1", registrationCode: "ABCD2345", appVersion: "4.2.0" };
    const ids = async (): Promise<string[]> =>
      payloadOf((await flow.run("node", {})).sent).map(({ id, removed }) => (removed ? `${id} removed` : id));

    it("sends all at first, then only what has changed; a heartbeat that moves on is no change", async () => {
      await start({ changesOnly: true }, { cloudDevices: 20 });
      assert.equal((await ids()).length, 21);
      assert.deepEqual(await ids(), []);
      assert.equal(flow.lastStatus("node")?.text, "0 of 21 changed");
    });

    it("sends what is new, what has other data, what falls silent and what is heard again", async () => {
      await start({ changesOnly: true, silentAfter: 600 });
      const b = { id: "b", name: "Dock 2", lastHeartbeatUtc: minutesAgo(1) };
      const steps: [object[], string[]][] = [
        [[{ ...device, lastHeartbeatUtc: minutesAgo(8) }], ["a"]],
        [[{ ...device, lastHeartbeatUtc: minutesAgo(9) }, b], ["b"]],
        [[{ ...device, lastHeartbeatUtc: minutesAgo(11) }, b], ["a"]],
        [[{ ...device, lastHeartbeatUtc: minutesAgo(12) }, b], []],
        [[{ ...device, lastHeartbeatUtc: minutesAgo(0) }, b], ["a"]],
        [[{ ...device, lastHeartbeatUtc: minutesAgo(0), appVersion: "4.3.0" }, b], ["a"]],
        [[{ ...device, lastHeartbeatUtc: minutesAgo(0), appVersion: "4.3.0", terminalId: 1 }], ["b removed"]],
        [[{ ...device, lastHeartbeatUtc: minutesAgo(0), appVersion: "4.3.0" }, b], ["b"]],
      ];
      for (const [index, [devices, changed]] of steps.entries()) {
        tell(devices);
        assert.deepEqual(await ids(), changed, `step ${index}`);
      }
    });

    it("takes devices whose terminals cannot be listed for unchanged", async () => {
      await start({ changesOnly: true }, { cloudDevices: 3 });
      assert.equal((await ids()).length, 4);
      const path = "/api/terminals";
      sim.faults.add({ surface: "cloud", path, times: 0, fault: { kind: "status", status: 403 } });
      assert.deepEqual(await ids(), []);
      sim.faults.clear();
      assert.deepEqual(await ids(), []);
    });

    it("sends nothing as split messages where nothing has changed, and keeps silence out when told to", async () => {
      await start({ changesOnly: true, emit: "split", silentAfter: 0 });
      tell([{ ...device, lastHeartbeatUtc: minutesAgo(1) }]);
      assert.equal((await flow.run("node", {})).sent.length, 1);
      tell([{ ...device, lastHeartbeatUtc: minutesAgo(100_000) }]);
      const { error, sent } = await flow.run("node", {});
      assert.deepEqual([error, sent], [undefined, []]);
    });

    it("takes a failed list for no look at all", async () => {
      await start({ changesOnly: true });
      tell([device]);
      assert.deepEqual(await ids(), ["a"]);
      sim.faults.clear();
      sim.faults.add({ surface: "cloud", times: 0, fault: { kind: "status", status: 401 } });
      assert.equal((await flow.run("node", {})).error?.code, "ERR_UNAUTHORIZED");
      tell([device]);
      assert.deepEqual(await ids(), []);
    });
  });

  it("refuses settings that it does not know", async () => {
    for (const properties of [{ emit: "stream" }, { silentAfter: "soon" }]) {
      await start(properties);
      assert.equal((await flow.run("node", {})).error?.code, "ERR_CONFIG");
      assert.equal(sim.requests.length, 0);
      await flow.stop();
      await sim.close();
    }
    await start();
  });
});
