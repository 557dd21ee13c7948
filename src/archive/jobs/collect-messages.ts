import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { verbatim, phrase, type Problem } from "../../errors/interpolation.ts";
import { diskFacts } from "../archive-disk.ts";
import { contentKey } from "./keys.ts";
import type { FindMissing } from "./media-source.ts";
import type { OpenJob } from "./open-job.ts";
import type { RunningJob } from "./running-job.ts";
import type { Judgement } from "./sealing.ts";

/** Waits until all parts of a sequence have come, or none has come for the job's wait. */
export async function collectMessages(
  running: RunningJob,
  { findMissing, lastPartAt }: { findMissing: FindMissing; lastPartAt: () => number },
): Promise<() => Judgement> {
  const { job } = running;
  const { intent } = job;
  while (!isWhole(job)) {
    const leftMs = lastPartAt() + intent.waitMs - performance.now();
    if (leftMs <= 0) {
      break;
    }
    running.setState("waiting");
    await running.pause(leftMs);
    running.setState("working");
  }
  const missing = missingFrom(running, findMissing);
  if (missing.length > 0 && intent.onIncomplete === "error") {
    throw incomplete(running, missing);
  }
  // A part may come at the last moment: what counts is what the sealed job has.
  return () => {
    const missingNow = missingFrom(running, findMissing);
    return {
      key: contentKey(intent.transactionId, job.answer, job.items.values()),
      complete: missingNow.length === 0,
      missing: missingNow,
    };
  };
}

function missingFrom({ job, lost }: RunningJob, findMissing: FindMissing): Problem[] {
  const media = [...job.items.values()].map(
    ({ contentId, description, contentTypeAnnounced, contentTypeFound }) => ({
      contentId: contentId ?? "",
      description,
      contentType: contentTypeAnnounced ?? contentTypeFound,
    }),
  );
  const named = [...lost, ...findMissing(media, job.intent.expect)];
  return [...missingParts(job), ...named.map(verbatim)];
}

/** What came with earlier messages is on no message any more: the error says where it is kept. */
function incomplete({ job, root }: RunningJob, missing: readonly Problem[]): DimensionerError {
  const { sequence, waitMs } = job.intent;
  return sequence === null
    ? new DimensionerError("mediaIncomplete", diskFacts, { seconds: 0, missing })
    : new DimensionerError("partsIncomplete", diskFacts, {
        seconds: waitMs / 1000,
        missing,
        path: root.work.asideOf(job.id),
      });
}

/** Parts of a sequence are counted by their place: one that comes twice is one. */
function partsOf(job: OpenJob): number {
  return new Set([...job.items.keys()].map(placeOf)).size;
}

/** The place in its sequence of what is stored in a slot: a part may bring several media. */
export function placeOf(slot: string): string {
  return slot.replace(/\..*$/, "");
}

function isWhole(job: OpenJob): boolean {
  return job.intent.sequence === null || (job.count !== null && partsOf(job) >= job.count);
}

function missingParts(job: OpenJob): Problem[] {
  if (isWhole(job)) {
    return [];
  }
  return job.count === null
    ? [phrase("lastPart")]
    : [phrase("partsMissing", { count: job.count - partsOf(job), total: job.count })];
}
