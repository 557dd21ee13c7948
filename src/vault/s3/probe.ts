import { randomUUID } from "node:crypto";
import { phrase, ProblemError } from "../../errors/interpolation.ts";
import { sha256Of } from "../../model/sha256.ts";
import type { Objects } from "./bucket.ts";
import { sourceOf } from "./store-object.ts";

/** What a bucket can do besides storing objects. */
export interface BucketAbilities {
  /** Whether an object can be stored only if there is none of its name. */
  readonly isConditional: boolean;
  /** Whether objects can be protected from being deleted (Object Lock); null if it is not known. */
  readonly hasLock: boolean | null;
}

/** How the name of the object begins. One that cannot be removed, because the test was ended, is removed by its name a day later. */
export const probeName = "test-";

/**
 * Stores, lists, reads and deletes an object whose key begins with the prefix, and finds out what the bucket can do. Nothing
 * remains. Rejects with ERR_STORE.
 */
export async function probeBucket(bucket: Objects, prefix: string): Promise<BucketAbilities> {
  const key = `${prefix}${probeName}${randomUUID()}`;
  let abilities: BucketAbilities;
  try {
    await bucket.store(key, sourceOf("first"), { isNew: true });
    const again = await bucket.store(key, sourceOf("second"), { isNew: true });
    const content = again === "exists" ? "first" : "second";
    const keys: string[] = [];
    for await (const page of bucket.list(key)) {
      keys.push(...page.map((one) => one.key));
    }
    const head = await bucket.head(key);
    if (keys.join() !== key || head?.sha256 !== sha256Of(content)) {
      throw bucket.explain("test", new ProblemError(phrase("bucketNotS3")));
    }
    abilities = { isConditional: again === "exists", hasLock: await bucket.hasLock() };
  } catch (error) {
    await bucket.remove(key).catch(() => undefined);
    throw error;
  }
  await bucket.remove(key);
  return abilities;
}
