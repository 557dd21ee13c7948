import assert from "node:assert/strict";
import { failAtEach } from "../sweep/fault-points.ts";
import { databaseEffects, runWithFailingDatabase } from "./failing-database.ts";

describe("archive: P17, a database of which any single transaction fails", () => {
  for (const effect of databaseEffects) {
    it(`nothing is lost, archived twice or left over when it ${effect}`, async () => {
      await failAtEach((points) => runWithFailingDatabase("new", effect, points));
    });
  }

  it("nothing is lost, archived twice or left over of jobs that another process has accepted", async () => {
    await failAtEach(async (points) => {
      const effect = databaseEffects[points.at % databaseEffects.length] ?? assert.fail();
      await runWithFailingDatabase("resumed", effect, points);
    });
  });
});
