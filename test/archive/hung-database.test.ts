import { Counter } from "../sweep/fault-points.ts";
import { hangInDatabase } from "./hung-database.ts";

describe("archive: a database that hangs", function () {
  this.timeout(60_000);

  // When the archive is opened, when a job is accepted, and when it is sealed; each other transaction in test/long/archive-disk.ts.
  for (const transaction of [2, 9, 14]) {
    it(`in transaction ${transaction} holds up no other store and no close, and nothing is lost when it answers`, async () => {
      await hangInDatabase(new Counter(transaction));
    });
  }
});
