import assert from "node:assert/strict";
import { CloudCalls } from "../../src/cloud/calls.ts";
import { CloudClient } from "../../src/cloud/client.ts";
import { DeviceClient } from "../../src/device/client.ts";
import { generations } from "../../src/device/generations.ts";
import { readToBuffer } from "../../src/media/read-to-buffer.ts";
import {
  type Simulator,
  type StartOptions,
  type SurfaceName,
  startSimulator,
} from "../../src/simulator/index.ts";
import { failsWith } from "../support/failures.ts";
import { type Message, TestFlow } from "../support/flow.ts";
import { closesAfterEach } from "../support/opened.ts";
import { deviceCode, token } from "../support/operations.ts";
import { reply, replyJson, startServer } from "../support/servers.ts";

/** Every GET that acts on a machine, by the node that sends it. */
const actingGets: readonly (readonly [node: string, surface: SurfaceName, path: string])[] = [
  ["measure", "newer", "/api/v1/measure"],
  ["older measure", "earlier", "/api/measure"],
  ["remote measure", "cloud", "/api/remotetrigger/measure"],
  ["remote start", "cloud", "/api/remotetrigger/startrecording"],
  ["remote stop", "cloud", "/api/remotetrigger/stoprecording"],
  ["remote cancel", "cloud", "/api/remotetrigger/cancelrecording"],
];

describe("the API, fact by fact", () => {
  const opened = closesAfterEach();

  async function start(options: StartOptions = {}): Promise<{ sim: Simulator; flow: TestFlow }> {
    const sim = opened(await startSimulator(options));
    const flow = await TestFlow.start(
      [
        { id: "device", type: "dimensioner-device", address: sim.newer.origin, timeout: 60 },
        { id: "old", type: "dimensioner-device", address: sim.earlier.origin, generation: "earlier" },
        { id: "cloud", type: "dimensioner-cloud", baseUrl: sim.cloud.origin, timeout: 60 },
        { id: "measure", z: "tab", type: "dimensioner-measure", device: "device" },
        { id: "older measure", z: "tab", type: "dimensioner-measure", device: "old" },
        { id: "video", z: "tab", type: "dimensioner-fetch-video", device: "device", wait: 0 },
        { id: "start", z: "tab", type: "dimensioner-video-control", device: "device" },
        ...["start", "stop", "cancel", "measure"].map((action) => ({
          id: `remote ${action}`,
          z: "tab",
          type: "dimensioner-remote-trigger",
          cloud: "cloud",
          deviceReference: deviceCode,
          action,
        })),
        { id: "list", z: "tab", type: "dimensioner-media-list", cloud: "cloud" },
        { id: "media", z: "tab", type: "dimensioner-fetch-media", cloud: "cloud" },
      ],
      { cloud: { token: sim.cloud.token } },
    );
    opened({ close: () => flow.stop() });
    return { sim, flow };
  }
  const failureOf = async (flow: TestFlow, node: string, msg: Message = {}) => {
    const { error } = await flow.run(node, { transactionReference: "R", transactionId: "T", ...msg });
    return [error?.code, error?.cause.outcome, error?.cause.statusCode];
  };

  describe("statuses", () => {
    const triggers = ["remote start", "remote stop", "remote cancel", "remote measure"];
    for (const [status, code, outcome] of [
      [400, "ERR_BAD_DEVICE_REFERENCE", "refused"],
      [401, "ERR_UNAUTHORIZED", "refused"],
      [504, "ERR_DEVICE_TIMEOUT", "unknown"],
    ] as const) {
      it(`${status} to a remote trigger is ${code}, outcome ${outcome}`, async () => {
        const { sim, flow } = await start();
        sim.faults.add({ surface: "cloud", times: 0, fault: { kind: "status", status } });
        for (const trigger of triggers) {
          assert.deepEqual(await failureOf(flow, trigger), [code, outcome, status], trigger);
        }
        const sent = sim.requests.filter(({ path }) => path.startsWith("/api/remotetrigger/"));
        assert.equal(sent.length, triggers.length);
      });
    }

    it("401 to a media request is ERR_UNAUTHORIZED, 404 is ERR_NOT_FOUND", async () => {
      const { sim, flow } = await start();
      const msg = { payload: { contentId: "c" } };
      for (const [status, code] of [
        [401, "ERR_UNAUTHORIZED"],
        [404, "ERR_NOT_FOUND"],
      ] as const) {
        sim.faults.clear();
        sim.faults.add({ surface: "cloud", times: 0, fault: { kind: "status", status } });
        assert.deepEqual(await failureOf(flow, "list", msg), [code, null, status]);
        assert.deepEqual(await failureOf(flow, "media", msg), [code, null, status]);
      }
    });

    it("404 to a video request is ERR_NO_VIDEO, 404 to a measure names Enable Local API", async () => {
      const { sim, flow } = await start({ mode: "video-only" });
      assert.deepEqual(await failureOf(flow, "video"), ["ERR_NO_VIDEO", null, 404]);
      sim.newer.setLocalApi(false);
      const { error } = await flow.run("measure", {});
      assert.equal(error?.code, "ERR_NOT_FOUND");
      assert.match(error.message, /Enable Local API/);
    });
  });

  describe("pitfalls", () => {
    it("device codes: 8 letters or digits of either case are sent as they are", async () => {
      const server = opened(await startServer((_, socket) => reply(socket, {})));
      const cloud = opened(new CloudClient({ baseUrl: server.origin, token }));
      const codes = ["12345678", "ABCD2345", "abcd2345", "ZZZZZZZZ"];
      for (const code of codes) {
        await cloud.stopVideo(code);
      }
      assert.deepEqual(
        server.requests.map(({ target }) => new URLSearchParams(target.split("?")[1]).get("deviceReference")),
        codes,
      );
    });

    for (const [node, surface, path] of actingGets) {
      it(`GET ${path} acts: sent once when its answer is lost, and never answered from a cache`, async () => {
        const { sim, flow } = await start({ mode: "video-with-measurement" });
        sim.faults.add({ surface, path, fault: { kind: "reset", acts: true } });
        assert.deepEqual(await failureOf(flow, node), ["ERR_CONNECTION_LOST", "unknown", undefined]);
        assert.equal(sim.requestsTo(surface, path).length, 1);
        const cached = { "cache-control": "public, max-age=86400" };
        sim.faults.add({ surface, path, times: 0, fault: { kind: "headers", set: cached } });
        await flow.run(node, { transactionReference: "R" });
        await flow.run(node, { transactionReference: "R" });
        assert.equal(sim.requestsTo(surface, path).length, 3);
      });
    }

    it("a failure is reported by a status, or by 200 with an errorCode of the result or of one object", async () => {
      const { sim, flow } = await start();
      for (const [node, surface, path] of actingGets.filter(([name]) => name.endsWith("measure"))) {
        const strike = async (fault: Parameters<typeof sim.faults.add>[0]["fault"]) => {
          sim.faults.add({ surface, path, fault });
          return (await failureOf(flow, node)).slice(0, 2);
        };
        const failed = ["ERR_MEASURE_FAILED", "failed"];
        assert.deepEqual(await strike({ kind: "status", status: 500 }), ["ERR_HTTP", "unknown"], node);
        assert.deepEqual(await strike({ kind: "json-patch", set: { errorCode: 9 } }), failed, node);
        const inObject = { "measuredObjects.0.errorCode": 9 };
        assert.deepEqual(await strike({ kind: "json-patch", set: inObject }), failed, node);
      }
    });

    it("depth images: saved as what the bytes are, typed as what is announced, whatever they are called", async () => {
      const jpeg = Buffer.from("ffd8ffe000104a46494600010100000100010000ffd9", "hex");
      const server = opened(
        await startServer(({ target }, socket) =>
          target.endsWith("/c1")
            ? reply(socket, { body: jpeg, headers: { "content-type": "image/jpeg" } })
            : replyJson(socket, [
                { contentId: "c1", contentType: "image/jpeg", description: "DepthImage16Bit" },
              ]),
        ),
      );
      const cloud = opened(new CloudClient({ baseUrl: server.origin, token }));
      const { items, missing } = await cloud.waitForMedia("1", { expect: ["image/jpeg"] });
      assert.deepEqual([items.length, missing], [1, []]);
      const facts = { operation: "media", surface: "cloud", host: "cloud", suggestedBase: "depth" } as const;
      const medium = await readToBuffer(() => cloud.media("1", "c1"), facts);
      assert.deepEqual([medium.contentType, medium.filename], ["image/jpeg", "depth.jpg"]);
    });

    it("headers: chunked bodies without a length, and no api-supported-versions, are as good", async () => {
      const { sim, flow } = await start({
        mode: "video-only",
        chunkedBodies: true,
        versionHeader: false,
        measureInVideoOnly: "failed-result",
      });
      assert.equal((await flow.run("start", {})).error, undefined);
      assert.deepEqual(await failureOf(flow, "measure"), ["ERR_MEASURE_FAILED", "failed", undefined]);
      sim.newer.setMode("measurement-only");
      assert.equal((await flow.run("measure", {})).error, undefined);
      assert.equal((await flow.run("older measure", {})).error, undefined);
    });
  });

  it("only documented endpoints are requested", () => {
    const calls = new CloudCalls("");
    const trigger = (["start", "stop", "cancel", "measure"] as const).map((action) =>
      calls.trigger(action, deviceCode, {}),
    );
    const asked = [
      ...trigger,
      calls.mediaList("{id}", undefined),
      calls.media("{id}", "{id}"),
      calls.devices(),
      calls.device("{id}"),
      calls.terminals(),
      calls.terminal("{id}"),
    ].map(({ path }) => decodeURIComponent(path));
    assert.deepEqual(asked, [
      "/api/remotetrigger/startrecording",
      "/api/remotetrigger/stoprecording",
      "/api/remotetrigger/cancelrecording",
      "/api/remotetrigger/measure",
      "/api/transactionmedia/{id}",
      "/api/transactionmedia/{id}/{id}",
      "/api/deviceclients",
      "/api/deviceClients/{id}",
      "/api/terminals",
      "/api/terminals/{id}",
    ]);
    const all = Object.getOwnPropertyNames(CloudCalls.prototype).filter((name) => name !== "constructor");
    assert.deepEqual(all, ["trigger", "mediaList", "media", "devices", "device", "terminals", "terminal"]);
    const { earlier, gateway } = generations;
    assert.deepEqual(
      [
        earlier.measurePath,
        earlier.pingPath,
        earlier.imagePaths,
        earlier.videoActionPath,
        earlier.videoPaths,
      ],
      ["/api/measure", "/api/ping", null, null, null],
    );
    assert.deepEqual([gateway.measurePath, gateway.pingPath, gateway.imagePaths], ["/measure", null, null]);
  });

  it("a local result has an imageIdentifier and no transactionId, a remote one the other way round", async () => {
    const { flow } = await start();
    for (const [node, has, lacks] of [
      ["measure", "imageIdentifier", "transactionId"],
      ["remote measure", "transactionId", "imageIdentifier"],
    ] as const) {
      const { sent } = await flow.run(node, { transactionReference: "R" });
      const result = sent[0]?.msg["payload"] as Record<string, unknown>;
      assert.equal(typeof result[has], "string", node);
      assert.equal(result[lacks], null, node);
    }
  });

  it("references of a local measure come back in its result", async () => {
    const sim = opened(await startSimulator());
    const device = opened(new DeviceClient({ address: sim.newer.origin }));
    const references = { transactionReference: "R", customReference1: "1", customReference3: "3" };
    const { result } = await device.measure(references);
    assert.deepEqual(
      [
        result.transactionReference,
        result.customReference1,
        result.customReference2,
        result.customReference3,
      ],
      ["R", "1", null, "3"],
    );
  });

  it("simulation mode: flows cannot recognize its values, and no device is asked", async () => {
    const { sim, flow } = await start({ simulationMode: true, parcel: null });
    const { error, sent } = await flow.run("remote measure", { transactionReference: "R" });
    assert.equal(error, undefined);
    assert.equal((sent[0]?.msg["payload"] as { ok: boolean }).ok, true);
    assert.equal(sim.newer.actions.measures, 0);
  });

  it("a device of the earlier generation measures one object or none", async () => {
    const { sim, flow } = await start();
    const one = await flow.run("older measure", {});
    assert.equal((one.sent[0]?.msg["payload"] as { objectCount: number }).objectCount, 1);
    sim.earlier.setParcel(null);
    const msg: Message = {};
    assert.equal((await flow.run("older measure", msg)).error?.code, "ERR_MEASURE_FAILED");
    assert.equal((msg["payload"] as { objectCount: number }).objectCount, 0);
  });

  it("the body of an error is not documented: none, HTML, JSON or megabytes end the same", async () => {
    const { sim } = await start();
    const cloud = opened(new CloudClient({ baseUrl: sim.cloud.origin, token: sim.cloud.token }));
    for (const fault of [
      { kind: "status", status: 400 },
      { kind: "status", status: 400, body: "<html>no</html>", headers: { "content-type": "text/html" } },
      {
        kind: "status",
        status: 400,
        body: '{"title":"no"}',
        headers: { "content-type": "application/json" },
      },
      { kind: "status", status: 400, bodyBytes: 2_000_000 },
    ] as const) {
      sim.faults.add({ surface: "cloud", fault });
      await failsWith(cloud.stopVideo(deviceCode), { code: "ERR_BAD_DEVICE_REFERENCE", outcome: "refused" });
    }
  });
});
