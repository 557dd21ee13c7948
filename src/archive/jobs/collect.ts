import { join } from "node:path";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import type { Problem } from "../../errors/interpolation.ts";
import { asFileError, diskFacts, removeTree } from "../archive-disk.ts";
import { collectCloud, type CloudWork } from "./collect-cloud.ts";
import { collectDevice, type DeviceWork } from "./collect-device.ts";
import { canGrow, isWhole, judge, leftToSettleMs, missingFrom } from "./completeness.ts";
import { asksCloud } from "./demand.ts";
import type { FindMissing } from "./media-source.ts";
import type { RunningJob } from "./running-job.ts";
import type { Judge } from "./sealing.ts";
import { searchOf } from "./searches.ts";

/** How often is asked for media that are not there yet. */
export interface PollRules {
  readonly firstMs: number;
  readonly longestMs: number;
  /** So long each further question keeps its place, so that many waiting jobs do not flood a cloud that answers fast. */
  readonly paceMs: number;
}

export interface CollectWork extends DeviceWork, Omit<CloudWork, "paceMs"> {
  readonly findMissing: FindMissing;
  readonly poll: PollRules;
}

/**
 * Collects a job's media from wherever it has some: what is there is stored at once, and what is missing is asked for again until
 * all is there or the wait is over. Throws ERR_MEDIA_INCOMPLETE or ERR_NOT_FOUND then.
 */
export async function collect(running: RunningJob, work: CollectWork): Promise<Judge> {
  const { job, root } = running;
  const waitedBefore = job.waitedMs;
  await removeStrays(running);
  await running.lookForPackages();
  const news = watchRecords(running);
  try {
    for (;;) {
      news.haveCome = false;
      await look(running, work);
      const missing = missingFrom(running, work.findMissing);
      const isOver = missing.length > 0 && (leftToWaitMs(running) === 0 || !canGrow(running, missing));
      if (isOver) {
        refuseIncomplete(running, work, missing);
      }
      if (isOver || (missing.length === 0 && leftToSettleMs(running) === 0)) {
        break;
      }
      // A record may have come after it was asked for.
      if (!news.haveCome) {
        await waitForMore(running, work.poll, missing.length > 0);
      }
    }
  } finally {
    news.leave();
    if (job.waitedMs !== waitedBefore) {
      root.saveTimes(job);
    }
  }
  // A part may come at the last moment, and a package may go: what counts is what the sealed job has.
  return (packages) => judge(running, missingFrom(running, work.findMissing, packages));
}

/** Ends a wait when a record has come that may be the one of a local measurement. */
function watchRecords(running: RunningJob): { haveCome: boolean; leave: () => void } {
  const { job, root } = running;
  const search = asksCloud(job.intent) && job.transactionId === null ? searchOf(job) : null;
  const news = { haveCome: false, leave: (): void => undefined };
  if (search !== null) {
    news.leave = root.finder.watch(search.local, () => {
      news.haveCome = true;
      running.wake();
    });
  }
  return news;
}

/** A record that is there and cannot be taken yet is waited for, however short the wait is. */
function leftToWaitMs({ job, notFound }: RunningJob): number {
  return Math.max(0, job.intent.waitMs - job.waitedMs, notFound?.settlesInMs ?? 0);
}

/** Asks everybody once. One that cannot answer does not keep what the others have from being stored. */
async function look(running: RunningJob, work: CollectWork): Promise<void> {
  const failures: unknown[] = [];
  const attempt = async (step: () => Promise<void>): Promise<void> => {
    try {
      await step();
    } catch (error) {
      running.signal.throwIfAborted();
      failures.push(error);
    }
  };
  await attempt(() => collectDevice(running, work));
  if (asksCloud(running.job.intent)) {
    await attempt(() => collectCloud(running, { ...work, paceMs: work.poll.paceMs }));
  }
  if (failures.length > 0) {
    throw failures[0];
  }
}

/** Short at first, then longer: a video that takes minutes needs no question a second. */
async function waitForMore(
  running: RunningJob,
  { firstMs, longestMs }: PollRules,
  isMissing: boolean,
): Promise<void> {
  const { job } = running;
  const { intent } = job;
  const leftMs = isMissing ? leftToWaitMs(running) : leftToSettleMs(running);
  const onlyParts = !isWhole(job) && !asksCloud(intent) && intent.measuredBy === null;
  const paceMs = isMissing ? job.waitedMs / 5 : intent.settleMs / 4;
  const intervalMs = onlyParts ? leftMs : Math.min(Math.max(firstMs, paceMs), longestMs, leftMs);
  running.setState("waiting");
  running.resetFailures();
  await running.wait(intervalMs, isMissing);
  running.setState("working");
}

/** What an earlier try has left unfinished would be in the way. */
async function removeStrays({ root, job }: RunningJob): Promise<void> {
  if (job.intent.sequence !== null) {
    // A part of it may be arriving right now.
    return;
  }
  const folder = root.work.of(job.id);
  const expected = new Set([...job.items.values()].map(({ path }) => path));
  try {
    for (const name of await root.disk.readdir(folder)) {
      if (!expected.has(name)) {
        await removeTree(join(folder, name), root.disk);
      }
    }
  } catch (error) {
    throw asFileError(error, folder);
  }
}

/** What came with earlier messages is on no message any more: the error says where it is kept. */
function refuseIncomplete(
  { job, root, unknown }: RunningJob,
  { cloud }: CollectWork,
  missing: readonly Problem[],
): void {
  const { intent } = job;
  const keeps = intent.onIncomplete === "keep";
  if (unknown !== undefined && !(keeps && job.items.size > 0)) {
    throw unknown;
  }
  if (keeps) {
    return;
  }
  const seconds = intent.waitMs / 1000;
  if (intent.sequence !== null) {
    const path = root.work.asideOf(job.id);
    throw new DimensionerError("partsIncomplete", diskFacts, { seconds, missing, path });
  }
  const facts = asksCloud(intent) ? { surface: cloud().peer.surface, operation: "archive" } : diskFacts;
  throw new DimensionerError("mediaIncomplete", facts, { seconds, missing });
}
