import { join } from "node:path";
import { fileError } from "../../media/disk.ts";
import { phrase } from "../../errors/interpolation.ts";
import { syncFolder } from "../../media/place-file.ts";
import {
  type ArchiveDisk,
  asFileError,
  diskFacts,
  makeStateFolder,
  removeTree,
  stateFolderName,
} from "../archive-disk.ts";
import { copyPlain } from "../files/copy-plain.ts";
import { hashFile } from "../packages/package-files.ts";
import type { SealedPackage } from "./package-place.ts";

/** In the archive's own folder: copies of packages, until they get their names. */
const deliveryName = "delivery";

/** The folder of the packages that a worker delivers. Whatever is in it is in the worker's spool as well. */
export function deliveryFolder(root: string, worker: string): string {
  return join(root, stateFolderName, deliveryName, worker);
}

/**
 * Copies a sealed package from the spool to the disk of the packages, where a rename can give it its name. Each file is read back there
 * and compared: the spool keeps its own only until the package is archived. Returns the folder of the copy. Rejects with ERR_FILE.
 */
export async function deliver(
  { job, folder, files, manifest }: SealedPackage,
  { root, disk, spoolDisk, worker }: DeliveryParts,
): Promise<string> {
  const written = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw asFileError(error, root, root);
    }
  };
  const copy = join(deliveryFolder(root, worker), job);
  await written(async () => {
    await removeTree(copy, disk);
    let at = root;
    for (const part of [stateFolderName, deliveryName, worker, job]) {
      at = join(at, part);
      await makeStateFolder(at, disk);
    }
  });
  for (const file of [...files, manifest]) {
    const [from, to] = [join(folder, file.path), join(copy, file.path)];
    let problem: string | undefined;
    try {
      problem = await copyPlain(from, to, file, { source: spoolDisk, target: disk, written });
    } catch (error) {
      throw asFileError(error, from);
    }
    if (problem !== undefined) {
      throw fileError("fileOther", from, diskFacts, phrase("fileChanged"));
    }
    const there = await written(() => hashFile(to, disk));
    if (there?.bytes !== file.bytes || there.sha256 !== file.sha256) {
      throw fileError("fileOther", to, diskFacts, phrase("fileChanged"));
    }
  }
  await written(() => syncFolder(copy, disk, diskFacts));
  return copy;
}

/** From which disk to which one packages are delivered. */
export interface DeliveryParts {
  readonly root: string;
  readonly disk: ArchiveDisk;
  readonly spoolDisk: ArchiveDisk;
  readonly worker: string;
}
