import { DimensionerError } from "../../errors/dimensioner-error.ts";
import type { Problem } from "../../errors/interpolation.ts";
import { diskFacts } from "../archive-disk.ts";
import { isToCollect } from "./collect-device.ts";
import { canGrow, isWhole, leftToSettleMs, missingFrom } from "./completeness.ts";
import { asksCloud } from "./demand.ts";
import type { Move, Pause } from "./job-moves.ts";
import type { JobWork, PollRules, StepJob } from "./job-work.ts";

/** Begins a look. */
export function look(running: StepJob, work: JobWork): Move {
  running.hasNews = false;
  running.seen.failure = undefined;
  return isToCollect(running) ? { to: "device" } : lookAtCloud(running, work);
}

/** Goes on with a look where the device has been asked. */
export function lookAtCloud(running: StepJob, work: JobWork): Move {
  const { intent, transactionId } = running.job;
  if (!asksCloud(intent)) {
    return decide(running, work);
  }
  return { to: transactionId === null ? "find" : "list" };
}

/**
 * What follows a look: the job is sealed when all is there, or when the wait is over and what is there is to be kept; otherwise it looks
 * again later. Throws what has failed in the look, or ERR_MEDIA_INCOMPLETE or ERR_NOT_FOUND when the wait is over.
 */
export function decide(running: StepJob, work: JobWork): Move {
  const { failure } = running.seen;
  if (failure !== undefined) {
    throw failure.error;
  }
  const missing = missingFrom(running.seen, work.findMissing);
  const isOver = missing.length > 0 && (leftToWaitMs(running) === 0 || !canGrow(running.seen, missing));
  if (isOver) {
    refuseIncomplete(running, work, missing);
  }
  if (isOver || (missing.length === 0 && leftToSettleMs(running.seen) === 0)) {
    running.endWait();
    return { to: "seal" };
  }
  // A record may have come after it was asked for.
  return running.hasNews ? look(running, work) : waitForMore(running, work.poll, missing.length > 0);
}

/** A record that is there and cannot be taken yet is waited for, however short the wait is. */
function leftToWaitMs({ job, seen }: StepJob): number {
  return Math.max(0, job.intent.waitMs - job.waitedMs, seen.notFound?.settlesInMs ?? 0);
}

/** Short at first, then longer: a video that takes minutes needs no question a second. */
function waitForMore(running: StepJob, { firstMs, longestMs }: PollRules, isMissing: boolean): Pause {
  const { job } = running;
  const { intent } = job;
  const leftMs = isMissing ? leftToWaitMs(running) : leftToSettleMs(running.seen);
  const onlyParts = !isWhole(job) && !asksCloud(intent) && intent.measuredBy === null;
  const paceMs = isMissing ? job.waitedMs / 5 : intent.settleMs / 4;
  const againInMs = onlyParts ? leftMs : Math.min(Math.max(firstMs, paceMs), longestMs, leftMs);
  running.resetFailures();
  return { againInMs, why: isMissing ? "missing" : "settling" };
}

/** What came with earlier messages is on no message any more: the error says where it is kept. */
function refuseIncomplete(
  { job, root, seen: { unknown } }: StepJob,
  { cloud }: JobWork,
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
  const facts = asksCloud(intent) ? { surface: cloud(job).peer.surface, operation: "archive" } : diskFacts;
  throw new DimensionerError("mediaIncomplete", facts, { seconds, missing });
}
