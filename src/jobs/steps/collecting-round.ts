import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { phrase, type Problem } from "../../errors/interpolation.ts";
import { diskFacts } from "../../vault/archive-disk.ts";
import { isToCollect } from "./collect-device.ts";
import { canGrow, isWhole, leftToSettleMs, missingFrom } from "./completeness.ts";
import { asksCloud } from "../../vault/packages/intent.ts";
import { hasContent } from "../table/open-job.ts";
import type { JobWork, Move, Pause, PollRules, StepJob } from "./job-work.ts";

/** Begins a round: the device, the cloud and the existing packages are each asked once for what is missing. */
export function beginRound(running: StepJob, work: JobWork): Move {
  running.hasNews = false;
  running.seen.failure = undefined;
  return isToCollect(running) ? { to: "device" } : continueWithCloud(running, work);
}

/** Continues a round after the requests to the device. */
export function continueWithCloud(running: StepJob, work: JobWork): Move {
  const { intent, transactionId } = running.job;
  if (!asksCloud(intent)) {
    return endRound(running, work);
  }
  return { to: transactionId === null ? "find" : "list" };
}

/**
 * Ends a round. The job is sealed if nothing is missing, or if the wait is over and incomplete packages are kept;
 * otherwise another round follows later. Throws the failure of the round, ERR_MEDIA_INCOMPLETE if the wait is over, or
 * ERR_NOT_FOUND if the cloud does not know the transaction and nothing is waited for.
 */
export function endRound(running: StepJob, work: JobWork): Move {
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
  // A record may have arrived after the database was asked.
  return running.hasNews ? beginRound(running, work) : waitForMore(running, work.poll, missing.length > 0);
}

/** A record that is there and cannot be taken yet is waited for, however short the wait is. */
function leftToWaitMs({ job, seen }: StepJob): number {
  return Math.max(0, job.intent.waitMs - job.waitedMs, seen.notFound?.settlesInMs ?? 0);
}

/**
 * Pauses until the next round: briefly at first, then longer, because a video that takes minutes needs no request each
 * second.
 */
function waitForMore(running: StepJob, { firstMs, longestMs }: PollRules, isMissing: boolean): Pause {
  const { job } = running;
  const { intent } = job;
  const leftMs = isMissing ? leftToWaitMs(running) : leftToSettleMs(running.seen);
  const onlyParts = !isWhole(job) && !asksCloud(intent) && intent.measuredBy === null;
  const paceMs = isMissing ? job.waitedMs / 5 : intent.settleMs / 4;
  // Parts come by themselves. The pauses are short all the same: what a sleeping computer misses counts as one at most.
  const againInMs = Math.min(onlyParts ? longestMs : Math.max(firstMs, paceMs), longestMs, leftMs);
  running.resetFailures();
  // An error takes more memory than the job itself, and the next round asks the cloud again.
  running.seen.unknown = undefined;
  return { againInMs, why: isMissing ? "missing" : "settling" };
}

/**
 * Ends an incomplete job. Media of earlier messages are on no message any more, so the error says where they are kept.
 */
function refuseIncomplete(
  { job, root, seen: { unknown } }: StepJob,
  { cloud }: JobWork,
  absent: readonly Problem[],
): void {
  const { intent } = job;
  if (intent.onIncomplete === "keep" && (unknown === undefined || hasContent(job))) {
    return;
  }
  if (unknown !== undefined && intent.waitMs === 0) {
    throw unknown;
  }
  const missing = unknown === undefined ? absent : [phrase("unknownTransaction"), ...absent];
  const seconds = intent.waitMs / 1000;
  if (intent.sequence !== null) {
    const path = root.asideOf(job);
    throw new DimensionerError(
      "partsIncomplete",
      { ...diskFacts, cause: unknown },
      { seconds, missing, path },
    );
  }
  const facts = asksCloud(intent) ? { surface: cloud(job).peer.surface, operation: "archive" } : diskFacts;
  throw new DimensionerError("mediaIncomplete", { ...facts, cause: unknown }, { seconds, missing });
}
