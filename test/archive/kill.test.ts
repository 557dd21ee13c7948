import assert from "node:assert/strict";
import { killAgainAndAgain } from "./kill-rounds.ts";

/** More take minutes: ARCHIVE_KILLS=200 npm run test:unit -- test/archive/kill.test.ts */
const kills = Number(process.env["ARCHIVE_KILLS"] ?? 25);

describe(`archive: killed at ${kills} random moments`, () => {
  it("has every package whole in the end, none twice, nothing left over, and every job reported", async function () {
    this.timeout(kills * 6_000);
    const { reports, resumed } = await killAgainAndAgain(kills, 7);
    assert.ok(resumed > 0, `no kill met an open job (${reports} reports)`);
  });
});
