import assert from "node:assert/strict";
import { failAtEach } from "../sweep/fault-points.ts";
import { beginnings, codes, hangs, runWithFailingCall, type Beginning, type Effect } from "./failing-disk.ts";

/**
 * Each call fails or hangs in one of the ways, which take turns; test/long/archive-disk.ts tries all ways, and more
 * error codes, on each call.
 */
const inTurn = (effects: readonly Effect[], call: number): Effect => effects[call % effects.length] ?? "EIO";

describe("archive: a disk on which any single call", function () {
  this.timeout(120_000);

  const others = new Set<string>();

  for (const beginning of Object.keys(beginnings) as Beginning[]) {
    it(`hangs: a close ends in time, another store goes on, and nothing is lost (${beginning})`, async () => {
      await failAtEach((points) => runWithFailingCall(beginning, inTurn(hangs, points.at), points, others));
    });

    it(`fails: nothing is lost and nothing is left over (${beginning})`, async () => {
      await failAtEach((points) => runWithFailingCall(beginning, inTurn(codes, points.at), points));
    });
  }

  it("has hung in every kind of call that a job makes", () => {
    const calls = ["lstat", "mkdir", "open", "readdir", "realpath", "rename", "rmdir", "stat", "unlink"];
    const ofFiles = ["close", "read", "readFile", "stat", "sync", "write", "writev"].map(
      (name) => `file.${name}`,
    );
    assert.deepEqual(
      [...calls, ...ofFiles].filter((call) => !others.has(call)),
      [],
    );
  });
});
