import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { keyOf } from "../../src/vault/bucket/bucket-disk.ts";
import { copyArchive } from "../../src/vault/upkeep/upkeep.ts";
import type { BucketLocation } from "../../src/vault/store.ts";
import type { BucketVault } from "../../src/vault/bucket/bucket-vault.ts";
import { namedVault, openBucketVault } from "../../src/vault/open-vault.ts";
import { type BucketServer, forTests } from "../support/s3-servers.ts";
import type { copiesOfArchive } from "./packages.ts";

/** An archive in a bucket, and the folder of which it is a copy. */
export interface InBucket {
  readonly root: string;
  readonly database: string;
  /** The address with its options. */
  readonly url: string;
  /** Without them. */
  readonly name: string;
  readonly location: BucketLocation;
  readonly vault: BucketVault;
}

/** Copies an archive to a bucket, below a prefix of its own. The suite has to use the credentials of the environment. */
export function withBucket(
  server: Pick<BucketServer, "url">,
  archive: Pick<ReturnType<typeof copiesOfArchive>, "withArchive">,
  body: (given: InBucket) => Promise<void>,
): Promise<void> {
  return archive.withArchive(async (root, database) => {
    const url = server.url(`dock 4/${randomUUID()}/ü`);
    await copyArchive(root, url, {});
    const location = namedVault(url);
    assert.ok(location.kind === "s3");
    const vault = await openBucketVault(location, forTests);
    try {
      await body({ root, database, url, name: location.address.name, location, vault });
    } finally {
      await vault.close();
    }
  });
}

/** The keys below a folder of the archive, as paths from the folder of packages. */
export async function keysIn({ bucket, root }: BucketVault, folder: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const page of bucket.list(`${keyOf(root)}/${folder}/`)) {
    keys.push(...page.map(({ key }) => key.slice(keyOf(root).length + 1)));
  }
  return keys;
}
