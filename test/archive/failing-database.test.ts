import { failAtEach } from "../sweep/fault-points.ts";
import { databaseEffects, runWithFailingDatabase } from "./failing-database.ts";

describe("archive: a database of which any single transaction fails", () => {
  for (const effect of databaseEffects) {
    it(`nothing is lost, archived twice or left over when it ${effect}`, async () => {
      await failAtEach((points) => runWithFailingDatabase(effect, points));
    });
  }
});
