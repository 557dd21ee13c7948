import assert from "node:assert/strict";
import { withFolder } from "../media/support.ts";
import { archive, ArchiveSuite } from "./archive-suite.ts";

/** Objects in lists that are in lists: small, but its JSON would have a billion of these. */
function repeated(levels: number): unknown {
  return levels === 0 ? { length: 33.5 } : Array<unknown>(2).fill(repeated(levels - 1));
}

describe("dimensioner-archive with values that are small but long as JSON", () => {
  const suite = new ArchiveSuite();

  const circle: Record<string, unknown> = { measuredObjects: [] };
  circle["itself"] = circle;
  for (const [what, message, problem] of [
    ["a measurement", { payload: { measuredObjects: [], more: repeated(30) } }, /are larger than 16 MB/],
    [
      "a measurement with a Buffer",
      { measurement: { measuredObjects: [], picture: Buffer.alloc(200_000_000) } },
      /are larger than 16 MB/,
    ],
    ["a property to keep", { order: { lines: repeated(30) } }, /are larger than 1 MB/],
    [
      "two properties to keep",
      { topic: "x".repeat(600_000), order: "x".repeat(600_000) },
      /are larger than 1 MB/,
    ],
    ["a property that refers to itself", { order: circle }, /is not plain data/],
    ["a measurement that refers to itself", { payload: circle }, /is not plain data/],
  ] as const) {
    it(`refuses ${what}, and asks the cloud nothing`, async () => {
      await withFolder(async (root) => {
        const test = await suite.start(root, archive(root, { keep: "order" }));
        const { error, sent } = await test.run("node", { transactionId: "1", ...message });
        assert.equal(error?.code, "ERR_INPUT");
        assert.match(error.message, problem);
        assert.deepEqual([sent.length, suite.sim.requests.length], [0, 0]);
      });
    });
  }
});
