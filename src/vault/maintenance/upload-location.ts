import { relative, sep } from "node:path";
import { stateFolderName } from "../archive-disk.ts";
import type { BucketFiles } from "../files/bucket-files.ts";

/** The last part of the location of a package in a bucket: so much is random that no two packages have the same one. */
const packageName = /^[0-9a-f]{12}$/;

/** Whether a package may have been uploaded to a location. */
export function isUploadLocation(location: string): boolean {
  const parts = location.split("/");
  return (
    packageName.test(parts.at(-1) ?? "") &&
    parts[0] !== stateFolderName &&
    parts.every((part) => !/^\.{0,2}$|[\\\0]/.test(part))
  );
}

/** The location of a folder, as `BucketDisk` names it. */
export function locationOf({ root }: Pick<BucketFiles, "root">, path: string): string {
  return relative(root, path).split(sep).join("/");
}
