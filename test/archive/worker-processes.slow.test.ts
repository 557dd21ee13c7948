import { sharedPostgres } from "../support/shared-postgres.ts";
import { workInTrouble } from "./worker-processes.ts";

const trouble = { workers: 2, transactions: 60, leaseSeconds: 0.5, kills: 1, suspensions: 1, restarts: 0 };

describe("archive: two processes on one PostgreSQL database", () => {
  it("make one package of each transaction in a folder, although one is killed and one is suspended for longer than its lease", async () => {
    await workInTrouble(await sharedPostgres(), trouble);
  });

  it("do so in a bucket, which fails for a while as well", async () => {
    await workInTrouble(await sharedPostgres(), { ...trouble, bucketFailures: 1 });
  });
});
