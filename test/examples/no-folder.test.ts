import assert from "node:assert/strict";
import { startExamples, type ExamplesRun } from "./several-examples.ts";

describe("the examples, when no folder to save in is set", () => {
  let run: ExamplesRun;

  before(async () => {
    run = await startExamples(["04", "13"], { hasFolder: false });
  });
  after(() => run.close());

  it("04 asks for the folder in one sentence, before anything is done", async () => {
    const debug = "Nothing happened: correct it and press again";
    assert.deepEqual(
      (await run.press("04", "Scan a parcel", [debug])).get(debug),
      "Set the folder to save in: double-click this tab and set ARCHIVE_FOLDER to a folder that exists. Nothing was done.",
    );
    assert.deepEqual(run.simulator.requests, []);
  });

  it("13 says that the folder is missing", async () => {
    const said = await run.press("13", "Scan a parcel", ["What to do"]);
    assert.match(said.get("What to do") ?? "", /DIMENSIONER_ARCHIVE|folder/);
  });
});
