import { sharedPostgres } from "../support/shared-postgres.ts";
import { workInTrouble } from "./worker-processes.ts";

describe("archive: two processes on one PostgreSQL database and one folder", () => {
  it("make one package of each transaction, although one is killed and one is suspended for longer than its lease", async () => {
    await workInTrouble(await sharedPostgres(), {
      workers: 2,
      transactions: 60,
      leaseSeconds: 0.5,
      kills: 1,
      suspensions: 1,
      restarts: 0,
    });
  });
});
