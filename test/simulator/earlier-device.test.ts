import assert from "node:assert/strict";

import { asList, asObject, jsonOf, useSimulators } from "./support.ts";

const fields = [
  "elapsedMilliseconds",
  "dateTimeLocal",
  "dateTimeUtc",
  "errorCode",
  "errorMessage",
  "objectCount",
  "unitOfMeasure",
  "measurementFidelity",
  "dimensionsLegalForTrade",
  "imageId",
  "measuredObjects",
];

describe("simulator: earlier device", () => {
  const start = useSimulators();
  const measure = async (origin: string): Promise<Record<string, unknown>> =>
    asObject(await jsonOf(await fetch(`${origin}/api/measure`)));

  it("measures with exactly the fields of the API", async () => {
    const { earlier } = await start();
    const result = await measure(earlier.origin);
    assert.deepEqual(Object.keys(result).toSorted(), fields.toSorted());
    assert.deepEqual([result["errorMessage"], result["measurementFidelity"]], ["(0) - SUCCESS", 0.2]);
    assert.equal(asList(result["measuredObjects"])[0]?.["length"], 33.5);
    assert.equal(earlier.actions.measures, 1);
  });

  it("has the variant with image fields, all null", async () => {
    const { earlier } = await start({ earlierImageFields: true });
    const { depthImage, colorImage, annotatedColorImage } = await measure(earlier.origin);
    assert.deepEqual([depthImage, colorImage, annotatedColorImage], [null, null, null]);
  });

  it("has a table and a legal-for-trade switch of its own, and sends nothing to the cloud", async () => {
    const sim = await start();
    sim.earlier.setParcel(null);
    sim.earlier.setLegalForTrade(true);
    const result = await measure(sim.earlier.origin);
    assert.deepEqual([result["errorCode"], result["objectCount"]], [1, 0]);
    assert.equal(result["errorMessage"], "(1) - No object on the table");
    assert.equal(result["dimensionsLegalForTrade"], true);
    assert.equal(sim.newer.state.parcel?.lengthCm, 33.5);
    assert.equal(sim.cloud.transactions.length, 0);
  });

  it("echoes a ping, and has no images, no version and no other method", async () => {
    const { earlier } = await start();
    const status = async (path: string, method = "GET"): Promise<number> =>
      (await fetch(earlier.origin + path, { method })).status;
    assert.deepEqual(await jsonOf(await fetch(`${earlier.origin}/api/ping/abc`)), { msg: "abc" });
    assert.equal(await status("/api/v1/measure"), 404);
    assert.equal(await status("/api/image/1"), 404);
    assert.equal(await status("/api/measure", "POST"), 405);
    assert.equal(earlier.actions.measures, 0);
  });
});
