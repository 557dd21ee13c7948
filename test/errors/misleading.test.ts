import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CloudClient } from "../../src/cloud/client.ts";
import { DeviceClient } from "../../src/device/client.ts";
import { startSimulator } from "../../src/simulator/index.ts";
import { failureOf } from "../support/failures.ts";
import { TestFlow } from "../support/flow.ts";
import { closesAfterEach } from "../support/opened.ts";
import { startServer } from "../support/servers.ts";
import { storeNode } from "../support/store-node.ts";
import { identity } from "../support/tls.ts";

const config = { id: "device", type: "dimensioner-device" } as const;

describe("errors name the actual cause", () => {
  const opened = closesAfterEach();
  let flow: TestFlow | undefined;
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "misleading-"));
  });
  afterEach(async () => {
    await flow?.stop();
    flow = undefined;
    await rm(folder, { recursive: true });
  });

  it("says Enable Local API and the generation for every command of a device whose local API is off", async () => {
    const sim = opened(await startSimulator());
    sim.newer.setLocalApi(false);
    flow = await TestFlow.start([
      { ...config, address: sim.newer.origin },
      { id: "measure", z: "tab", type: "dimensioner-measure", device: "device" },
      { id: "video", z: "tab", type: "dimensioner-video-control", device: "device", action: "msg" },
    ]);
    const ends = [
      await flow.run("measure", {}),
      await flow.run("video", { action: "start" }),
      await flow.run("video", { action: "stop" }),
      await flow.run("video", { action: "cancel" }),
    ];
    for (const { error } of ends) {
      assert.equal(error?.code, "ERR_NOT_FOUND");
      assert.match(error.message, /Enable Local API .* generation in the device config node/);
    }
    const device = opened(new DeviceClient({ address: sim.newer.origin }));
    const ping = await failureOf(device.ping());
    assert.match(ping.message, /Enable Local API .* generation\.$/);
  });

  it("names Enable Local API beside the id where a picture or a video is not there", async () => {
    const sim = opened(await startSimulator());
    sim.newer.setLocalApi(false);
    flow = await TestFlow.start([
      { ...config, address: sim.newer.origin },
      { id: "image", z: "tab", type: "dimensioner-fetch-image", device: "device" },
      { id: "video", z: "tab", type: "dimensioner-fetch-video", device: "device", wait: 0 },
    ]);
    const image = await flow.run("image", { imageIdentifier: "123" });
    assert.equal(image.error?.code, "ERR_NOT_FOUND");
    assert.match(image.error.message, /image identifier .* Enable Local API/);
    const video = await flow.run("video", {});
    assert.equal(video.error?.code, "ERR_NO_VIDEO");
    assert.match(video.error.cause.hint, /Enable Local API/);
  });

  it("says of the cloud's 404 what is missing, and nothing of a local API", async () => {
    const sim = opened(await startSimulator());
    const cloud = opened(new CloudClient({ baseUrl: sim.cloud.origin, token: sim.cloud.token }));
    const { message } = await failureOf(cloud.device("nobody"));
    assert.match(message, /has nothing at \/api\/deviceClients\/nobody\. Check the ID/);
    assert.doesNotMatch(message, /Local API/);
  });

  it("names the code and the operating mode where the cloud rejects a request for a device", async () => {
    const sim = opened(await startSimulator({ mode: "measurement-only" }));
    const cloud = opened(new CloudClient({ baseUrl: sim.cloud.origin, token: sim.cloud.token }));
    const [dock] = await cloud.devices();
    const wrongMode = await failureOf(
      cloud.startVideo(dock?.registrationCode ?? "", { transactionReference: "x" }),
    );
    const unknownCode = await failureOf(cloud.stopVideo("ZZZZ9999"));
    for (const { code, message } of [wrongMode, unknownCode]) {
      assert.equal(code, "ERR_BAD_DEVICE_REFERENCE");
      assert.match(message, /registration code and its operating mode/);
    }
  });

  it("names the operating mode where a device in Video Only is to measure", async () => {
    const sim = opened(await startSimulator({ mode: "video-only" }));
    flow = await TestFlow.start([
      { ...config, address: sim.newer.origin },
      { id: "measure", z: "tab", type: "dimensioner-measure", device: "device" },
    ]);
    const { error } = await flow.run("measure", {});
    assert.equal(error?.code, "ERR_MEASURE_FAILED");
    assert.match(error.message, /operating mode/);
    assert.match(error.cause.hint, /Video Only a device never measures/);
  });

  it("says that a port has no HTTPS, without OpenSSL's words, and what the device dialog can do about it", async () => {
    const http = opened(await startSimulator());
    const silent = opened(
      await startServer(() => undefined, { onConnection: (socket) => socket.end("hello\r\n") }),
    );
    for (const { port } of [new URL(http.newer.origin), silent]) {
      const device = opened(new DeviceClient({ address: `https://127.0.0.1:${port}` }));
      const cloud = opened(new CloudClient({ baseUrl: `https://127.0.0.1:${port}`, token: "t" }));
      for (const error of [await failureOf(device.measure()), await failureOf(cloud.devices())]) {
        assert.equal(error.code, "ERR_UNREACHABLE");
        assert.equal(error.details.outcome, error.details.surface === "cloud" ? null : "not-sent");
        assert.match(error.message, /^127\.0\.0\.1:\d+ does not use HTTPS on this port\. /);
        assert.equal(/with http:\/\//.test(error.message), error.details.surface !== "cloud");
      }
    }
    const own = opened(await startServer(() => undefined, { tls: identity("self-signed") }));
    const untrusted = opened(new DeviceClient({ address: own.origin }));
    const { message, details } = await failureOf(untrusted.measure());
    assert.match(
      message,
      /No secure connection to .*: self-signed certificate\. .* the device's certificate\.$/,
    );
    assert.doesNotMatch(message + details.hint, /TLS settings|tls-config/);
  });

  it("says in the archive what is missing where nobody knows which device has measured", async () => {
    const sim = opened(await startSimulator());
    flow = await TestFlow.start(
      [
        { ...config, address: sim.newer.origin },
        { id: "cloud", type: "dimensioner-cloud", baseUrl: sim.cloud.origin },
        { id: "measure", z: "tab", type: "dimensioner-measure", device: "device" },
        storeNode(folder, "store"),
        { id: "archive", z: "tab", type: "dimensioner-archive", cloud: "cloud", store: "store" },
      ],
      { cloud: { token: sim.cloud.token } },
    );
    const { sent } = await flow.run("measure", {});
    const { error } = await flow.run("archive", { payload: sent[0]?.msg["payload"] });
    assert.equal(error?.code, "ERR_INPUT");
    assert.match(error.message, /msg\.measuredBy is missing/);
    const { error: none } = await flow.run("archive", { payload: "nothing" });
    assert.match(
      none?.message ?? "",
      /^The measurement is not on the message any more.*msg\.measuredBy are missing/,
    );
    assert.match(none?.cause.hint ?? "", /return msg/);
  });
});
