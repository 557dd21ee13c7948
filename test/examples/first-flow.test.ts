import { expectWholePackage } from "./archive.ts";
import { startExamples, type ExamplesRun } from "./several-examples.ts";

const example = "00";

describe("example 00: the first flow", function () {
  this.timeout(60_000);
  let run: ExamplesRun;

  before(async () => {
    run = await startExamples([example]);
  });
  after(() => run.close());

  it("keeps the measurement, the images and the video of a parcel as one package", async () => {
    await run.press(example, "Scan: packing begins", ["Recording"]);
    const said = await run.press(example, "Scan: parcel is packed", ["Archived"]);
    await expectWholePackage(said.get("Archived") ?? "");
  });
});
