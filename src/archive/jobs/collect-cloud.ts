import { join } from "node:path";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { verbatim, phrase, type Problem } from "../../errors/interpolation.ts";
import type { MediaItem } from "../../model/shapes.ts";
import { asFileError, removeTree } from "../archive-disk.ts";
import { mediaPath, type MediaSource } from "./media-source.ts";
import type { RunningJob } from "./running-job.ts";
import type { Judgement } from "./sealing.ts";
import type { Semaphore } from "./semaphore.ts";
import { namesInUse, reserveName, storeItem } from "./store-item.ts";

/** How often the cloud is asked for media that are not there yet. */
export interface PollRules {
  readonly firstMs: number;
  readonly longestMs: number;
  /** So long each further question keeps its place, so that many waiting jobs do not flood a cloud that answers fast. */
  readonly paceMs: number;
}

interface CloudWork {
  readonly source: MediaSource;
  readonly key: string;
  readonly poll: PollRules;
  /** Lists that are asked for at once, and jobs that download at once. */
  readonly asking: Semaphore;
  readonly downloading: Semaphore;
}

interface Listing {
  readonly items: readonly MediaItem[];
  readonly missing: readonly string[];
  /** The cloud does not know the transaction (yet). */
  readonly unknown?: DimensionerError;
}

/**
 * Collects a transaction's media: what is listed is stored at once, and the cloud is asked again until all that is
 * expected is there or the wait is over. Throws ERR_MEDIA_INCOMPLETE or ERR_NOT_FOUND then.
 */
export async function collectCloud(running: RunningJob, work: CloudWork): Promise<() => Judgement> {
  const { job, root } = running;
  const { intent } = job;
  const waitedBefore = job.waitedMs;
  await removeStrays(running);
  try {
    for (;;) {
      const listing = await ask(running, work);
      running.listed = listing.items;
      running.missing = missingOf(listing);
      const notStored = await store(running, listing.items, work);
      const lacking = [...running.missing, ...notStored.map(verbatim)];
      if (lacking.length === 0) {
        return () => ({ key: work.key, complete: true, missing: [] });
      }
      if (job.waitedMs >= intent.waitMs) {
        if (listing.unknown !== undefined) {
          throw listing.unknown;
        }
        if (intent.onIncomplete === "error") {
          throw incomplete(work.source, intent.waitMs, lacking);
        }
        return () => ({ key: work.key, complete: false, missing: lacking });
      }
      await waitForMore(running, work.poll);
    }
  } finally {
    if (job.waitedMs !== waitedBefore) {
      root.saveTimes(job);
    }
  }
}

async function ask(running: RunningJob, { source, asking, poll }: CloudWork): Promise<Listing> {
  const { signal } = running;
  const { transactionId, contentType, expect } = running.job.intent;
  // A job that has never asked is not kept waiting by many others that ask again and again.
  const isFirst = running.isFirstTry;
  const leave = await asking.enter(signal, isFirst);
  const heldUntilMs = isFirst ? 0 : performance.now() + poll.paceMs;
  try {
    return await source.waitForMedia(transactionId, {
      contentType: contentType ?? undefined,
      expect,
      signal,
    });
  } catch (error) {
    if (error instanceof DimensionerError && error.code === "ERR_NOT_FOUND") {
      return { items: [], missing: expect, unknown: error };
    }
    throw error;
  } finally {
    const leftMs = heldUntilMs - performance.now();
    if (leftMs > 0) {
      setTimeout(leave, leftMs).unref();
    } else {
      leave();
    }
  }
}

function missingOf({ items, missing }: Listing): Problem[] {
  return items.length === 0 && missing.length === 0 ? [phrase("anyMedia")] : missing.map(verbatim);
}

/** Stores what is not stored yet; returns what the cloud lists and does not have. */
async function store(
  running: RunningJob,
  items: readonly MediaItem[],
  { source, downloading }: CloudWork,
): Promise<string[]> {
  const { job, root, signal } = running;
  const due = items.filter(({ contentId }) => !job.items.has(contentId));
  if (due.length === 0) {
    return [];
  }
  const used = namesInUse(job.items.values());
  const lacking: string[] = [];
  const { transactionId } = job.intent;
  running.setState("waiting");
  const leave = await downloading.enter(signal);
  running.setState("working");
  try {
    for (const { contentId, description } of due) {
      if (job.items.has(contentId)) {
        continue;
      }
      const facts = {
        contentId,
        description,
        url: mediaPath(transactionId, contentId),
        base: reserveName(used, description ?? contentId),
      };
      const { surface, host } = source.peer;
      const onProgress = (done: number, total: number | null): void => running.setBytes(done, total);
      try {
        const item = await storeItem(
          root,
          job.id,
          () => source.media(transactionId, contentId, { signal, onProgress }),
          facts,
          { surface, host, signal },
        );
        await root.addItems(job, new Map([[contentId, item]]));
        running.resetFailures();
      } catch (error) {
        if (!(error instanceof DimensionerError) || error.code !== "ERR_NOT_FOUND") {
          throw error;
        }
        lacking.push(description ?? contentId);
      }
    }
  } finally {
    leave();
  }
  return lacking;
}

/** Short at first, then longer: a video that takes minutes needs no question a second. */
async function waitForMore(running: RunningJob, { firstMs, longestMs }: PollRules): Promise<void> {
  const { job } = running;
  const leftMs = job.intent.waitMs - job.waitedMs;
  const intervalMs = Math.min(Math.max(firstMs, job.waitedMs / 5), longestMs, leftMs);
  const since = performance.now();
  running.setState("waiting");
  try {
    running.resetFailures();
    await running.pause(intervalMs);
  } finally {
    job.waitedMs += Math.max(performance.now() - since, 1);
  }
}

/** What an earlier try has left unfinished would be in the way. */
async function removeStrays({ root, job }: RunningJob): Promise<void> {
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

function incomplete(source: MediaSource, waitMs: number, missing: readonly Problem[]): DimensionerError {
  return new DimensionerError(
    "mediaIncomplete",
    { surface: source.peer.surface, operation: "archive" },
    { seconds: waitMs / 1000, missing },
  );
}
