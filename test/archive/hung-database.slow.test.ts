import { PointCounter } from "../sweep/fault-points.ts";
import { hangInDatabase } from "./hung-database.ts";

describe("archive: a database that hangs", () => {
  // The transactions that open the archive, accept a job and put its package into the index; test/long/archive-disk.ts tries each one.
  for (const transaction of [2, 8, 11]) {
    it(`in transaction ${transaction} holds up no other store and no close, and nothing is lost when it answers`, async () => {
      await hangInDatabase(new PointCounter(transaction));
    });
  }
});
