import { join } from "node:path";
import { DimensionerError, type ErrorCode } from "../../errors/dimensioner-error.ts";
import { phrase } from "../../errors/interpolation.ts";
import { asFileError, removeTree } from "../archive-disk.ts";
import { downloadMedia, findTransaction, isToDownload, listMedia } from "./collect-cloud.ts";
import { collectDevice } from "./collect-device.ts";
import { judge, missingFrom } from "./completeness.ts";
import { asksCloud } from "./demand.ts";
import type { JobWork, StepJob } from "./job-work.ts";
import type { Move, StepName } from "./job-moves.ts";
import { decide, look, lookAtCloud } from "./look.ts";
import { isRetryableJob } from "./retryable-job.ts";
import { searchOf } from "./searches.ts";
import { placeOf } from "./slots.ts";
import { isUnchanged } from "./store-item.ts";

type Step = (running: StepJob, work: JobWork) => Promise<Move>;

/** What each step does. A failure of `prepare` or `seal` leads to `afterFailure`, and so does one of a look once all were asked. */
export const steps: Readonly<Record<StepName, Step>> = {
  prepare,
  device: async (running, work) => {
    await attempt(running, () => collectDevice(running, work));
    return lookAtCloud(running, work);
  },
  find: async (running, work) => {
    await attempt(running, () => findTransaction(running, work));
    return running.job.transactionId === null ? decide(running, work) : { to: "list" };
  },
  list: async (running, work) => {
    const isListed = await attempt(running, () => listMedia(running, work));
    return isListed && isToDownload(running) ? { to: "download" } : decide(running, work);
  },
  download: async (running, work) => {
    await attempt(running, () => downloadMedia(running, work));
    return decide(running, work);
  },
  // A part may come at the last moment, and a package may go: what counts is what the sealed job has.
  seal: async (running, { findMissing, onDamaged }) => ({
    archived: await running.root.sealing.seal(
      running.job,
      (packages) => judge(running.seen, missingFrom(running.seen, findMissing, packages)),
      onDamaged,
    ),
  }),
  keep: async (running, { findMissing, onDamaged }) => ({
    archived: await running.root.sealing.seal(
      running.job,
      (packages) => {
        const missing = missingFrom(running.seen, findMissing, packages);
        return judge(running.seen, missing.length > 0 ? missing : [phrase("moreMedia")]);
      },
      onDamaged,
    ),
  }),
};

/** One that cannot answer does not keep what the others have from being stored. */
async function attempt(running: StepJob, ask: () => Promise<void>): Promise<boolean> {
  try {
    await ask();
    return true;
  } catch (error) {
    running.seen.failure ??= { error };
    return false;
  }
}

/** Brings the job's folder and its record into the state that the database says, and finds the packages that it may complete. */
async function prepare(running: StepJob, work: JobWork): Promise<Move> {
  const { job, root } = running;
  if (job.state !== "accepted") {
    const archived = await root.sealing.recover(job);
    if (archived !== undefined) {
      return { archived };
    }
  }
  const isNew = running.isFirstTry && !running.isTakenOver;
  if (running.isUnchecked) {
    await checkItems(running);
    running.isUnchecked = false;
  }
  await root.work.make(job.id);
  if (!isNew) {
    await removeStrays(running);
  }
  if (running.seen.packages === undefined || !isNew) {
    await running.seen.lookForPackages(root, work.onDamaged);
  }
  watchRecords(running);
  return look(running, work);
}

/** After a restart: only what still is what was stored counts as there. */
async function checkItems(running: StepJob): Promise<void> {
  const { job, root } = running;
  for (const [slot, item] of job.items) {
    if (await isUnchanged(root, job.id, item)) {
      continue;
    }
    await root.jobs.removeItems(job.id, [slot]);
    job.items.delete(slot);
    if (placeOf(slot) !== null) {
      running.seen.lost = [...running.seen.lost, item.path];
    }
  }
}

/** What an earlier try has left unfinished would be in the way. */
async function removeStrays({ root, job }: StepJob): Promise<void> {
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

/** Wakes the job when a record has come that may be the one of a local measurement. */
function watchRecords(running: StepJob): void {
  const { job } = running;
  const search = asksCloud(job.intent) && job.transactionId === null ? searchOf(job) : null;
  if (search !== null) {
    running.watchFor(search);
  }
}

/** Codes of failures that say nothing about the media themselves. */
const notOfTheMedia: ReadonlySet<ErrorCode> = new Set([
  "ERR_FILE",
  "ERR_STORE",
  "ERR_NOT_FOUND",
  "ERR_CANCELLED",
]);

/**
 * What follows the failure of a step: another try after a while; or, where the job can't go on, what is there is kept if that is wanted
 * and possible. Throws the error that ends the job.
 */
export function afterFailure(running: StepJob, { retry }: JobWork, step: StepName, error: unknown): Move {
  const { job, root } = running;
  running.stopWatching();
  if (step === "keep") {
    throw error;
  }
  const leftMs = leftToTryMs(running);
  if (!isRetryableJob(error) || leftMs <= 0) {
    const canKeep =
      error instanceof DimensionerError && isRetryableJob(error) && !notOfTheMedia.has(error.code);
    if (!canKeep || job.intent.onIncomplete === "error" || job.items.size === 0) {
      throw error;
    }
    return { to: "keep" };
  }
  running.trouble = error instanceof DimensionerError ? error : undefined;
  root.saveTimes(job);
  // Doubles with each failure in a row, with jitter, so that many jobs do not come back at the same moment.
  const fullMs = Math.min(retry.firstMs * 2 ** running.failures, retry.longestMs);
  running.failures += 1;
  return { againInMs: Math.min(fullMs * (0.5 + Math.random() / 2), leftMs), why: "failure" };
}

/** Until the job is given up. */
function leftToTryMs({ job: { intent, sinceMs } }: StepJob): number {
  return intent.giveUpMs === 0 ? Number.POSITIVE_INFINITY : sinceMs + intent.giveUpMs - performance.now();
}
