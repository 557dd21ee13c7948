import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { otherDisk } from "../support/other-disk.ts";
import { killAgainAndAgain } from "./kill-rounds.ts";

/** More take minutes: test/long/archive-kill.ts */
const kills = 25;

describe(`archive: killed at ${kills} random moments`, () => {
  it("has every package whole in the end, none twice, nothing left over, and every job reported", async () => {
    const { reports, resumed } = await killAgainAndAgain(kills, 7);
    assert.ok(resumed > 0, `no kill met an open job (${reports} reports)`);
  });

  it("has the same of packages that are on another disk, and away in some rounds", async function () {
    // Where there is only one file system that every user can write to, it cannot be tried.
    const disk = await mkdtemp(join(otherDisk() ?? this.skip(), "dimensioner-kill-"));
    try {
      const { resumed } = await killAgainAndAgain(kills, 11, disk);
      assert.ok(resumed > 0, "no kill met an open job");
    } finally {
      await rm(disk, { recursive: true });
    }
  });
});
