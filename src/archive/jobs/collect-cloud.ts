import { join } from "node:path";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { unfindable } from "../find/transaction-finder.ts";
import { wantedOf } from "./completeness.ts";
import { foreignVideo, isVideo } from "./demand.ts";
import { mediaPath, type MediaSource } from "./media-source.ts";
import { searchOf } from "./searches.ts";
import type { RunningJob } from "./running-job.ts";
import type { Semaphore } from "./semaphore.ts";
import { cloudSlot } from "./slots.ts";
import { namesInUse, reserveName, storeItem } from "./store-item.ts";

export interface CloudWork {
  /** The cloud of a job; throws ERR_CONFIG while it is not deployed. */
  readonly cloud: () => MediaSource;
  /** So long each further question keeps its place, so that many waiting jobs do not flood a cloud that answers fast. */
  readonly paceMs: number;
  /** Lists that are asked for at once, and jobs that download at once. */
  readonly asking: Semaphore;
  readonly downloading: Semaphore;
}

/**
 * Looks at the cloud once: finds the transaction of a local measurement, lists its media and stores what is wanted and not stored
 * yet. What was seen stays on the running job.
 */
export async function collectCloud(running: RunningJob, work: CloudWork): Promise<void> {
  const { job } = running;
  if (job.transactionId === null) {
    await findTransaction(running);
  }
  if (job.transactionId !== null) {
    await list(running, job.transactionId, work);
    await store(running, job.transactionId, work);
  }
}

async function findTransaction(running: RunningJob): Promise<void> {
  const { job, root } = running;
  const search = searchOf(job);
  const found = search === null ? unfindable() : await root.finder.find(search);
  if ("missing" in found) {
    running.notFound = found;
  } else if (await root.jobs.found(job.id, found.transactionId, found.claim)) {
    job.transactionId = found.transactionId;
    running.notFound = undefined;
    await running.lookForPackages();
  }
}

async function list(
  running: RunningJob,
  transactionId: string,
  { cloud, asking, paceMs }: CloudWork,
): Promise<void> {
  const { signal, job } = running;
  // A job that has never asked is not kept waiting by many others that ask again and again.
  const isFirst = running.isFirstTry;
  const leave = await asking.enter(signal, isFirst);
  const heldUntilMs = isFirst ? 0 : performance.now() + paceMs;
  try {
    const contentType = job.intent.contentType ?? undefined;
    const { items } = await cloud().waitForMedia(transactionId, { contentType, signal });
    const known = new Set(running.listed.map(({ contentId }) => contentId));
    if (items.some(({ contentId }) => !known.has(contentId))) {
      running.quietMs = 0;
    }
    running.listed = items;
    running.unknown = undefined;
  } catch (error) {
    if (!(error instanceof DimensionerError) || error.code !== "ERR_NOT_FOUND") {
      throw error;
    }
    running.listed = [];
    running.unknown = error;
  } finally {
    const leftMs = heldUntilMs - performance.now();
    if (leftMs > 0) {
      setTimeout(leave, leftMs).unref();
    } else {
      leave();
    }
  }
}

async function store(
  running: RunningJob,
  transactionId: string,
  { cloud, downloading }: CloudWork,
): Promise<void> {
  const { job, root, signal, existing, foreign } = running;
  const archived = new Set(
    existing.flatMap(({ manifest }) => manifest.items.map(({ contentId }) => contentId)),
  );
  const isDue = ({ contentId }: { contentId: string }): boolean =>
    !job.items.has(cloudSlot(contentId)) && !archived.has(contentId) && !foreign.has(contentId);
  const due = wantedOf(running.listed, job.intent).filter(isDue);
  if (due.length === 0) {
    return;
  }
  const used = namesInUse(job.items.values());
  running.setState("waiting");
  const leave = await downloading.enter(signal);
  running.setState("working");
  const source = cloud();
  try {
    for (const item of due.filter(isDue)) {
      const { contentId, description } = item;
      const facts = {
        source: "cloud",
        contentId,
        description,
        url: mediaPath(transactionId, contentId),
        base: reserveName(used, description ?? contentId),
      } as const;
      const { surface, host } = source.peer;
      const onProgress = (done: number, total: number | null): void => running.setBytes(done, total);
      const start = () => source.media(transactionId, contentId, { signal, onProgress });
      try {
        const stored = await storeItem(root, job.id, start, facts, { surface, host, signal });
        if (foreignVideo(job.intent) !== undefined && isVideo(stored)) {
          // It was announced as something else.
          foreign.add(contentId);
          await root.disk.unlink(join(root.work.of(job.id), stored.path));
          continue;
        }
        await root.addItems(job, new Map([[cloudSlot(contentId), stored]]));
        running.resetFailures();
      } catch (error) {
        // Listed and not there: it counts as missing.
        if (!(error instanceof DimensionerError) || error.code !== "ERR_NOT_FOUND") {
          throw error;
        }
      }
    }
  } finally {
    leave();
  }
}
