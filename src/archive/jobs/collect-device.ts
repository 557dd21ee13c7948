import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { pictureSlot } from "./slots.ts";
import type { DeviceSource } from "./media-source.ts";
import type { RunningJob } from "./running-job.ts";
import type { Semaphore } from "./semaphore.ts";
import { namesInUse, reserveName, storeItem } from "./store-item.ts";

export interface DeviceWork {
  /** The device of a job; throws ERR_CONFIG while it is not deployed. */
  readonly device: () => DeviceSource;
  /** Jobs that download pictures at once: they do not wait behind videos, since a device keeps its pictures for a while only. */
  readonly picturing: Semaphore;
}

/** Stores the pictures that the device has of the measurement and that are not stored yet; what it does not have is left out. */
export async function collectDevice(running: RunningJob, { device, picturing }: DeviceWork): Promise<void> {
  const { job, root, signal, existing } = running;
  const { measuredBy } = job.intent;
  const archived = existing.flatMap(({ manifest }) => manifest.items);
  const due = (measuredBy?.images ?? []).filter(
    (picture) =>
      !job.items.has(pictureSlot(picture)) &&
      !archived.some(({ source, description }) => source === "device" && description === picture),
  );
  const id = measuredBy?.imageIdentifier ?? null;
  if (due.length === 0 || id === null) {
    return;
  }
  const used = namesInUse(job.items.values());
  const leave = await picturing.enter(signal);
  try {
    const source = device();
    const { surface, host } = source.peer;
    for (const picture of due) {
      const facts = {
        source: "device",
        contentId: null,
        description: picture,
        url: null,
        base: reserveName(used, picture),
      } as const;
      const onProgress = (done: number, total: number | null): void => running.setBytes(done, total);
      try {
        const start = () => source.image(picture, id, { signal, onProgress });
        const item = await storeItem(root, job.id, start, facts, { surface, host, signal });
        await root.addItems(job, new Map([[pictureSlot(picture), item]]));
        running.resetFailures();
      } catch (error) {
        if (!(error instanceof DimensionerError) || error.code !== "ERR_NOT_FOUND") {
          throw error;
        }
      }
    }
  } finally {
    leave();
  }
}
