import assert from "node:assert/strict";
import { inspect } from "node:util";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { TestFlow } from "../support/flow.ts";

describe("config nodes", () => {
  let flow: TestFlow;
  const measureWith = async (device: object): Promise<string | undefined> => {
    flow = await TestFlow.start([
      { id: "device", type: "dimensioner-device", ...device },
      { id: "node", z: "tab", type: "dimensioner-measure", device: "device" },
    ]);
    const { error } = await flow.run("node", {});
    await flow.stop();
    return error?.code === "ERR_CONFIG" ? error.message : error?.code;
  };
  const listWith = async (cloud: object, credentials: object | undefined): Promise<string | undefined> => {
    flow = await TestFlow.start(
      [
        { id: "cloud", type: "dimensioner-cloud", ...cloud },
        { id: "node", z: "tab", type: "dimensioner-media-list", cloud: "cloud" },
      ],
      { cloud: credentials },
    );
    const { error } = await flow.run("node", { transactionId: "1" });
    await flow.stop();
    return error?.code === "ERR_CONFIG" ? error.message : error?.code;
  };

  it("say in words which field of a device cannot be used", async () => {
    for (const address of [
      "",
      "http://dock/path",
      "ftp://dock",
      "user@dock",
      "dock?x",
      "fe80::1",
      "192.168.1",
      "a b",
      "dock:99999",
    ]) {
      assert.match((await measureWith({ address })) ?? "", /device setting “address” is not valid/, address);
    }
    const address = "127.0.0.1:1";
    for (const [field, values] of Object.entries({
      timeout: ["soon", 0, -1, "1e99"],
      maxWait: ["later", -1],
      queueLimit: [1.5, -1, "many"],
      generation: ["latest", "__proto__"],
    })) {
      for (const value of values) {
        assert.match(
          (await measureWith({ address, [field]: value })) ?? "",
          new RegExp(`“${field}”`),
          `${field} ${value}`,
        );
      }
    }
  });

  it("take every form of an address, and a blank field as its default", async () => {
    for (const address of [
      "127.0.0.1:1",
      "localhost:1",
      "[::1]:1",
      "http://127.0.0.1:1",
      "http://127.0.0.1:1/",
      " 127.0.0.1:1 ",
    ]) {
      assert.equal(
        await measureWith({ address, timeout: "", queueLimit: "", maxWait: "" }),
        "ERR_UNREACHABLE",
        address,
      );
    }
  });

  it("say in words which field of the cloud cannot be used", async () => {
    const token = { token: "t" };
    for (const baseUrl of [
      "",
      "cloud.example",
      "http://cloud.example",
      "https://u:p@cloud.example",
      "https://cloud.example/?a=1",
    ]) {
      assert.match(
        (await listWith({ baseUrl }, token)) ?? "",
        /cloud setting “baseUrl” is not valid/,
        baseUrl,
      );
    }
    for (const credentials of [undefined, {}, { token: "" }, { token: " " }, { token: "a\r\nb" }]) {
      assert.match((await listWith({ baseUrl: "https://127.0.0.1:1" }, credentials)) ?? "", /no valid token/);
    }
    assert.match((await listWith({ baseUrl: "https://127.0.0.1:1", tls: "gone" }, token)) ?? "", /“tls”/);
    assert.match((await listWith({ baseUrl: "https://127.0.0.1:1", proxy: "gone" }, token)) ?? "", /“proxy”/);
  });

  it("take http on loopback, and elsewhere only when that is allowed", async () => {
    assert.equal(await listWith({ baseUrl: "http://127.0.0.1:1" }, { token: "t" }), "ERR_UNREACHABLE");
    assert.equal(
      await listWith({ baseUrl: "http://127.1.2.3.invalid:1", allowHttp: true }, { token: "t" }),
      "ERR_UNREACHABLE",
    );
  });

  describe("and the token", () => {
    let sim: Simulator;
    const token = "s3cret-T0ken.that/nobody+sees==";

    beforeEach(async () => {
      sim = await startSimulator({ token });
    });
    afterEach(() => sim.close());

    it("is shown nowhere, whatever goes wrong", async () => {
      const nodesWith = (timeout: number) => [
        { id: "cloud", type: "dimensioner-cloud", baseUrl: sim.cloud.origin, timeout },
        { id: "node", z: "tab", type: "dimensioner-media-list", cloud: "cloud" },
      ];
      const credentials = { cloud: { token: ` Bearer ${token}\n` } };
      flow = await TestFlow.start(nodesWith(60), credentials);
      const seen: unknown[] = [];
      sim.cloud.addMedia("1", { contentType: "image/jpeg", bytes: Buffer.from("x") });
      assert.equal(
        (await flow.run("node", { transactionId: "1" })).error,
        undefined,
        "pasted with its scheme and a line end",
      );
      // Only what is to fail may be impatient.
      await flow.deploy(nodesWith(1), credentials);
      for (const fault of [
        { kind: "status", status: 401 },
        { kind: "status", status: 302, headers: { location: "http://127.0.0.1:1/" } },
        { kind: "reset" },
        { kind: "silence" },
        { kind: "body", text: "{" },
      ] as const) {
        sim.faults.clear();
        sim.faults.add({ surface: "cloud", times: 0, fault });
        const end = await flow.run("node", { transactionId: "1" });
        assert.notEqual(end.error, undefined);
        seen.push(end, JSON.stringify(end.error), end.error?.stack);
      }
      const config = flow.node("cloud");
      seen.push(flow.shown, flow.sent, Reflect.get(config, "access"));
      assert.ok(!inspect(seen, { depth: 12, showHidden: true, maxStringLength: null }).includes(token));
      await flow.stop();
    });
  });
});
