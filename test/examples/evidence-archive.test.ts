import assert from "node:assert/strict";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expectWholePackage } from "./archive.ts";
import { startExamples, type ExamplesRun } from "./several-examples.ts";

const example = "10";

describe("example 10: evidence archive", () => {
  let run: ExamplesRun;

  before(async () => {
    run = await startExamples([example]);
  });
  beforeEach(() => {
    run.simulator.reset();
  });
  after(() => run.close());

  const begins = "Scan: packing begins";
  const packed = "Scan: parcel is packed";

  // The first, since it begins with nothing archived.
  it("checks the archive, finds what was changed and says what cannot be checked, of all packages", async () => {
    const press = (until: readonly string[]) => run.press(example, "At 3 o'clock, or press", until);
    await press(["What the check says", "Not everything could be checked"]);
    const scanned = await run.press(example, packed, ["Archived"]);
    const folder = scanned.get("Archived") ?? "";
    await press(["What the check says", "Everything is as it was archived"]);
    await writeFile(join(folder, "ColorImageJpeg.jpg"), "forged");
    const said = await press(["What the check says", "Something is not as it was archived"]);
    assert.match(said.get("What the check says") ?? "", /ColorImageJpeg\.jpg/);
    await rm(folder, { recursive: true });
    await press(["What the check says", "Something is not as it was archived"]);
  });

  it("keeps all media, the result and the exact answer of a parcel as one package", async () => {
    await run.press(example, begins, ["Recording"]);
    await expectWholePackage((await run.press(example, packed, ["Archived"])).get("Archived") ?? "");
  });

  it("says what holds a job up, which goes on by itself, and what ends one", async () => {
    // Only here: on a busy computer, every parcel may take a few seconds.
    await run.redeploy((node) => ("warnAfter" in node ? { ...node, warnAfter: "5" } : node));
    await run.press(example, begins, ["Recording"]);
    const { faults } = run.simulator;
    const path = "/api/transactionmedia/";
    faults.add({ surface: "cloud", path, times: 0, fault: { kind: "status", status: 401 } });
    const held = await run.press(example, packed, ["Delayed", "Archived"], ({ node, event }) => {
      if (event.kind === "debug" && node.name === "Delayed") {
        faults.clear();
      }
    });
    assert.match(held.get("Delayed") ?? "", /ERR_UNAUTHORIZED/);
    await expectWholePackage(held.get("Archived") ?? "");
    await run.redeploy();
    faults.add({ surface: "cloud", path, times: 1, fault: { kind: "status", status: 410 } });
    const ended = await run.press(example, packed, ["What to do"]);
    assert.match(ended.get("What to do") ?? "", /410/);
  });
});
