import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { verbatim, phrase, type Problem } from "../../errors/interpolation.ts";
import { diskFacts } from "../archive-disk.ts";
import { contentKey } from "./keys.ts";
import type { FindMissing } from "./media-source.ts";
import type { OpenJob } from "../journal/open-job.ts";
import type { Collected, RunningJob } from "./running-job.ts";

/** Waits until all parts of a sequence have come, or none has come for the job's wait. */
export async function collectMessages(
  running: RunningJob,
  { findMissing, lastPartAt }: { findMissing: FindMissing; lastPartAt: () => number },
): Promise<Collected> {
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
  const media = [...job.items.values()].map(
    ({ contentId, description, contentTypeAnnounced, contentTypeFound }) => ({
      contentId: contentId ?? "",
      description,
      contentType: contentTypeAnnounced ?? contentTypeFound,
    }),
  );
  const named = [...running.lost, ...findMissing(media, intent.expect)];
  const missing = [...missingParts(job), ...named.map(verbatim)];
  if (missing.length > 0 && intent.onIncomplete === "error") {
    throw new DimensionerError("mediaIncomplete", diskFacts, {
      seconds: intent.sequence === null ? 0 : intent.waitMs / 1000,
      missing,
    });
  }
  return { key: contentKey(job), complete: missing.length === 0, missing };
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
