import { join } from "node:path";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import type { MediaItem } from "../../model/shapes.ts";
import { unfindable } from "../find/transaction-finder.ts";
import type { StoredItem } from "../../vault/packages/intent.ts";
import type { CollectedMedia } from "./collected-media.ts";
import { askedOf, wantedOf } from "./completeness.ts";
import { otherParcelsVideo, isVideo } from "./required-media.ts";
import type { JobWork, StepJob } from "./job-work.ts";
import { mediaPath, type MediaSource } from "./media-source.ts";
import { searchOf } from "../table/searches.ts";
import { cloudSlot } from "../table/item-slots.ts";
import { reserveName, storeItem } from "./store-item.ts";
import { isStored, namesOfMedia, noteStored } from "./unnoted-media.ts";

/** Finds the transaction of a local measurement by the webhook's records, and its existing packages. */
export async function findTransaction(running: StepJob, { onDamaged }: JobWork): Promise<void> {
  const { job, root } = running;
  const search = searchOf(job);
  const found = search === null ? unfindable() : await root.finder.find(search);
  if ("missing" in found) {
    running.seen.notFound = found;
  } else if (await root.jobs.found(job, found)) {
    job.transactionId = found.transactionId;
    running.seen.notFound = undefined;
    await running.seen.lookForPackages(root, onDamaged);
  }
}

/** Lists the transaction's media, and notes the list in the running job. */
export async function listMedia(running: StepJob, { cloud }: JobWork): Promise<void> {
  const { signal, job } = running;
  const { transactionId } = job;
  if (transactionId === null) {
    return;
  }
  try {
    const contentType = job.intent.contentType ?? undefined;
    const { items } = await cloud(job).waitForMedia(transactionId, { contentType, signal });
    const known = new Set(running.seen.listed.map(({ contentId }) => contentId));
    if (items.some(({ contentId }) => !known.has(contentId))) {
      running.seen.quietMs = 0;
    }
    running.seen.listed = items;
    running.seen.unknown = undefined;
  } catch (error) {
    if (!(error instanceof DimensionerError) || error.code !== "ERR_NOT_FOUND") {
      throw error;
    }
    running.seen.listed = [];
    running.seen.unknown = error;
  }
}

/** Whether the list has a required medium that is not stored yet. */
export function isToDownload(running: StepJob): boolean {
  return dueOf(running.seen).length > 0;
}

function dueOf(seen: CollectedMedia): MediaItem[] {
  const { job, existing, otherParcels, listed } = seen;
  const archived = new Set(
    existing.flatMap(({ manifest }) => manifest.items.map(({ contentId }) => contentId)),
  );
  return wantedOf(listed, askedOf(seen)).filter(
    ({ contentId }) =>
      !isStored(job, cloudSlot(contentId)) && !archived.has(contentId) && !otherParcels.has(contentId),
  );
}

/** A medium of this size or more is noted in the database at once, because to download it again takes time. */
const largeBytes = 1_000_000;

/**
 * Stores the required media of the list that are not stored yet. Small ones are noted in the database together: after a
 * kill they are downloaded again. With messages that may still bring parts, files that are not noted are not removed,
 * so each medium is noted at once.
 */
export async function downloadMedia(running: StepJob, { cloud }: JobWork): Promise<void> {
  const { job } = running;
  const { transactionId } = job;
  if (transactionId === null) {
    return;
  }
  const used = namesOfMedia(job);
  const source = cloud(job);
  try {
    for (const item of dueOf(running.seen)) {
      const slot = cloudSlot(item.contentId);
      // The list may contain it twice.
      if (isStored(job, slot) || running.seen.otherParcels.has(item.contentId)) {
        continue;
      }
      const one = await download(running, source, { item, transactionId, used });
      if (one === undefined) {
        continue;
      }
      job.unnoted.set(slot, one);
      if (one.bytes >= largeBytes || job.intent.sequence !== null) {
        await noteStored(running);
      }
    }
  } finally {
    await noteStored(running);
  }
}

/** Stores one medium; undefined if it cannot be downloaded, or is a video of another parcel. */
async function download(
  running: StepJob,
  source: MediaSource,
  { item, transactionId, used }: { item: MediaItem; transactionId: string; used: Set<string> },
): Promise<StoredItem | undefined> {
  const { job, root, signal } = running;
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
  let stored: StoredItem;
  try {
    stored = await storeItem(root, job.id, start, facts, { surface, host, signal });
  } catch (error) {
    // It is listed but cannot be downloaded, so it counts as missing.
    if (!(error instanceof DimensionerError) || error.code !== "ERR_NOT_FOUND") {
      throw error;
    }
    return undefined;
  }
  if (otherParcelsVideo(askedOf(running.seen)) !== undefined && isVideo(stored)) {
    // It was announced with another type.
    running.seen.otherParcels = new Set([...running.seen.otherParcels, contentId]);
    await root.disk.unlink(join(root.work.of(job.id), stored.path));
    return undefined;
  }
  running.resetFailures();
  return stored;
}
