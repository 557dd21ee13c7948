import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { withPlaces, type Places } from "./places.ts";
import type { Reading } from "./instruments.ts";
import type { MessagesReport, RedeploysReport } from "./reports.ts";

/**
 * How many bytes of a message may stay: less than the smallest entry of a Map. Measured 16 times on a busy computer: up to
 * 5 bytes (20,584 of 4,000 messages).
 */
const bytesAMessage = 25;
/**
 * What may stay of a deploy of some thirty nodes: less than one node. Measured over 40 on a busy computer, 16 times: up to
 * 2 kB (79,016 bytes in all), since nodes of the last deploys before a reading are not always collected yet.
 */
const bytesADeploy = 5_000;
/**
 * V8 keeps compiled code on the heap: it compiles a function when it first runs and again when it runs often, and drops
 * what has not run for a while, which is some megabytes more or less. With these options it compiles once and drops
 * nothing, so that memory grows only by what is kept.
 */
const steadyCode = [
  "--no-opt",
  "--no-maglev",
  "--no-sparkplug",
  "--no-flush-bytecode",
  "--no-lazy-feedback-allocation",
];

/** So many messages through every action node of one deploy, a fault in each tenth. */
export async function checkMessages(count: number): Promise<MessagesReport> {
  let report: MessagesReport | undefined;
  await withPlaces(async (places) => {
    report = await runChild<MessagesReport>("messages-child.ts", places, count);
    await checkFolders(places);
  });
  assert.ok(report !== undefined);
  const { before, after, sent, failed, surprises, warnings } = report;
  assert.deepEqual(surprises, [], "a message did not end once, as it should");
  assert.deepEqual(warnings, []);
  assert.deepEqual([sent, failed], [count, count / 10]);
  checkReadings(before, after, count * bytesAMessage);
  return report;
}

/** So many deploys of all three kinds while everything runs. */
export async function checkRedeploys(count: number): Promise<RedeploysReport> {
  let report: RedeploysReport | undefined;
  await withPlaces(async (places, pings) => {
    report = await runChild<RedeploysReport>("redeploys-child.ts", places, count);
    await checkFolders(places);
    assert.ok(pings() > 0, "no health check ran");
  });
  assert.ok(report !== undefined);
  const { before, after, begun, ended, posted, metBusy, unclosed, surprises, warnings } = report;
  assert.deepEqual(surprises, [], "a message did not end once");
  assert.deepEqual(warnings, []);
  assert.equal(ended, begun);
  assert.deepEqual(unclosed, [0, 0], "connections outlived what had opened them");
  assert.equal(metBusy, count, "a deploy came while nothing ran");
  assert.ok(begun > count * 40 && posted > 0, `${begun} messages, ${posted} posts`);
  checkReadings(before, after, count * bytesADeploy);
  return report;
}

function checkReadings(before: Reading, after: Reading, mayGrowBytes: number): void {
  const { heapBytes: heapBefore, bufferBytes: buffersBefore, ...countsBefore } = before;
  const { heapBytes, bufferBytes, ...counts } = after;
  assert.deepEqual(counts, countsBefore);
  assert.equal(counts.sockets, 0);
  for (const [where, grown] of [
    ["on the heap", heapBytes - heapBefore],
    ["in buffers", bufferBytes - buffersBefore],
  ] as const) {
    assert.ok(
      grown < mayGrowBytes,
      `${grown} bytes are kept ${where}, of ${mayGrowBytes} that may be chance`,
    );
  }
}

/** Asserts that a file that was being written is missing or complete. */
async function checkFolders({ files, archive }: Places): Promise<void> {
  for (const folder of [files, archive]) {
    const left = (await readdir(folder, { recursive: true })).filter((name) =>
      /\.(?:part|name|next)$/.test(name),
    );
    assert.deepEqual(left, [], folder);
  }
}

async function runChild<T>(name: string, places: Places, count: number): Promise<T> {
  const child = fork(join(import.meta.dirname, name), [JSON.stringify(places), String(count)], {
    execArgv: ["--expose-gc", ...steadyCode],
    // Counting what runs would grow, too.
    env: { ...process.env, NODE_V8_COVERAGE: undefined },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
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
