import assert from "node:assert/strict";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { FlowNode } from "../../tools/demo/examples.ts";
import { expectWholePackage } from "./archive.ts";
import { startExamples, type ExamplesRun } from "./several-examples.ts";

const example = "10";

/** Shorter waits. */
function adapt(node: FlowNode): FlowNode {
  return node.type === "delay" ? { ...node, timeout: "0.2", timeoutUnits: "seconds" } : node;
}

describe("example 10: evidence archive", function () {
  this.timeout(60_000);
  let run: ExamplesRun;

  before(async () => {
    run = await startExamples([example], adapt);
  });
  beforeEach(() => {
    run.simulator.reset();
  });
  after(() => run.close());

  const scan = () => run.press(example, "Scan a parcel", ["Archived"]);

  it("keeps all media, the result and the exact answer of a scan as one package", async () => {
    await expectWholePackage((await scan()).get("Archived") ?? "");
  });

  it("tries again what can pass, and asks a person about the rest", async () => {
    const { faults } = run.simulator;
    faults.add({
      surface: "cloud",
      path: "/api/transactionmedia/",
      times: 1,
      fault: { kind: "status", status: 410 },
    });
    const said = await run.press(example, "Scan a parcel", ["Not archived: needs attention"]);
    assert.match([...said.values()].join(), /410/);
    faults.add({
      surface: "cloud",
      path: "/api/transactionmedia/",
      times: 1,
      fault: { kind: "status", status: 401 },
    });
    const held = await run.press(example, "Scan a parcel", [
      "The archive waits for the network or the disk",
      "Archived",
    ]);
    assert.match(held.get("The archive waits for the network or the disk") ?? "", /token rejected/);
  });

  for (const major of [4, 5] as const) {
    it(`checks the archive, finds what was changed and says what cannot be checked, in any user directory, on Node-RED ${major}`, async () => {
      const other = await startExamples([example], adapt, major);
      try {
        assert.ok(!other.nodeRed.userDir.endsWith(".node-red"));
        const press = (until: readonly string[]) => other.press(example, "At 3 o'clock, or press", until);
        await press(["What the check says", "Not everything could be checked"]);
        const scanned = await other.press(example, "Scan a parcel", ["Archived"]);
        const folder = scanned.get("Archived") ?? "";
        await press(["What the check says", "Everything is as it was archived"]);
        await writeFile(join(folder, "ColorImageJpeg.jpg"), "forged");
        const said = await press(["What the check says", "Something is not as it was archived"]);
        assert.match(said.get("What the check says") ?? "", /ColorImageJpeg\.jpg/);
        await rm(folder, { recursive: true });
        await press(["What the check says", "Something is not as it was archived"]);
      } finally {
        await other.close();
      }
    });
  }
});
