import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { withPlaces, type Places } from "./bench.ts";
import type { Reading } from "./instruments.ts";
import type { MessagesReport, RedeploysReport } from "./reports.ts";

/** What may stay of a message and of a deploy, far below the smallest thing that could be kept. */
const bytesAMessage = 250;
const bytesADeploy = 30_000;

/** So many messages through every action node of one deploy, a fault in each tenth. */
export async function checkMessages(count: number): Promise<MessagesReport> {
  let report: MessagesReport | undefined;
  await withPlaces(async (places) => {
    report = await runChild<MessagesReport>("messages-child.ts", places, count, bytesAMessage);
    await checkFolders(places);
  });
  assert.ok(report !== undefined);
  const { runs, before, after, sent, failed, surprises, warnings } = report;
  assert.deepEqual(surprises, [], "a message did not end once, as it should");
  assert.deepEqual(warnings, []);
  assert.deepEqual([sent, failed], [runs * count, (runs * count) / 10]);
  checkReadings(before, after, count * bytesAMessage);
  return report;
}

/** So many deploys of all three kinds while everything runs. */
export async function checkRedeploys(count: number): Promise<RedeploysReport> {
  let report: RedeploysReport | undefined;
  await withPlaces(async (places, pings) => {
    report = await runChild<RedeploysReport>("redeploys-child.ts", places, count, bytesADeploy);
    await checkFolders(places);
    assert.ok(pings() > 0, "no health check ran");
  });
  assert.ok(report !== undefined);
  const { runs, before, after, begun, ended, posted, metBusy, unclosed, surprises, warnings } = report;
  assert.deepEqual(surprises, [], "a message did not end once");
  assert.deepEqual(warnings, []);
  assert.equal(ended, begun);
  assert.deepEqual(unclosed, Array(runs).fill(0), "connections outlived what had opened them");
  assert.equal(metBusy, runs * count, "a deploy came while nothing ran");
  assert.ok(begun > runs * count * 40 && posted > 0, `${begun} messages, ${posted} posts`);
  checkReadings(before, after, count * bytesADeploy);
  return report;
}

function checkReadings(before: Reading, after: Reading, mayGrowBytes: number): void {
  const { heapBytes: heapBefore, ...countsBefore } = before;
  const { heapBytes: heapAfter, ...counts } = after;
  assert.deepEqual(counts, countsBefore);
  assert.equal(counts.sockets, 0);
  const grown = heapAfter - heapBefore;
  assert.ok(
    grown < mayGrowBytes,
    `${grown} bytes of the heap are kept, of ${mayGrowBytes} that may be noise`,
  );
}

/** A file that was being written is gone or whole. */
async function checkFolders({ files, archive }: Places): Promise<void> {
  for (const folder of [files, archive]) {
    const left = (await readdir(folder, { recursive: true })).filter((name) =>
      /\.(?:part|name|next)$/.test(name),
    );
    assert.deepEqual(left, [], folder);
  }
}

async function runChild<T>(name: string, places: Places, count: number, bytesEach: number): Promise<T> {
  // What the optimizing compiler makes of hot code is in the heap too, and would look like a leak.
  const execArgv = [...process.execArgv, "--expose-gc", "--no-opt"];
  const child = fork(
    join(import.meta.dirname, name),
    [JSON.stringify(places), String(count), String(count * bytesEach)],
    {
      execArgv,
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    },
  );
  try {
    const told = once(child, "message");
    const ended = once(child, "exit");
    const [first] = (await Promise.race([told, ended])) as [unknown];
    assert.ok(typeof first === "object" && first !== null, `${name} ended with ${String(first)}`);
    await ended;
    return first as T;
  } finally {
    child.kill("SIGKILL");
  }
}
