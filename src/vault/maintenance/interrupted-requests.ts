import { dirname } from "node:path/posix";
import { probeName } from "../s3/probe.ts";
import { stateFolderName } from "../archive-disk.ts";
import { keyOf } from "../bucket/bucket-disk.ts";
import type { BucketFiles } from "../files/bucket-files.ts";
import { isUploadLocation } from "./upload-location.ts";

/**
 * Removes from a bucket what requests have left that ended in the middle, before a time: parts of large objects that were never
 * put together, for example because the answer to the first request was lost, and the objects with which a connection was
 * tested. What is not of this package stays. Throws ERR_STORE.
 */
export async function removeInterrupted({ bucket, root }: BucketFiles, beforeMs: number): Promise<void> {
  const archive = keyOf(root);
  const below = archive === "" ? "" : `${archive}/`;
  const state = `${below}${stateFolderName}/`;
  const isOurs = (key: string): boolean =>
    key.startsWith(state) || isUploadLocation(dirname(key.slice(below.length)));
  for await (const page of bucket.list(`${state}${probeName}`)) {
    for (const { key, storedAtMs } of page) {
      if (storedAtMs < beforeMs && !key.slice(state.length).includes("/")) {
        await bucket.remove(key);
      }
    }
  }
  await bucket.endUploads(below, beforeMs, isOurs);
}
