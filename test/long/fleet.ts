/**
 * Several Node-REDs on one PostgreSQL database and one bucket:  node test/long/fleet.ts [transactions]
 *
 * A thousand stations have their transactions posted, each twice and in any order, while a worker is killed every few seconds, the database is
 * restarted five times and the bucket fails for a minute. Each transaction has to be in one whole package with one row and one handled record, and in the bucket
 * there must be nothing else. Prints what the fleet has needed, first without failures.
 */
import { runFleet, type FleetPlan } from "../nodes/fleet.ts";

const transactions = Number(process.argv[2] ?? 20_000);
const calm = {
  stations: 1_000,
  transactions: Math.ceil(transactions / 10),
  kills: 0,
  restarts: 0,
  bucketFailsMs: 0,
  endsLeases: false,
};

async function print(plan: FleetPlan): Promise<void> {
  const { packagesPerSecond, cpuMsPerPackage, statementsPerPackage, connections, takenOverAfterSeconds } =
    await runFleet(plan);
  const { workers, kills, restarts, bucketFailsMs } = plan;
  const trouble =
    kills === 0
      ? "no failures"
      : `${kills} kills, ${restarts} restarts of the database, ${bucketFailsMs / 1000} s without the bucket`;
  const after = takenOverAfterSeconds.toSorted((one, other) => one - other);
  const [median = Number.NaN, longest = Number.NaN] = [after[after.length >> 1], after.at(-1)];
  console.log(
    `${workers} Node-REDs, ${plan.transactions} transactions, ${trouble}: ${packagesPerSecond.toFixed(0)} packages a second, ${cpuMsPerPackage.toFixed(0)} ms of CPU and ${statementsPerPackage.toFixed(0)} statements for each, ${connections} connections${kills === 0 ? "" : `, jobs taken over ${median.toFixed(0)} s after a kill (median; at most ${longest.toFixed(0)} s)`}`,
  );
}

for (const workers of [1, 2, 4]) {
  await print({ ...calm, workers });
}
await print({
  ...calm,
  transactions,
  workers: 4,
  // Every few seconds: starting the next worker takes about as long as these packages.
  kills: Math.ceil(transactions / 300),
  restarts: 5,
  bucketFailsMs: 60_000,
});
