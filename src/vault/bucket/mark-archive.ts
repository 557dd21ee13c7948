import { stateFolderName } from "../archive-disk.ts";
import type { Objects } from "../s3/bucket.ts";
import { sourceOf } from "../s3/store-object.ts";

/** What people read who find the object. */
const content = `${JSON.stringify({ note: "The packages here are an archive of their own, also if there is another one around it." })}\n`;

/**
 * Stores an object in the state folder of an archive, unless it is there: a bucket has no folder that is empty, and without it the
 * packages would belong to an archive with a shorter prefix, which deletes them by its own age. `prefix` is that of the archive.
 * Throws ERR_STORE.
 */
export async function markArchive(bucket: Objects, prefix: string): Promise<void> {
  const key = [prefix, stateFolderName, "archive.json"].filter((part) => part !== "").join("/");
  if ((await bucket.head(key)) === undefined) {
    await bucket.store(key, sourceOf(content), { isNew: true, contentType: "application/json" });
  }
}
