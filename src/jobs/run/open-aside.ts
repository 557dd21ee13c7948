import type { StoredItem } from "../../vault/packages/intent.ts";
import type { AsideMedia } from "../../vault/place/aside-media.ts";
import type { OpenedPackages } from "../../vault/place/open-packages.ts";
import type { StagedMedia } from "../../vault/place/staged-media.ts";

/** Null if the media of failed jobs stay on this computer. A store in a folder does not load what reads buckets. */
export async function openAside({ staged, place }: OpenedPackages): Promise<AsideMedia | null> {
  if (staged === null) {
    return null;
  }
  const { asideIn } = await import("../../vault/place/aside-media.ts");
  return asideIn(place.files);
}

/**
 * Moves media of a job that has failed long ago aside, if they are still staged: earlier versions left them there. What the bucket
 * refuses now is moved when the archive is opened again. Without the row of the job, nobody but a person removes what is staged.
 */
export async function isSaved(
  { aside, staged }: { readonly aside: AsideMedia | null; readonly staged: StagedMedia | null },
  job: string,
  items: readonly StoredItem[],
): Promise<boolean> {
  try {
    const isKept = aside === null || (await aside.keep(job, items)).damaged === 0;
    if (isKept) {
      await staged?.remove(job, items);
    }
    return isKept;
  } catch {
    return false;
  }
}
