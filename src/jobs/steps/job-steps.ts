import { join } from "node:path";
import { DimensionerError, type ErrorCode } from "../../errors/dimensioner-error.ts";
import { asFileError, removeTree } from "../../vault/archive-disk.ts";
import { downloadMedia, findTransaction, isToDownload, listMedia } from "./collect-cloud.ts";
import { collectDevice } from "./collect-device.ts";
import { judge } from "./completeness.ts";
import { asksCloud } from "../../vault/packages/intent.ts";
import type { JobWork, Move, StepJob, StepName } from "./job-work.ts";
import { endRound, beginRound, continueWithCloud } from "./collecting-round.ts";
import { isRetryableJob } from "./retryable-job.ts";
import { hasContent } from "../table/open-job.ts";
import { searchOf } from "../table/searches.ts";
import { positionOf } from "../table/item-slots.ts";
import { isUnchanged } from "./store-item.ts";
import { findUnnoted, noteStored, noteStoredBefore } from "./unnoted-media.ts";

type Step = (running: StepJob, work: JobWork) => Promise<Move>;

/**
 * The steps. A failure of `prepare` or `seal` leads to `afterFailure`, and so does a failure in a round, at its end.
 */
export const steps: Readonly<Record<StepName, Step>> = {
  prepare,
  device: async (running, work) => {
    await attempt(running, () => collectDevice(running, work));
    return continueWithCloud(running, work);
  },
  find: async (running, work) => {
    await attempt(running, () => findTransaction(running, work));
    return running.job.transactionId === null ? endRound(running, work) : { to: "list" };
  },
  list: async (running, work) => {
    const isListed = await attempt(running, () => listMedia(running, work));
    return isListed && isToDownload(running) ? { to: "download" } : endRound(running, work);
  },
  download: async (running, work) => {
    await attempt(running, () => downloadMedia(running, work));
    return endRound(running, work);
  },
  // A part may arrive at the last moment, and a package may be deleted: the media of the sealed job count.
  seal: async (running, { findMissing, onDamaged }) => ({
    archived: await running.root.sealing.seal(
      running.job,
      (packages) => judge(running.seen, packages, { findMissing, isUnsure: false }),
      onDamaged,
    ),
  }),
  keep: async (running, { findMissing, onDamaged }) => {
    await noteStored(running);
    const archived = await running.root.sealing.seal(
      running.job,
      (packages) => judge(running.seen, packages, { findMissing, isUnsure: true }),
      onDamaged,
    );
    return { archived };
  },
};

/** Notes a failure of one source, which does not prevent media of the others from being stored. */
async function attempt(running: StepJob, ask: () => Promise<void>): Promise<boolean> {
  try {
    await ask();
    return true;
  } catch (error) {
    running.seen.failure ??= { error };
    return false;
  }
}

/**
 * Prepares the job: makes its folder and record agree with the database, and finds the packages that it may complete.
 */
async function prepare(running: StepJob, work: JobWork): Promise<Move> {
  const { job, root } = running;
  if (running.isUnchecked) {
    const names = new Set([...job.items.values()].map(({ path }) => path));
    await root.work.takeOver(job.id, (name) => names.has(name));
    const own = await root.sealing.findOwn(job);
    if (own !== undefined) {
      return { archived: own };
    }
  }
  if (job.state !== "accepted") {
    const archived = await root.sealing.recover(job);
    if (archived !== undefined) {
      return { archived };
    }
  }
  const isNew = running.isFirstTry && !running.isTakenOver;
  if (running.isUnchecked) {
    await checkItems(running);
    await findUnnoted(running);
    running.endCheck();
  }
  await root.work.make(job.id);
  if (!isNew) {
    await noteStoredBefore(running);
    await removeStrays(running);
  }
  if (running.seen.packages === undefined || !isNew) {
    await running.seen.lookForPackages(root, work.onDamaged);
  }
  watchRecords(running);
  return beginRound(running, work);
}

/** Checks the stored media after a restart: only unchanged ones count. */
async function checkItems(running: StepJob): Promise<void> {
  const { job, root } = running;
  for (const [slot, item] of job.items) {
    if (await isUnchanged(root, job.id, item)) {
      continue;
    }
    if ((await root.intake.fetchStaged(job, item)) && (await isUnchanged(root, job.id, item))) {
      continue;
    }
    if (positionOf(slot) === null) {
      await root.jobs.removeItems(job.id, [slot]);
    } else {
      await root.jobs.lose(job.id, slot);
      job.lost.set(slot, item);
    }
    job.items.delete(slot);
  }
}

/** Removes files of an earlier, unfinished try. */
async function removeStrays({ root, job }: StepJob): Promise<void> {
  if (job.intent.sequence !== null) {
    // A part may be arriving at this moment.
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

/** Wakes the job when a record arrives that may belong to its local measurement. */
function watchRecords(running: StepJob): void {
  const { job } = running;
  const search = asksCloud(job.intent) && job.transactionId === null ? searchOf(job) : null;
  if (search !== null) {
    running.seen.watchFor(search, running.root, () => running.wake());
  }
}

/** The codes of failures that are independent of the media themselves. */
const notOfTheMedia: ReadonlySet<ErrorCode> = new Set([
  "ERR_FILE",
  "ERR_STORE",
  "ERR_NOT_FOUND",
  "ERR_CANCELLED",
]);

/**
 * Decides what follows a failed step: another try after a pause or, if the job cannot continue, an incomplete package,
 * if that is allowed and possible. Throws the error that ends the job.
 */
export function afterFailure(
  running: StepJob,
  { retry, troubles }: JobWork,
  step: StepName,
  error: unknown,
): Move {
  const { job, root } = running;
  running.seen.stopWatching();
  if (step === "keep") {
    throw error;
  }
  const leftMs = leftToTryMs(running);
  if (!isRetryableJob(error) || leftMs <= 0) {
    const canKeep =
      error instanceof DimensionerError && isRetryableJob(error) && !notOfTheMedia.has(error.code);
    if (!canKeep || job.intent.onIncomplete === "error" || !hasContent(job)) {
      throw error;
    }
    return { to: "keep" };
  }
  running.seen.failure = undefined;
  running.trouble = error instanceof DimensionerError ? troubles.shared(error) : undefined;
  root.saveTimes(job);
  // The pause doubles with each failure in a row, with jitter, so that many jobs do not repeat at the same moment.
  const fullMs = Math.min(retry.firstMs * 2 ** running.failures, retry.longestMs);
  running.failures += 1;
  return { againInMs: Math.min(fullMs * (0.5 + Math.random() / 2), leftMs), why: "failure" };
}

/** The time until the job is given up. */
function leftToTryMs({ job: { intent, sinceMs } }: StepJob): number {
  return intent.giveUpMs === 0 ? Number.POSITIVE_INFINITY : sinceMs + intent.giveUpMs - performance.now();
}
