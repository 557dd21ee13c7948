import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

export interface ArchivedFile {
  readonly name: string;
  readonly bytes: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
}

/** The files of one parcel's folder, read back from the disk, by name. */
export async function listArchive(folder: string): Promise<ArchivedFile[]> {
  const names = (await readdir(folder)).toSorted();
  return Promise.all(names.map((name) => describe(folder, name)));
}

async function describe(folder: string, name: string): Promise<ArchivedFile> {
  const path = join(folder, name);
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return { name, bytes: (await stat(path)).size, sha256: hash.digest("hex") };
}
