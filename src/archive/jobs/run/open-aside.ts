import type { StoredItem } from "../../packages/intent.ts";
import type { AsideMedia } from "../../place/aside-media.ts";
import type { OpenedPackages } from "../../place/open-packages.ts";

/** Null if the media of failed jobs stay on this computer. A store in a folder does not load what reads buckets. */
export async function openAside({ staged, place }: OpenedPackages): Promise<AsideMedia | null> {
  if (staged === null) {
    return null;
  }
  const { asideIn } = await import("../../place/aside-media.ts");
  return asideIn(place.files);
}

/**
 * Moves media of a job that has failed long ago aside, if they are still staged: earlier versions left them there. What the bucket
 * refuses now is moved when the archive is opened again.
 */
export async function isSaved(
  aside: AsideMedia | null,
  job: string,
  items: readonly StoredItem[],
): Promise<boolean> {
  try {
    return aside === null || (await aside.keep(job, items)).damaged === 0;
  } catch {
    return false;
  }
}
