import type { EarlierJobs } from "../table/earlier-jobs.ts";
import type { WorkFolders } from "../seal/work-folders.ts";

const dayMs = 24 * 3_600_000;

/**
 * Removes the work folders of jobs that have ended, and moves aside those of unknown jobs and those with media that are
 * nowhere else. Returns where these are. `open` has the ids of the jobs whose folders are still needed.
 */
export async function tidyWork(
  work: WorkFolders,
  earlier: EarlierJobs,
  open: ReadonlySet<string>,
): Promise<string[]> {
  return await tidy(work, earlier, { open, keepMs: 0 });
}

/**
 * The same for workers whose lease has ended. A folder without a job is left alone for a day: a suspended process may be
 * accepting its message.
 */
export async function tidyEndedWorkers(work: WorkFolders, earlier: EarlierJobs): Promise<string[]> {
  const movedAside: string[] = [];
  for (const worker of await earlier.endedWorkers(await work.workers())) {
    const other = work.ofWorker(worker);
    const open = await earlier.open(await other.list());
    movedAside.push(...(await tidy(other, earlier, { open, keepMs: dayMs })));
    await other.removeRoot();
  }
  return movedAside;
}

async function tidy(
  work: WorkFolders,
  earlier: EarlierJobs,
  { open, keepMs }: { readonly open: ReadonlySet<string>; readonly keepMs: number },
): Promise<string[]> {
  const names = (await work.list()).filter((name) => !open.has(name));
  const ended = await earlier.withoutMedia(names);
  const movedAside: string[] = [];
  for (const name of names) {
    const kept = ended.get(name);
    // A worker that had lost the job may have left a medium that is in the package, or one that is nowhere else.
    if (kept !== undefined && (await work.hasNotedOnly(name, kept))) {
      await work.remove(name);
      continue;
    }
    if (keepMs > 0 && Date.now() - (await work.changedAtMs(name)) < keepMs) {
      continue;
    }
    const path = await work.moveAside(name);
    if (path !== null) {
      movedAside.push(path);
    }
  }
  if (movedAside.length > 0) {
    await work.syncAside();
  }
  return movedAside;
}
