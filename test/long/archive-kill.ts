/**
 * The archive under 200 SIGKILLs, which takes minutes:
 *
 *   node --import tsx node_modules/mocha/bin/mocha.js test/long/archive-kill.ts
 */
import { killAgainAndAgain } from "../archive/kill-rounds.ts";

describe("archive: killed 200 times at random moments", () => {
  it("has every package whole in the end, none twice, nothing left over, and every job reported", async function () {
    this.timeout(1_800_000);
    const { kills, reports, resumed } = await killAgainAndAgain(200, 20_261_102);
    console.log(`${kills} kills, ${reports} reports of 50 jobs, ${resumed} of them after a restart`);
  });
});
