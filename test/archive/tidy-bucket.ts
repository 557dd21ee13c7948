import assert from "node:assert/strict";
import type { Database } from "../../src/database/database.ts";
import { plainDisk } from "../../src/vault/archive-disk.ts";
import type { BucketVault } from "../../src/vault/bucket/bucket-vault.ts";
import { removeUploads } from "../../src/vault/upkeep/leftovers.ts";
import { StagedMedia } from "../../src/vault/staged-media.ts";

/** Removes from a bucket what jobs have left that ended elsewhere, as a worker does after a day. */
export async function tidyBucket(vault: BucketVault, database: Pick<Database, "transaction">): Promise<void> {
  const beforeMs = Date.now() + 60_000;
  for await (const { what, path, reason } of removeUploads({ vault, database }, { beforeMs })) {
    assert.equal(what, "leftover", `${path}: ${reason}`);
  }
  await new StagedMedia(vault, plainDisk).removeOld(beforeMs, database);
}
