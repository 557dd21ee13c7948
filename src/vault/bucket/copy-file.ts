import { type ReadDisk, plainDisk } from "../archive-disk.ts";
import { type FoundFile, openPlain } from "../packages/package-files.ts";
import type { Objects } from "../s3/bucket.ts";
import type { StoreOptions, Stored } from "../s3/store-object.ts";

/**
 * Copies a file to a bucket. Nothing is stored unless its content is the `expected` one: `changed`. Undefined if there
 * is no such file. Throws the system's error and ERR_STORE.
 */
export async function copyFile(
  path: string,
  bucket: Objects,
  key: string,
  expected: FoundFile,
  { disk = plainDisk, ...options }: StoreOptions & { readonly disk?: Pick<ReadDisk, "open"> },
): Promise<Stored | undefined> {
  const file = await openPlain(path, disk);
  if (file === undefined) {
    return undefined;
  }
  const { bytes, sha256 } = expected;
  const read = async (position: number, length: number): Promise<Buffer> => {
    const block = Buffer.allocUnsafe(length);
    let done = 0;
    for (let bytesRead = 1; bytesRead > 0 && done < length; done += bytesRead) {
      ({ bytesRead } = await file.read(block, done, length - done, position + done));
    }
    return block.subarray(0, done);
  };
  try {
    return await bucket.store(key, { bytes, sha256, read }, options);
  } finally {
    await file.close();
  }
}
