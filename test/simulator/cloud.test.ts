import assert from "node:assert/strict";

import type { Simulator } from "../../src/simulator/index.ts";
import { asList, asObject, bytesOf, cloudGet, jsonOf, mediaOf, useSimulators, type Json } from "./support.ts";

const deviceQuery = "deviceReference=ABCD2345";
const trigger = (sim: Simulator, action: string, query = deviceQuery): Promise<Response> =>
  cloudGet(sim, `/api/remotetrigger/${action}?${query}`);

async function remoteMeasure(
  sim: Simulator,
  query = `${deviceQuery}&transactionReference=T1`,
): Promise<Json> {
  return asObject(await jsonOf(await trigger(sim, "measure", query)));
}

describe("simulator: cloud", () => {
  const start = useSimulators();

  it("wants its token on every request", async () => {
    const sim = await start({ token: "right" });
    for (const path of [
      "/api/deviceclients",
      "/api/transactionmedia/1",
      "/api/remotetrigger/measure",
      "/other",
    ]) {
      for (const authorization of [undefined, "Bearer wrong", "Basic right", "Bearer right "]) {
        const headers = authorization === undefined ? {} : { authorization };
        const response = await fetch(sim.cloud.origin + path, { headers });
        // Header values are trimmed on the way.
        assert.equal(response.status === 401, authorization !== "Bearer right ", `${path} ${authorization}`);
        await response.arrayBuffer();
      }
    }
    assert.equal(sim.newer.actions.measures, 0);
  });

  it("measures remotely in the newer device's shape with transactionId, without image and custom references", async () => {
    const sim = await start();
    const result = await remoteMeasure(sim);
    assert.match(String(result["transactionId"]), /^\d+$/);
    assert.equal(typeof result["transactionId"], "string");
    assert.equal(result["transactionReference"], "T1");
    for (const name of ["imageIdentifier", "customReference1"]) {
      assert.equal(name in result, false);
    }
    assert.deepEqual([result["errorCode"], result["measurementFidelity"]], [0, "0.5"]);
    const media = await mediaOf(sim, String(result["transactionId"]));
    assert.deepEqual(
      media.map((item) => item["description"]),
      ["AnnotatedColorImageJpeg", "ColorImageJpeg", "DepthImage16Bit"],
    );
    assert.equal(sim.newer.actions.measures, 1);
  });

  it("writes transaction ids as told: integers or GUIDs, and finds them by any of theirs", async () => {
    const integers = await start({ transactionIds: "integer" });
    const number = (await remoteMeasure(integers))["transactionId"];
    assert.equal(typeof number, "number");
    assert.equal((await mediaOf(integers, String(number))).length, 3);
    const guids = await start({ transactionIds: "guid" });
    assert.match(
      String((await remoteMeasure(guids))["transactionId"]),
      /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/,
    );
    const [transaction] = guids.cloud.transactions;
    assert.equal((await mediaOf(guids, String(transaction?.legacyId))).length, 3);
    assert.equal((await mediaOf(guids, String(transaction?.guid).toUpperCase())).length, 3);
  });

  it("starts and cancels a recording, and stops one in Video Only alone", async () => {
    const sim = await start();
    const query = `${deviceQuery}&transactionReference=T&cRef1=a&CREF2=b&cref3=c`;
    const response = await trigger(sim, "startrecording", query);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("content-length"), "0");
    assert.equal(response.headers.get("api-supported-versions"), "1.0");
    assert.deepEqual(sim.newer.state.recording?.references, {
      transactionReference: "T",
      customReference1: "a",
      customReference2: "b",
      customReference3: "c",
    });
    assert.equal((await trigger(sim, "stoprecording")).status, 400);
    assert.equal((await trigger(sim, "cancelrecording")).status, 200);
    sim.newer.setMode("video-only");
    await trigger(sim, "startrecording", query);
    assert.equal((await trigger(sim, "stoprecording")).status, 200);
    assert.equal(sim.cloud.transactions[0]?.customReference2, "b");
    sim.newer.setMode("measurement-only");
    assert.equal((await trigger(sim, "startrecording", query)).status, 400);
    const other = await start({ mode: "measurement-only", remoteVideoInWrongMode: 409 });
    assert.equal((await trigger(other, "cancelrecording")).status, 409);
  });

  it("a remote measurement ends the recording and takes the video along", async () => {
    const sim = await start();
    await trigger(sim, "startrecording", `${deviceQuery}&transactionReference=start`);
    const { transactionId } = await remoteMeasure(sim);
    const types = (await mediaOf(sim, String(transactionId))).map((item) => item["contentType"]);
    assert.ok(types.includes("video/mp4"));
    assert.equal(sim.newer.state.recording, null);
  });

  it("answers 400 for a device it doesn't know and for a missing reference", async () => {
    const sim = await start();
    const statuses = [
      await trigger(sim, "measure", "deviceReference=ZZZZ9999&transactionReference=T"),
      await trigger(sim, "measure", "transactionReference=T"),
      await trigger(sim, "measure", deviceQuery),
      await trigger(sim, "startrecording", deviceQuery),
      await trigger(sim, "cancelrecording", "deviceReference="),
    ].map(({ status }) => status);
    assert.deepEqual(statuses, [400, 400, 400, 400, 400]);
    assert.deepEqual(sim.newer.actions, { measures: 0, starts: 0, stops: 0, cancels: 0 });
  });

  it("answers 504 while the device is switched off, also when it goes off during a measurement", async () => {
    const sim = await start({ measureMs: 60 });
    const running = trigger(sim, "measure", `${deviceQuery}&transactionReference=T`);
    await sim.nextEvent(() => sim.newer.actions.measures === 1);
    sim.newer.setPower(false);
    assert.equal((await running).status, 504);
    assert.equal((await trigger(sim, "cancelrecording")).status, 504);
    const [device] = asList(await jsonOf(await cloudGet(sim, "/api/deviceclients")));
    assert.ok(Date.parse(String(device?.["lastHeartbeatUtc"])) <= Date.now());
    sim.newer.setPower(true);
    assert.equal((await remoteMeasure(sim))["errorCode"], 0);
  });

  it("relays the failure of a device in Video Only, or a status", async () => {
    const sim = await start({ mode: "video-only" });
    assert.notEqual((await remoteMeasure(sim))["errorCode"], 0);
    const strict = await start({ mode: "video-only", measureInVideoOnly: 422 });
    assert.equal((await trigger(strict, "measure", `${deviceQuery}&transactionReference=T`)).status, 422);
  });

  it("filters the media list by content type and serves items with parts", async () => {
    const sim = await start();
    const { transactionId } = await remoteMeasure(sim);
    const base = `/api/TransactionMedia/${String(transactionId)}`;
    const jpegs = asList(await jsonOf(await cloudGet(sim, `${base}?ContentType=image%2FJPEG`)));
    assert.equal(jpegs.length, 2);
    assert.deepEqual(await jsonOf(await cloudGet(sim, `${base}?contentType=video/mp4`)), []);
    const item = `${base}/${String(jpegs[0]?.["contentId"])}`;
    const response = await cloudGet(sim, item);
    assert.equal(response.headers.get("content-type"), "image/jpeg");
    const etag = response.headers.get("etag") ?? "";
    const whole = await bytesOf(response);
    const rest = await cloudGet(sim, item, { range: "bytes=9-", "if-range": etag });
    assert.equal(rest.status, 206);
    assert.deepEqual(await bytesOf(rest), whole.subarray(9));
    assert.equal((await cloudGet(sim, `${base}/nothing`)).status, 404);
  });

  it("answers 404 for an unknown transaction, or an empty list where told to", async () => {
    const sim = await start();
    assert.equal((await cloudGet(sim, "/api/transactionmedia/1")).status, 404);
    const lenient = await start({ unknownTransaction: "empty-list" });
    assert.deepEqual(await mediaOf(lenient, "1"), []);
    assert.equal((await cloudGet(lenient, "/api/transactionmedia/1/2")).status, 404);
  });

  it("lists devices and terminals, and one of each", async () => {
    const sim = await start({ cloudDevices: 41 });
    const devices = asList(await jsonOf(await cloudGet(sim, "/api/deviceclients")));
    assert.equal(devices.length, 42);
    const [first] = devices;
    assert.deepEqual(Object.keys(first ?? {}).toSorted(), [
      "appVersion",
      "id",
      "lastHeartbeatUtc",
      "name",
      "registrationCode",
      "terminalId",
    ]);
    assert.equal(first?.["registrationCode"], "ABCD2345");
    assert.equal(new Set(devices.map((device) => device["registrationCode"])).size, 42);
    assert.ok(devices.every((device) => /^[A-Z0-9]{8}$/.test(String(device["registrationCode"]))));
    const one = asObject(await jsonOf(await cloudGet(sim, `/api/deviceClients/${String(first?.["id"])}`)));
    assert.equal(one["name"], first?.["name"]);
    const terminals = asList(await jsonOf(await cloudGet(sim, "/api/terminals")));
    assert.equal(terminals.length, 3);
    assert.equal(typeof terminals[0]?.["id"], "number");
    const id = String(terminals[1]?.["id"]);
    assert.deepEqual(await jsonOf(await cloudGet(sim, `/api/terminals/${id}`)), terminals[1]);
    assert.equal((await cloudGet(sim, "/api/terminals/0")).status, 404);
    assert.equal((await cloudGet(sim, "/api/deviceclients/none")).status, 404);
    const strings = await start({ terminalIds: "string" });
    const [device] = asList(await jsonOf(await cloudGet(strings, "/api/deviceclients")));
    assert.equal(typeof device?.["terminalId"], "string");
  });

  it("routes triggers to the further devices, each a machine of its own", async () => {
    const sim = await start({ cloudDevices: 2 });
    const [own, other] = sim.cloud.devices;
    const query = `deviceReference=${other?.code}&transactionReference=T`;
    assert.equal((await remoteMeasure(sim, query))["errorCode"], 0);
    assert.equal((await trigger(sim, "startrecording", query)).status, 200);
    assert.deepEqual(sim.newer.actions, { measures: 0, starts: 0, stops: 0, cancels: 0 });
    assert.equal(sim.cloud.transactions[0]?.deviceClientId, other?.id);
    assert.notEqual(own?.id, other?.id);
  });

  it("in simulation mode makes values up, contacts no device and stores nothing", async () => {
    const sim = await start({ simulationMode: true });
    sim.newer.setPower(false);
    const results = [await remoteMeasure(sim), await remoteMeasure(sim), await remoteMeasure(sim)];
    assert.ok(results.every((result) => result["errorCode"] === 0 && result["objectCount"] === 1));
    assert.deepEqual([sim.newer.actions.measures, sim.cloud.transactions.length], [0, 0]);
    assert.equal(
      (await trigger(sim, "measure", "deviceReference=ZZZZ9999&transactionReference=T")).status,
      400,
    );
    sim.cloud.setSimulationMode(false);
    assert.equal((await trigger(sim, "measure", `${deviceQuery}&transactionReference=T`)).status, 504);
  });

  it("takes media by hand: bytes, filling, and a video of any length", async () => {
    const sim = await start();
    sim.cloud.addMedia("T-1", { contentType: "image/jpeg", description: "Label", bytes: Buffer.from("abc") });
    const large = sim.cloud.addMedia("T-1", { contentType: "application/pdf", generateBytes: 1_000_000 });
    const film = sim.cloud.addMedia("T-1", { contentType: "video/mp4", generateBytes: 9 * 2 ** 30 });
    const [first] = await mediaOf(sim, "T-1");
    assert.equal(first?.["description"], "Label");
    const get = (id: string, headers = {}): Promise<Response> =>
      cloudGet(sim, `/api/transactionmedia/T-1/${id}`, headers);
    assert.equal((await bytesOf(await get(String(first?.["contentId"])))).toString(), "abc");
    assert.equal((await bytesOf(await get(large.contentId))).length, 1_000_000);
    const tail = await get(film.contentId, { range: "bytes=-7" });
    assert.equal(
      tail.headers.get("content-range"),
      `bytes ${9 * 2 ** 30 - 7}-${9 * 2 ** 30 - 1}/${9 * 2 ** 30}`,
    );
    assert.equal((await bytesOf(tail)).length, 7);
  });

  it("answers 404 for paths that don't exist and 405 for other methods", async () => {
    const sim = await start();
    const headers = { authorization: "Bearer simulator" };
    const post = await fetch(`${sim.cloud.origin}/api/remotetrigger/measure`, { method: "POST", headers });
    assert.equal(post.status, 405);
    for (const path of [
      "/",
      "/api",
      "/api/constructor",
      "/api/transactionmedia",
      "/api/remotetrigger/dance",
      "/api/remotetrigger",
      "/api/a/b/c/d",
      "/api/terminals/1/2",
      "/api/deviceclients/1/2",
      "/cloud/deviceclients",
    ]) {
      assert.equal((await cloudGet(sim, path)).status, 404, path);
    }
  });
});
