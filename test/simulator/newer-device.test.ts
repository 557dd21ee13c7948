import assert from "node:assert/strict";

import {
  asList,
  asObject,
  bytesOf,
  exchange,
  jsonOf,
  measure,
  requestText,
  useSimulators,
  video,
} from "./support.ts";

const measureFields = [
  "transactionReference",
  "customReference1",
  "customReference2",
  "customReference3",
  "imageIdentifier",
  "elapsedMs",
  "dateTimeLocal",
  "dateTimeUtc",
  "errorCode",
  "errorMessage",
  "objectCount",
  "dimsUnitOfMeasure",
  "weightUnitOfMeasure",
  "measurementFidelity",
  "legalForTrade",
  "weight",
  "objectId",
  "measuredObjects",
];
const objectFields = ["trackId", "errorCode", "errorMessage", "rotationAngle", "length", "width", "height"];

describe("simulator: newer device", () => {
  const start = useSimulators();

  it("measures with exactly the fields of the API", async () => {
    const sim = await start();
    sim.newer.setParcel({ lengthCm: 33.5, widthCm: 21, heightCm: 12.5, weightKg: 1.5 });
    const response = await fetch(`${sim.newer.origin}/api/v1/measure`);
    assert.equal(response.headers.get("content-type"), "application/json; charset=utf-8");
    assert.equal(response.headers.get("api-supported-versions"), "1.0");
    const text = await response.text();
    const result = asObject(JSON.parse(text));
    assert.deepEqual(Object.keys(result).toSorted(), measureFields.toSorted());
    const [object, ...more] = asList(result["measuredObjects"]);
    assert.deepEqual(more, []);
    assert.deepEqual(Object.keys(object ?? {}).toSorted(), objectFields.toSorted());
    assert.equal(result["errorMessage"], "-");
    assert.equal(result["measurementFidelity"], "0.5");
    assert.equal(result["transactionReference"], null);
    assert.match(String(result["dateTimeLocal"]), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d$/);
    assert.match(String(result["dateTimeUtc"]), /Z$/);
    assert.equal(Date.parse(String(result["dateTimeLocal"])), Date.parse(String(result["dateTimeUtc"])));
    // The scale's second decimal is on the wire even where it is 0.
    assert.match(text, /"weight":1\.50[,}]/);
  });

  it("keeps references whatever their names' case and gives them back", async () => {
    const sim = await start();
    const query =
      "?TRANSACTIONREFERENCE=order%201&customreference1=a&CustomReference2=b&customReference3=%26";
    const result = await measure(sim, query);
    assert.deepEqual(
      [1, 2, 3].map((n) => result[`customReference${n}`]),
      ["a", "b", "&"],
    );
    assert.equal(result["transactionReference"], "order 1");
    assert.equal(sim.cloud.transactions[0]?.transactionReference, "order 1");
    assert.equal(sim.cloud.transactions[0]?.customReference3, "&");
  });

  it("measures what lies on the table, also a parcel of one's own, in the units asked for", async () => {
    const sim = await start({ dimsUnit: "mm", weightUnit: "kg" });
    sim.newer.setParcel({ lengthCm: 10.5, widthCm: 20, heightCm: 30, weightKg: 1.5 });
    const result = await measure(sim);
    const [object] = asList(result["measuredObjects"]);
    assert.deepEqual([object?.["length"], object?.["width"], object?.["height"]], [105, 200, 300]);
    assert.deepEqual([result["weight"], result["weightUnitOfMeasure"]], [1.5, "kg"]);
    sim.newer.setParcel("cube");
    assert.equal(asList((await measure(sim))["measuredObjects"])[0]?.["length"], 200);
    assert.throws(() => sim.newer.setParcel("no such thing"), /catalogue has: .*cube/);
  });

  it("fails on an empty table and on a parcel that can't be measured", async () => {
    const sim = await start();
    sim.newer.setParcel(null);
    const empty = await measure(sim);
    assert.deepEqual([empty["errorCode"], empty["objectCount"], empty["measuredObjects"]], [1, 0, []]);
    const size = { lengthCm: 1, widthCm: 1, heightCm: 1, weightKg: 1 };
    sim.newer.setParcel({ ...size, errorCode: 17, errorMessage: "Too shiny" });
    const shiny = await measure(sim);
    assert.deepEqual([shiny["errorCode"], shiny["errorMessage"]], [17, "Too shiny"]);
    assert.equal(sim.newer.actions.measures, 2);
  });

  it("says legal for trade only in that mode", async () => {
    const sim = await start({ mode: "legal-for-trade" });
    assert.equal((await measure(sim))["legalForTrade"], true);
    sim.newer.setMode("measurement-only");
    assert.equal((await measure(sim))["legalForTrade"], false);
  });

  it("never measures in Video Only; the refusal is a failed result or a status", async () => {
    const sim = await start({ mode: "video-only" });
    assert.notEqual((await measure(sim))["errorCode"], 0);
    assert.deepEqual([sim.newer.actions.measures, sim.cloud.transactions.length], [0, 0]);
    const strict = await start({ mode: "video-only", measureInVideoOnly: 409 });
    assert.equal((await fetch(`${strict.newer.origin}/api/v1/measure`)).status, 409);
  });

  it("takes its time, and one measurement after the other", async () => {
    const sim = await start({ measureMs: 30 });
    const begin = Date.now();
    const results = await Promise.all([measure(sim), measure(sim)]);
    assert.ok(Date.now() - begin >= 58, "two measurements of 30 ms, one after the other");
    assert.ok(results.every((result) => Number(result["elapsedMs"]) >= 30));
  });

  it("serves the images of a measurement by kind", async () => {
    const sim = await start();
    const id = String((await measure(sim))["imageIdentifier"]);
    const get = (path: string): Promise<Response> => fetch(`${sim.newer.origin}/api/v1/image/${path}`);
    const annotated = await get(id);
    assert.equal(annotated.headers.get("content-type"), "image/jpeg");
    const plain = await bytesOf(annotated);
    assert.deepEqual([...plain.subarray(0, 3)], [0xff, 0xd8, 0xff]);
    assert.deepEqual(await bytesOf(await get(`annotatedcolor/${id}`)), plain);
    assert.notDeepEqual(await bytesOf(await get(`color/${id}`)), plain);
    const depth = await get(`depth/${id}`);
    assert.equal(depth.headers.get("content-type"), "image/bmp");
    assert.equal((await bytesOf(depth)).subarray(0, 2).toString(), "BM");
    assert.equal((await get(`color/${crypto.randomUUID()}`)).status, 404);
    assert.equal((await get(`infrared/${id}`)).status, 404);
  });

  it("echoes a ping", async () => {
    const sim = await start();
    const ping = async (path: string): Promise<unknown> => jsonOf(await fetch(sim.newer.origin + path));
    assert.deepEqual(await ping("/api/v1/ping/hello%20there"), { msg: "hello there" });
    assert.deepEqual(await ping("/api/v1/ping"), { msg: "" });
  });

  it("answers 404 without the local API and 405 for the wrong method", async () => {
    const sim = await start();
    assert.equal((await fetch(`${sim.newer.origin}/api/measure`)).status, 404);
    assert.equal((await fetch(`${sim.newer.origin}/api/v1/measure`, { method: "POST" })).status, 405);
    assert.equal((await fetch(`${sim.newer.origin}/api/v1/video/start`)).status, 405);
    sim.newer.setLocalApi(false);
    assert.equal((await fetch(`${sim.newer.origin}/api/v1/measure`)).status, 404);
    assert.equal(await video(sim, "start"), 404);
    assert.deepEqual(sim.newer.actions, { measures: 0, starts: 0, stops: 0, cancels: 0 });
  });

  it("follows dot segments as servers in the field do: an id of ../measure measures", async () => {
    const sim = await start();
    for (const path of ["/api/v1/image/../measure", "/api/v1/image/%2e%2e/measure"]) {
      const { text } = await exchange(sim.newer.port, requestText(path, "GET", "Connection: close\r\n"));
      assert.match(text, /^HTTP\/1\.1 200 /);
    }
    assert.equal(sim.newer.actions.measures, 2);
    assert.equal(sim.requests[0]?.path, "/api/v1/image/../measure");
  });

  it("sends chunked bodies and no version header when told to", async () => {
    const sim = await start({ chunkedBodies: true, versionHeader: false });
    const response = await fetch(`${sim.newer.origin}/api/v1/measure`);
    assert.equal(response.headers.get("content-length"), null);
    assert.equal(response.headers.get("transfer-encoding"), "chunked");
    assert.equal(response.headers.get("api-supported-versions"), null);
    assert.equal(asObject(await jsonOf(response))["errorCode"], 0);
  });

  it("is gone when switched off, and back when switched on", async () => {
    const sim = await start();
    await video(sim, "start");
    sim.newer.setPower(false);
    await assert.rejects(fetch(`${sim.newer.origin}/api/v1/ping`));
    assert.equal(await sim.newer.scanAtDevice("123"), "nothing");
    sim.newer.setPower(true);
    assert.equal((await measure(sim))["errorCode"], 0);
    assert.equal(sim.newer.state.recording, null);
  });
});
