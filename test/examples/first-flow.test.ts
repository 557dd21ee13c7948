import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { filesIn, readJson, sha256 } from "./archive.ts";
import { startExamples, type ExamplesRun } from "./several-examples.ts";

const example = "00";

describe("example 00: the first flow", function () {
  this.timeout(60_000);
  let run: ExamplesRun;

  before(async () => {
    run = await startExamples([example]);
  });
  after(() => run.close());

  it("keeps the measurement, the pictures and the film of a parcel as one package", async () => {
    await run.press(example, "Scan: packing begins", ["Recording"]);
    const said = await run.press(example, "Scan: parcel is packed", ["Archived"]);
    const folder = said.get("Archived") ?? "";
    assert.deepEqual(await filesIn(folder), [
      "AnnotatedColorImageJpeg.jpg",
      "ColorImageJpeg.jpg",
      "ColorVideoMp4.mp4",
      "DepthImage16Bit.bmp",
      "manifest.json",
      "measurement.json",
      "measurement.raw",
    ]);
    const manifest = await readJson(join(folder, "manifest.json"));
    assert.equal(manifest["complete"], true);
    for (const { path, sha256: hash } of manifest["items"] as { path: string; sha256: string }[]) {
      assert.equal(sha256(await readFile(join(folder, path))), hash);
    }
  });
});
