import assert from "node:assert/strict";
import { killAgainAndAgain } from "./kill-rounds.ts";

describe("archive: killed at random moments", () => {
  it("has every package whole in the end, none twice, nothing left over, and every job reported", async function () {
    this.timeout(120_000);
    const { resumed } = await killAgainAndAgain(25, 7);
    assert.ok(resumed > 0, "no kill met an open job");
  });
});
