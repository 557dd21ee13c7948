import assert from "node:assert/strict";
import { failAtEach } from "../sweep/fault-points.ts";
import { beginnings, codes, hangs, strikeDisk, type Beginning, type Effect } from "./struck-disk.ts";

/** Each call is struck in one of the ways in turn; in each of them, and with more codes, in test/long/archive-disk.ts. */
const inTurn = (effects: readonly Effect[], call: number): Effect => effects[call % effects.length] ?? "EIO";

describe("archive: a disk of which any single call", function () {
  this.timeout(120_000);

  const others = new Set<string>();

  for (const beginning of Object.keys(beginnings) as Beginning[]) {
    it(`hangs: a close ends in time, another store goes on, and nothing is lost (${beginning})`, async () => {
      await failAtEach((points) => strikeDisk(beginning, inTurn(hangs, points.at), points, others));
    });

    it(`fails: nothing is lost and nothing is left over (${beginning})`, async () => {
      await failAtEach((points) => strikeDisk(beginning, inTurn(codes, points.at), points));
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
