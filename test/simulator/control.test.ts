import assert from "node:assert/strict";
import { once } from "node:events";
import { get } from "node:http";
import { connect } from "node:net";

import type { Simulator } from "../../src/simulator/index.ts";
import {
  asList,
  asObject,
  exchange,
  jsonOf,
  measure,
  requestText,
  useSimulators,
  video,
  type Json,
} from "./support.ts";

describe("simulator: control port", () => {
  const start = useSimulators();

  async function post(sim: Simulator, path: string, body: unknown): Promise<{ status: number; body: Json }> {
    const headers = { "content-type": "application/json" };
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const response = await fetch(sim.control.origin + path, { method: "POST", headers, body: text });
    const answer = await response.text();
    return { status: response.status, body: answer === "" ? {} : asObject(JSON.parse(answer)) };
  }
  const read = async (sim: Simulator, path: string): Promise<unknown> =>
    jsonOf(await fetch(sim.control.origin + path));

  it("lists what it can do, and tells the state", async () => {
    const sim = await start();
    const index = asObject(await read(sim, "/"));
    assert.equal(index["name"], "dimensioner simulator");
    assert.ok(JSON.stringify(index["routes"]).includes("POST /faults"));
    await video(sim, "start", "?transactionReference=x");
    const state = asObject(await read(sim, "/state"));
    const newer = asObject(state["newer"]);
    assert.equal(newer["mode"], "video-with-measurement");
    assert.equal(asObject(asObject(newer["recording"])["references"])["transactionReference"], "x");
    assert.deepEqual(asObject(newer["actions"])["starts"], 1);
    assert.equal(asObject(state["cloud"])["deviceCode"], "ABCD2345");
  });

  it("changes mode, parcel, power and switches", async () => {
    const sim = await start();
    assert.equal((await post(sim, "/mode", { mode: "video-only" })).status, 204);
    assert.equal(sim.newer.state.mode, "video-only");
    await post(sim, "/parcel", { parcel: "cube" });
    assert.equal(sim.newer.state.parcel?.lengthCm, 20);
    const own = { lengthCm: 1, widthCm: 2, heightCm: 3, weightKg: 4, errorCode: 9, errorMessage: "x" };
    await post(sim, "/parcel", { device: "earlier", parcel: own });
    assert.equal(sim.earlier.state.parcel?.errorCode, 9);
    await post(sim, "/parcel", { parcel: null });
    assert.equal(asObject(asObject(await read(sim, "/state"))["newer"])["parcel"], null);
    await post(sim, "/power", { on: false });
    await post(sim, "/local-api", { on: false });
    await post(sim, "/legal-for-trade", { on: true });
    await post(sim, "/simulation-mode", { on: true });
    await post(sim, "/records", { clockAheadMs: -1000, dimsUnit: "in" });
    await post(sim, "/records", { customReferences: false });
    assert.deepEqual(sim.cloud.records, { clockAheadMs: -1000, dimsUnit: "in", customReferences: false });
    assert.equal((await post(sim, "/records", { clockAheadMs: 1e300 })).status, 400);
    assert.deepEqual([sim.newer.powered, sim.newer.localApi], [false, false]);
    assert.deepEqual([sim.earlier.state.legalForTrade, sim.cloud.simulationMode], [true, true]);
    assert.equal((await post(sim, "/reset", {})).status, 204);
    assert.deepEqual([sim.newer.powered, sim.newer.localApi, sim.cloud.simulationMode], [true, true, false]);
    assert.equal(sim.newer.state.parcel?.lengthCm, 33.5);
  });

  it("scans, places media, and lists transactions and posts", async () => {
    const sim = await start();
    assert.deepEqual((await post(sim, "/scan", { barcode: "VIDEO_START" })).body, {
      did: "recording-started",
    });
    assert.deepEqual((await post(sim, "/scan", { barcode: "1" })).body, { did: "measured" });
    const media = { transactionId: "T", contentType: "Video/MP4", generateBytes: 1000 };
    const placed = await post(sim, "/media", media);
    assert.deepEqual([placed.status, placed.body["contentType"]], [201, "video/mp4"]);
    const transactions = asList(await read(sim, "/transactions"));
    assert.deepEqual(
      transactions.map(({ kind }) => kind),
      ["measurement", "by-hand"],
    );
    assert.deepEqual(await read(sim, "/webhooks"), []);
  });

  it("presses the buttons of the devices, and shows what came of it", async () => {
    const sim = await start({ mode: "video-only", parcel: "cube" });
    const press = async (button: string, device = "newer"): Promise<unknown> =>
      (await post(sim, "/press", { device, button })).body["did"];
    assert.equal(await press("start"), "recording-started");
    assert.equal(await press("measure"), "nothing");
    assert.equal(await press("stop"), "recording-stopped");
    assert.ok(sim.newer.state.savedVideo);
    assert.equal(await press("cancel"), "recording-cancelled");
    assert.equal(sim.newer.state.savedVideo, null);
    sim.newer.setMode("measurement-only");
    assert.equal(await press("start"), "nothing");
    assert.equal(await press("measure"), "measured");
    const { last } = sim.newer.state;
    assert.deepEqual([last?.trigger, last?.measurement.object?.length], ["button", 20]);
    assert.deepEqual([sim.cloud.transactions.at(-1)?.id, last?.barcode], [last?.transactionId, null]);
    sim.newer.setPower(false);
    assert.equal(sim.newer.state.last, null);
    assert.equal(await press("measure"), "nothing");
    assert.equal(await press("measure", "earlier"), "measured");
    assert.equal(sim.earlier.state.last?.object?.height, 20);
    assert.equal((await post(sim, "/press", { device: "earlier", button: "start" })).status, 400);
    assert.deepEqual(sim.requests, []);
  });

  it("shows pictures and videos without a request to a device or the cloud", async () => {
    const sim = await start({ mode: "video-only", parcel: "polybag" });
    const file = async (path: string, headers: Record<string, string> = {}): Promise<[number, number]> => {
      const response = await fetch(sim.control.origin + path, { headers });
      assert.equal(response.headers.get("x-content-type-options"), "nosniff");
      return [response.status, (await response.arrayBuffer()).byteLength];
    };
    await sim.newer.scanAtDevice("VIDEO_START");
    await sim.newer.pressAtDevice("stop");
    const { savedVideo } = sim.newer.state;
    assert.ok(savedVideo);
    const video = `/video/${savedVideo.recordingId}`;
    assert.deepEqual(await file(video), [200, savedVideo.bytes]);
    assert.deepEqual(await file(video, { range: "bytes=10-19" }), [206, 10]);
    sim.newer.setMode("measurement-only");
    assert.deepEqual((await file(video))[0], 404);
    await sim.newer.pressAtDevice("measure");
    const image = `/images/${sim.newer.state.last?.imageIdentifier}`;
    assert.deepEqual(await file(`${image}/depth`), await file("/catalogue/polybag/depth"));
    assert.deepEqual((await file(`${image}/video`))[0], 404);
    assert.deepEqual((await file("/catalogue/polybag/video"))[0], 200);
    const [transaction] = sim.cloud.transactions;
    const [item] = transaction?.media ?? [];
    assert.deepEqual(await file(`/media/${transaction?.id}/${item?.contentId}`), [200, savedVideo.bytes]);
    for (const path of [
      "/catalogue/x/color",
      "/catalogue/cube/x",
      "/video/x",
      "/media/x/y",
      "/media/",
      "/x",
    ]) {
      assert.equal((await file(path))[0], 404, path);
    }
    assert.deepEqual(sim.requests, []);
  });

  it("sets, lists and removes faults", async () => {
    const sim = await start();
    const { status, body } = await post(sim, "/faults", {
      surface: "newer",
      times: 0,
      fault: { kind: "close" },
    });
    assert.equal(status, 201);
    assert.equal((await exchange(sim.newer.port, requestText("/api/v1/ping"))).bytes.length, 0);
    const [listed] = asList(await read(sim, "/faults"));
    assert.deepEqual([listed?.["id"], listed?.["applied"]], [body["id"], 1]);
    const remove = async (path: string): Promise<number> =>
      (await fetch(sim.control.origin + path, { method: "DELETE" })).status;
    assert.equal(await remove(`/faults/${String(body["id"])}`), 204);
    assert.equal(await remove(`/faults/${String(body["id"])}`), 404);
    await post(sim, "/faults", { fault: { kind: "close" } });
    assert.equal(await remove("/faults"), 204);
    assert.deepEqual(sim.faults.list(), []);
    assert.equal((await measure(sim))["errorCode"], 0);
  });

  it("lists requests by surface, path, number and limit", async () => {
    const sim = await start();
    for (let n = 0; n < 3; n += 1) {
      await measure(sim, `?n=${n}`);
    }
    await fetch(`${sim.earlier.origin}/api/ping`);
    const list = async (query: string): Promise<unknown[]> =>
      asList(await read(sim, `/requests${query}`)).map(({ id }) => id);
    assert.deepEqual(await list(""), [1, 2, 3, 4]);
    assert.deepEqual(await list("?surface=newer&since=1"), [2, 3]);
    assert.deepEqual(await list("?path=/api/ping"), [4]);
    assert.deepEqual(await list("?limit=1"), [4]);
    assert.deepEqual(await list("?limit=0"), []);
    const [first] = asList(await read(sim, "/requests"));
    assert.deepEqual([first?.["outcome"], first?.["statusCode"], first?.["query"]], ["answered", 200, "n=0"]);
    assert.equal((await fetch(`${sim.control.origin}/requests?surface=moon`)).status, 400);
  });

  it("says what is wrong with a request", async () => {
    const sim = await start();
    const refused = async (path: string, body: unknown): Promise<[number, unknown]> => {
      const answer = await post(sim, path, body);
      return [answer.status, answer.body["error"]];
    };
    assert.match(String((await refused("/mode", { mode: "x" }))[1]), /^mode: .*"video-only"/);
    assert.match(String((await refused("/parcel", { parcel: "x" }))[1]), /catalogue has .*cube/);
    assert.match(String((await refused("/faults", { fault: { kind: "x" } }))[1]), /fault/);
    assert.deepEqual(await refused("/mode", "{"), [400, "The body is not JSON"]);
    assert.equal((await refused("/mode", ""))[0], 400);
    assert.equal((await refused("/nothing", {}))[0], 404);
    assert.equal((await refused("/mode", { mode: "x".repeat(6_000_000) }))[0], 413);
    assert.equal((await fetch(`${sim.control.origin}/state`, { method: "PUT" })).status, 404);
  });

  it("takes JSON only: what a foreign page can send without asking is refused", async () => {
    const sim = await start();
    for (const type of ["text/plain", "application/x-www-form-urlencoded", undefined]) {
      const headers: Record<string, string> = type === undefined ? {} : { "content-type": type };
      const body = Buffer.from('{"on":false}');
      const response = await fetch(`${sim.control.origin}/power`, { method: "POST", headers, body });
      assert.equal(response.status, 415);
    }
    assert.equal(sim.newer.powered, true);
  });

  it("refuses foreign names in the Host header, and takes addresses and localhost", async () => {
    const sim = await start();
    const status = async (host: string): Promise<string | undefined> => {
      const request = `GET /state HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
      return /^HTTP\/1\.1 (\d+)/.exec((await exchange(sim.control.port, request)).text)?.[1];
    };
    const { port } = sim.control;
    for (const own of [`127.0.0.1:${port}`, `localhost:${port}`, "LOCALHOST", `[::1]:${port}`]) {
      assert.equal(await status(own), "200", own);
    }
    for (const foreign of [`evil.example:${port}`, "localhost.evil.example", "a b", ""]) {
      assert.equal(await status(foreign), "403", foreign);
    }
  });

  it("streams state, requests, transactions and media as they happen", async () => {
    const sim = await start();
    const request = get(`${sim.control.origin}/events`);
    const [response] = await once(request, "response");
    response.setEncoding("utf8");
    let text = "";
    const seen = (part: string): Promise<void> =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!text.includes(part)) {
            return;
          }
          response.off("data", look);
          resolve();
        };
        response.on("data", look);
        look();
      });
    response.on("data", (chunk: string) => {
      text += chunk;
    });
    assert.equal(response.headers["content-type"], "text/event-stream");
    await seen("event: state\n");
    await measure(sim);
    for (const event of ["request", "settled", "transaction", "media"]) {
      await seen(`event: ${event}\ndata: {`);
    }
    await seen('"measures":1');
    assert.match(text, /^retry: 1000\n/);
    for (const block of text.trim().split(/^retry: 1000\n|\n\n/)) {
      if (block === "") {
        continue;
      }
      assert.match(block, /^event: \w+\ndata: /);
      JSON.parse(block.slice(block.indexOf("data: ") + 6));
    }
    request.destroy();
  });

  it("begins with the latest events, and reports applied faults and a reset", async () => {
    const sim = await start();
    for (let n = 0; n < 3; n += 1) {
      await measure(sim, `?n=${n}`);
    }
    const response = await fetch(`${sim.control.origin}/events?recent=2`);
    assert.ok(response.body);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    const seen = async (part: string): Promise<void> => {
      while (!text.includes(part)) {
        text += (await reader.read()).value ?? assert.fail("the stream ended");
      }
    };
    await seen("event: state\n");
    const recent = asObject(JSON.parse(/^event: recent\ndata: (.*)$/m.exec(text)?.[1] ?? ""));
    assert.deepEqual(
      asList(recent["requests"]).map(({ query }) => query),
      ["n=1", "n=2"],
    );
    assert.deepEqual([asList(recent["transactions"]).length, recent["webhooks"]], [2, []]);
    sim.faults.add({ times: 0, fault: { kind: "status", status: 503 } });
    await seen('"applied":0');
    await fetch(`${sim.newer.origin}/api/v1/ping`);
    await seen('"applied":1');
    sim.reset();
    await seen("event: reset\n");
    await reader.cancel();
    assert.equal((await fetch(`${sim.control.origin}/events?recent=all`)).status, 400);
  });

  it("closes the connection of a client that does not read", async () => {
    const sim = await start();
    const socket = connect(sim.control.port, "127.0.0.1");
    socket.write(requestText("/events"));
    await once(socket, "readable");
    socket.on("error", () => undefined);
    const filling = "x".repeat(7000);
    while (sim.control.connections > 0) {
      await measure(sim, `?TransactionReference=${filling}`);
    }
    socket.destroy();
  });
});
