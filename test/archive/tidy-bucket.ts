import assert from "node:assert/strict";
import type { Database } from "../../src/database/database.ts";
import { plainDisk } from "../../src/vault/archive-disk.ts";
import type { BucketFiles } from "../../src/vault/files/bucket-files.ts";
import { removeUploads } from "../../src/vault/leftovers.ts";
import { StagedMedia } from "../../src/vault/place/staged-media.ts";

/** Removes from a bucket what jobs have left that ended elsewhere, as a worker does after a day. */
export async function tidyBucket(files: BucketFiles, database: Pick<Database, "transaction">): Promise<void> {
  const beforeMs = Date.now() + 60_000;
  for await (const { what, path, reason } of removeUploads({ files, database }, { beforeMs })) {
    assert.equal(what, "leftover", `${path}: ${reason}`);
  }
  await new StagedMedia(files, plainDisk).removeOld(beforeMs, database);
}
