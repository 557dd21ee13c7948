import assert from "node:assert/strict";
import { killAgainAndAgain } from "./kill-rounds.ts";

/** More take minutes: test/long/archive-kill.ts */
const kills = 25;

describe(`archive: killed at ${kills} random moments`, () => {
  it("has every package whole in the end, none twice, nothing left over, and every job reported", async () => {
    const { reports, resumed } = await killAgainAndAgain(kills, 7);
    assert.ok(resumed > 0, `no kill met an open job (${reports} reports)`);
  });
});
