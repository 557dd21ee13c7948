/**
 * Several processes on one PostgreSQL database, with a folder and with a bucket:  node test/long/workers.ts [transactions]
 *
 * Each transaction has to be in one whole package with one row, and in the bucket there must be nothing else, although workers are killed
 * and suspended, the database is restarted and the bucket fails. Prints packages a second with 1, 2 and 4 workers, and how long a claim
 * takes in a database with a million jobs that have ended and ten thousand that are open.
 */
import assert from "node:assert/strict";
import { readPostgresUrl } from "../../src/database/postgres-address.ts";
import { SharedDatabase } from "../../src/database/store-databases.ts";
import { AbandonedJobs } from "../../src/jobs/job-rows.ts";
import { intentOf, sha256Of } from "../archive/support.ts";
import { workInTrouble } from "../archive/worker-processes.ts";
import { type PostgresServer, startPostgres } from "../support/postgres.ts";

const transactions = Number(process.argv[2] ?? 4_000);
const trouble = { workers: 4, transactions, leaseSeconds: 1, kills: 20, suspensions: 5, restarts: 5 };
const calm = {
  transactions: Math.ceil(transactions / 2),
  leaseSeconds: 60,
  kills: 0,
  suspensions: 0,
  restarts: 0,
};
const places = { folder: {}, bucket: { bucketFailures: 3 } } as const;
const [ended, open, claims] = [1_000_000, 10_000, 50];
const mostMs = 5;

async function timeClaims(server: PostgresServer): Promise<string> {
  const name = await server.makeDatabase();
  const { user, password } = server.admin;
  process.env["PGPASSWORD"] = password;
  const address = readPostgresUrl(`postgres://${user}@127.0.0.1:${server.port}/${name}`);
  const database = await SharedDatabase.open({ address });
  try {
    const intent = JSON.stringify(intentOf("t"));
    const insert = (state: string, from: number, count: number, worker: string): string =>
      `INSERT INTO dimensioner.jobs (job_id, node_id, state, accepted_at, changed_at, intent, intent_sha256, worker_id)
        SELECT 'job-' || number, 'node', '${state}', '', '', '${intent}', '${sha256Of(intent)}', '${worker}'
        FROM generate_series(${from}, ${from + count - 1}) AS number`;
    await server.run(
      "INSERT INTO dimensioner.workers VALUES ('living', '', '', '9999'), ('gone', '', '', '')",
      name,
    );
    await server.run(insert("reported", 0, ended, "gone"), name);
    await server.run(insert("collecting", ended, open / 2, "living"), name);
    await server.run(insert("collecting", ended + open / 2, open / 2, "gone"), name);
    await server.run("ANALYZE", name);
    const jobs = new AbandonedJobs(database, database.worker.id);
    const times: number[] = [];
    for (let index = 0; index < claims; index += 1) {
      const startedMs = performance.now();
      const taken = await jobs.take({ node: "node", isMine: () => false }, 1);
      times.push(performance.now() - startedMs);
      assert.equal(taken.jobs.length, 1);
    }
    const median = times.toSorted((one, other) => one - other)[claims >> 1] ?? assert.fail();
    const worst = Math.max(...times);
    assert.ok(median < mostMs, `a claim takes ${median} ms`);
    return `a claim takes ${median.toFixed(1)} ms (median; at most ${worst.toFixed(1)} ms) beside ${ended} jobs that have ended and ${open} open ones`;
  } finally {
    await database.close();
  }
}

const server = await startPostgres();
try {
  console.log(await timeClaims(server));
  for (const [place, failures] of Object.entries(places)) {
    for (const workers of [1, 2, 4]) {
      const none = "bucketFailures" in failures ? { bucketFailures: 0 } : {};
      const { seconds } = await workInTrouble(server, { ...calm, ...none, workers });
      console.log(
        `${place}, ${workers} workers: ${(calm.transactions / seconds).toFixed(0)} packages a second`,
      );
    }
    const { seconds, taken } = await workInTrouble(server, { ...trouble, ...failures });
    const { workers, kills, suspensions, restarts } = trouble;
    console.log(
      `${place}, ${workers} workers: ${transactions} transactions in ${seconds.toFixed(0)} s, with ${kills} kills, ${suspensions} suspensions and ${restarts} restarts of the database; ${taken} messages whose job another worker had taken over`,
    );
  }
} finally {
  await server.remove();
}
