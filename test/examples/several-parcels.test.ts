import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { openEditorEvents } from "../support/run-flow.ts";
import { nodeNamed, readExample } from "../support/examples.ts";
import { startExamples, type ExamplesRun } from "./several-examples.ts";
import { measureEach, severalParcels } from "./several-parcels.ts";

const barcode = "395212340000004173";
const scan = "Scan a parcel";

describe("the examples, when several parcels lie on the table", () => {
  let run: ExamplesRun;

  before(async () => {
    // No port for the scanners of examples 07 and 11.
    run = await startExamples(["06", "07", "08", "09", "11", "16", "17", "18", "22"], {
      adapt: (node) => ({
        ...node,
        ...(node.type === "tcp in" ? { d: true } : {}),
        ...(node.type === "dimensioner-scan" ? { dedupe: "0" } : {}),
      }),
    });
  });
  beforeEach(() => run.simulator.reset());
  after(() => run.close());

  const said = async (
    example: string,
    button: string,
    debug: string,
    surface: "newer" | "earlier" = "newer",
  ): Promise<string> => {
    run.simulator.faults.add(severalParcels(surface));
    return (await run.press(example, button, [debug])).get(debug) ?? "";
  };

  for (const [example, button, debug] of [
    ["06", scan, "Measured"],
    ["07", scan, "Measured"],
    ["22", "Measure a parcel", "Result"],
  ] as const) {
    it(`${example} shows below its node how many there are`, async () => {
      const { id } = nodeNamed(await readExample(example), debug);
      const statuses = new EventEmitter();
      const events = await openEditorEvents(
        run.nodeRed.url,
        ({ kind, nodeId, text }) => kind === "status" && nodeId === id && statuses.emit("shown", text),
        () => undefined,
      );
      const shown = once(statuses, "shown");
      await said(example, button, debug);
      assert.deepEqual(await shown, ["2 objects together"]);
      events.close();
    });
  }

  it("08 tells the page, as something to correct", async () => {
    run.simulator.faults.add(severalParcels("newer"));
    const answer = await run.nodeRed.adminFetch("/dimensioner/packing-table", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ barcode }),
    });
    assert.deepEqual([answer.status, await answer.json()], [422, { text: measureEach }]);
  });

  it("09, 11 and 16 say so in their line", async () => {
    assert.equal(await said("09", "Scan a parcel at dock 1", "Measured"), `Dock 1: ${measureEach}`);
    assert.equal(
      await said("09", "Scan a parcel at dock 2", "Measured", "earlier"),
      `Dock 2: ${measureEach}`,
    );
    assert.equal(await said("11", "Scan a UPS label", "Measured"), `1Z5R89390357567127: ${measureEach}; UPS`);
    assert.equal(await said("16", scan, "Measured"), measureEach);
  });

  it("17 prints no label and 18 posts nothing, and both say what to do", async () => {
    for (const example of ["17", "18"]) {
      assert.match(
        await said(example, scan, "What to do"),
        /Several objects were measured together\. Measure each parcel on its own\./,
      );
    }
  });
});
