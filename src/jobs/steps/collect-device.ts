import { DimensionerError, type ErrorCode } from "../../errors/dimensioner-error.ts";
import { eachTransfer } from "../../media/each-transfer.ts";
import type { Download } from "../../model/download.ts";
import type { CollectedMedia } from "./collected-media.ts";
import { writeNote } from "../seal/item-notes.ts";
import { deviceVideoSlot, pictureSlot } from "../table/item-slots.ts";
import type { JobWork, StepJob } from "./job-work.ts";
import type { DeviceSource, TransferOptions } from "./media-source.ts";
import { isTaken } from "../table/is-taken.ts";
import type { OpenJob } from "../table/open-job.ts";
import { reserveName, storeItem } from "./store-item.ts";
import { isStored, namesOfMedia, noteStored } from "./unnoted-media.ts";

/** The errors of a device that does not have the requested medium. */
const absentCodes: ReadonlySet<ErrorCode> = new Set(["ERR_NOT_FOUND", "ERR_NO_VIDEO"]);

interface DeviceItem {
  readonly slot: string;
  readonly description: string;
  readonly start: (source: DeviceSource, options: TransferOptions) => Promise<Download>;
}

/** Whether the device may have a required medium that is not stored yet. */
export function isToCollect(running: StepJob): boolean {
  return dueOf(running.seen).length > 0;
}

function dueOf({ job, existing }: CollectedMedia): DeviceItem[] {
  const archived = existing.flatMap(({ manifest }) => manifest.items);
  return wantedOf(job).filter(
    ({ slot, description }) =>
      !isStored(job, slot) &&
      !archived.some((item) => item.source === "device" && item.description === description),
  );
}

/**
 * Stores the images that the device has of the measurement, or the video that it keeps, if they are not stored yet;
 * media that it does not have are left out.
 */
export async function collectDevice(running: StepJob, { device }: JobWork): Promise<void> {
  const { job, root, signal } = running;
  const { references } = job.intent;
  const used = namesOfMedia(job);
  const source = device(job);
  const { surface, host } = source.peer;
  const isOwn = (): boolean => source.keepsVideoOf(references.transactionReference);
  // Starts wait while the video is transferred, but no longer while it is written to the disk: asked later, it would be another's.
  const refuseOther = (): void => {
    if (!isOwn()) {
      throw new DimensionerError("noVideo", { surface, operation: "video" });
    }
  };
  let failure: { readonly error: unknown } | undefined;
  for (const { slot, description, start } of dueOf(running.seen)) {
    const isVideo = slot === deviceVideoSlot;
    if (isVideo && !isOwn()) {
      continue;
    }
    const base = reserveName(used, description);
    const facts = { source: "device", contentId: null, description, url: null, base } as const;
    const onProgress = (done: number, total: number | null): void => running.setBytes(done, total);
    try {
      const begin = async (): Promise<Download> => {
        const download = await start(source, { signal, onProgress });
        return isVideo ? eachTransfer(download, refuseOther) : download;
      };
      const item = await storeItem(root, job.id, begin, facts, { surface, host, signal });
      job.unnoted.set(slot, item);
      // The device may have deleted it before a restart.
      await writeNote(root.work.of(job.id), slot, item, root.disk);
      await root.work.sync(job.id);
      failure = await noteOrTell(running);
    } catch (error) {
      const isGone = error instanceof DimensionerError && absentCodes.has(error.code);
      if (!isGone) {
        throw error;
      }
    }
  }
  if (failure !== undefined) {
    throw failure.error;
  }
}

/**
 * Returns why the media could not be noted, because the others are stored nevertheless: the device may not have them any more when
 * the database is back. Rejects if another worker has the job.
 */
async function noteOrTell(running: StepJob): Promise<{ readonly error: unknown } | undefined> {
  try {
    await noteStored(running);
    running.resetFailures();
    return undefined;
  } catch (error) {
    if (isTaken(error)) {
      throw error;
    }
    return { error };
  }
}

/** The media that the job requires of the device. */
function wantedOf({ intent: { measuredBy } }: OpenJob): DeviceItem[] {
  const id = measuredBy?.imageIdentifier ?? null;
  const images = id === null ? [] : (measuredBy?.images ?? []);
  const items = images.map((picture): DeviceItem => ({
    slot: pictureSlot(picture),
    description: picture,
    start: (source, options) => source.image(picture, id ?? "", options),
  }));
  const video: DeviceItem = {
    slot: deviceVideoSlot,
    description: "video",
    start: (source, options) => source.video(options),
  };
  return (measuredBy?.videoAt ?? null) === null ? items : [...items, video];
}
