import assert from "node:assert/strict";
import { failAtEach, PointCounter } from "../sweep/fault-points.ts";
import { beginnings, codes, hangs, runWithFailingCall, type Beginning, type Effect } from "./failing-disk.ts";

/**
 * The first call of each kind hangs, and of the others one in three hangs or fails in these ways in turn; test/long/archive-disk.ts tries
 * all ways, and more error codes, on each call.
 */
const effects: readonly Effect[] = [hangs[0], codes[0], hangs[1], codes[1], hangs[2], codes[2], codes[3]];

const oneIn = 3;

describe("archive: P17, a disk on which any single call hangs or fails", () => {
  const others = new Set<string>();

  for (const beginning of Object.keys(beginnings) as Beginning[]) {
    it(`a close ends in time, another store goes on, nothing is lost and nothing is left over (${beginning})`, async () => {
      await failAtEach(async (points) => {
        // Each kind of call hangs the first time.
        const inTurn = others.has(points.name ?? "") ? effects : hangs;
        const effect = inTurn[points.at % inTurn.length] ?? assert.fail();
        await runWithFailingCall(beginning, effect, points, others);
      }, oneIn);
    });
  }

  it("a package whose rename hangs for a minute has its place in the chain, whatever is archived when it answers", async () => {
    const counter = new PointCounter();
    await runWithFailingCall("new", "hangs for a minute", counter);
    for (const [index] of counter.names.filter((name) => name === "rename").entries()) {
      await runWithFailingCall("new", "hangs for a minute", new PointCounter(index + 1, "rename"));
    }
  });

  it("has hung in every kind of call that a job makes", () => {
    const calls = ["lstat", "mkdir", "open", "readdir", "realpath", "rename", "rmdir", "stat", "unlink"];
    const ofFiles = ["close", "read", "stat", "sync", "write", "writev"].map((name) => `file.${name}`);
    assert.deepEqual(
      [...calls, ...ofFiles].filter((call) => !others.has(call)),
      [],
    );
  });
});
