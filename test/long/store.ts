/**
 * The database of a store with many rows and many writers:  node test/long/store.ts [packages] [kills]
 *
 * Opens an index of 100,000 and of 1,000,000 packages, looks packages up by reference, commits from many sides at once, and
 * kills a process in the middle of its commits again and again. Prints what it measured; fails where a limit is missed.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../../src/database/database.ts";
import { SqliteDatabase } from "../../src/database/sqlite-database.ts";
import { StoreDatabases } from "../../src/database/store-databases.ts";
import { readSize, searchIndex } from "../../src/evidence/search.ts";
import { fillIndex } from "../database/filled-index.ts";
import { migrations } from "../database/notes-schema.ts";

const most = Number(process.argv[2] ?? 1_000_000);
const kills = Number(process.argv[3] ?? 50);
const folder = await mkdtemp(join(tmpdir(), "store-long-"));
const databases = new StoreDatabases();
const missed: string[] = [];

/** Prints a measured value; one over its limit fails the run. */
function report(what: string, value: number, unit: string, limit = Infinity): void {
  console.log(`${what}: ${value.toFixed(1)} ${unit}${limit === Infinity ? "" : ` (limit ${limit} ${unit})`}`);
  if (value > limit) {
    missed.push(what);
  }
}

try {
  await measureIndex(most / 10, 1_000);
  await measureIndex(most);
  await measureCommits();
  await killInCommits();
} finally {
  await rm(folder, { recursive: true });
}
missed.forEach((what) => console.error(`over its limit: ${what}`));
process.exitCode = missed.length === 0 ? 0 : 1;

async function measureIndex(packages: number, openLimitMs?: number): Promise<void> {
  const file = join(folder, `${packages}.sqlite`);
  await (await databases.open({ kind: "file", file })).release();
  fillIndex(file, packages);
  const megabytes = (await stat(file)).size / 1e6;
  const openedAt = performance.now();
  const { database, release } = await databases.open({ kind: "file", file });
  const ofIndex = `an index of ${packages} packages (${megabytes.toFixed(0)} MB)`;
  report(`open ${ofIndex}`, performance.now() - openedAt, "ms", openLimitMs);
  const times: number[] = [];
  for (let look = 0; look < 500; look += 1) {
    const number = Math.floor((look * packages) / 500);
    const startedAt = performance.now();
    const found = await searchIndex(database, { by: "reference", value: `ORDER-${number}` }, 10);
    times.push(performance.now() - startedAt);
    if (found.length !== 1) {
      missed.push(`find ORDER-${number}: ${found.length} packages`);
    }
  }
  report(`find by reference in ${ofIndex}, 99 of 100`, percentile(times, 0.99), "ms", 10);
  // From one character, with which all of them begin, to a whole reference.
  for (const text of [
    "O",
    "order-1",
    "ORDER-99",
    "400638100",
    "CUSTOMER-7",
    `ORDER-${packages - 1}`,
    "nobody's",
  ]) {
    const startedAtText = performance.now();
    await searchIndex(database, { by: "text", value: text }, 100);
    report(`find what begins with “${text}” in ${ofIndex}`, performance.now() - startedAtText, "ms", 50);
  }
  // The carton that a fifth of all parcels have, any other, one that none has, and weights.
  for (const text of [
    "40x30x20 cm",
    "33.5x21x12.5",
    "12x11x10 in",
    "99x98x97.5 cm",
    "1.27 kg",
    "40x30x20 cm, 7 kg",
  ]) {
    const sizes = readSize(text) ?? [];
    const startedAtSize = performance.now();
    await searchIndex(database, { by: "size", sizes }, 24);
    report(`find the size “${text}” in ${ofIndex}`, performance.now() - startedAtSize, "ms", 50);
  }
  const startedAtAll = performance.now();
  await searchIndex(database, { by: "all" }, 24);
  report(`find the newest in ${ofIndex}`, performance.now() - startedAtAll, "ms", 50);
  await release();
  await rm(file);
}

async function measureCommits(): Promise<void> {
  const { database, release } = await databases.open({ kind: "file", file: join(folder, "commits.sqlite") });
  report("transactions, one after the other", await commitsPerSecond(database, 1, 300), "a second");
  report("transactions, 1,000 at once", await commitsPerSecond(database, 1_000, 30_000), "a second");
  const idleMs = await eventLoopDelayMs(() => sleep(5_000));
  const busyMs = await eventLoopDelayMs(async () => {
    for (let second = 0; second < 5; second += 1) {
      await Promise.all([sleep(1_000), commitsPerSecond(database, 100, 100)]);
    }
  });
  console.log(`delay of the event loop, 99 of 100: idle ${idleMs.toFixed(1)} ms`);
  report("more of it with 100 transactions at once each second", busyMs - idleMs, "ms", 20);
  await release();
}

async function eventLoopDelayMs(work: () => Promise<unknown>): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  await work();
  delay.disable();
  return delay.percentile(99) / 1e6;
}

/** So many writers, each of which waits until its transaction is durable. */
async function commitsPerSecond(database: Database, writers: number, transactions: number): Promise<number> {
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: writers }, async (_, writer) => {
      for (let number = 0; number < transactions / writers; number += 1) {
        const id = `${writers} ${writer} ${number}`;
        await database.transaction([
          {
            sql: `INSERT INTO records (node_id, transaction_id, received_at, received_by_run, record, record_sha256)
              VALUES ('node', ?, ?, 'run', ?, ?)`,
            values: [id, new Date().toISOString(), "x".repeat(1_000), "y".repeat(64)],
          },
        ]);
      }
    }),
  );
  return (transactions * 1_000) / (performance.now() - startedAt);
}

async function killInCommits(): Promise<void> {
  const file = join(folder, "killed.sqlite");
  const program = new URL("../database/database-process.ts", import.meta.url);
  let durable = 0;
  for (let round = 0; round < kills; round += 1) {
    const child = fork(program, [file, "write"]);
    child.on("message", () => {
      durable += 1;
    });
    await once(child, "message");
    setTimeout(() => child.kill("SIGKILL"), (round * 37) % 200);
    await once(child, "exit");
    const database = await SqliteDatabase.open({ file, migrations });
    const [rows = []] = await database.transaction([{ sql: "SELECT count(*) AS count FROM notes" }]);
    await database.close();
    const stored = Number(rows[0]?.["count"]);
    // More may have been stored than the killed process could say.
    if (stored < durable) {
      missed.push(`${stored} rows after kill ${round + 1}, of ${durable} that were durable`);
    }
    durable = Math.max(durable, stored);
  }
  console.log(`killed ${kills} times in the middle of commits: all of ${durable} are there`);
}

function percentile(values: readonly number[], share: number): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length * share)] ?? 0;
}
