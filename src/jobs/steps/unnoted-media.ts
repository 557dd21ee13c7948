import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { diskFacts } from "../../vault/archive-disk.ts";
import { readNotes, removeNote } from "../seal/item-notes.ts";
import type { OpenJob } from "../table/open-job.ts";
import type { StepJob } from "./job-work.ts";
import { isUnchanged, namesInUse } from "./store-item.ts";

/**
 * Adds the media to the job that are stored and not noted yet. If the bucket or the database fails, they stay where they are, and the
 * next try notes them first: a device may have deleted its own, and the database may have noted them although its answer was lost.
 * Rejects with ERR_STORE.
 */
export async function noteStored({ job, root }: Pick<StepJob, "job" | "root">): Promise<void> {
  if (job.unnoted.size > 0) {
    const noted = new Map(job.unnoted);
    if (!(await root.intake.addItems(job, noted))) {
      // They stay in the work folder with their notes, and are moved aside with it.
      throw new DimensionerError("jobUnknown", diskFacts, { value: job.id });
    }
    noted.forEach((_item, slot) => job.unnoted.delete(slot));
    for (const item of [...noted.values()].filter(({ source }) => source === "device")) {
      await removeNote(root.work.of(job.id), item, root.disk);
    }
  }
}

/** Finds what an earlier process has stored of a device, and the database has not noted. */
export async function findUnnoted({ job, root }: Pick<StepJob, "job" | "root">): Promise<void> {
  for (const [slot, item] of await readNotes(root.work.of(job.id), root.disk)) {
    if (!isStored(job, slot)) {
      job.unnoted.set(slot, item);
    }
  }
}

/**
 * The same for what an earlier try has stored. A file that is not there any more is not a part of the job, whatever the database has noted
 * of it: it is asked for again.
 */
export async function noteStoredBefore(running: Pick<StepJob, "job" | "root">): Promise<void> {
  const { job, root } = running;
  for (const [slot, item] of job.unnoted) {
    if (!(await isUnchanged(root, job.id, item))) {
      await root.jobs.removeItems(job.id, [slot]);
      job.unnoted.delete(slot);
    }
  }
  if (job.unnoted.size > 0) {
    // What an attempt has stored may not be synced.
    await root.work.sync(job.id);
  }
  await noteStored(running);
}

/** The names of the job's files, without extensions. */
export function namesOfMedia({ items, unnoted, lost }: OpenJob): Set<string> {
  return namesInUse([...items.values(), ...unnoted.values(), ...lost.values()]);
}

/** Whether a medium is stored, noted or not. */
export function isStored({ items, unnoted }: OpenJob, slot: string): boolean {
  return items.has(slot) || unnoted.has(slot);
}
