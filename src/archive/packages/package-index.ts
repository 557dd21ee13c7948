import { join } from "node:path";
import { journalFileName, plainDisk, stateFolderName } from "../archive-disk.ts";
import { decodeLine, readLines } from "../journal/journal-lines.ts";
import { openPlain } from "./package-files.ts";
import { decodeRecord } from "./records.ts";

/** Where the index of an archive lies, below its root. */
export const indexPath = `${stateFolderName}/${journalFileName}`;

/** What an archive remembers of the packages it has written, by the SHA-256 of their manifests. */
export interface PackageIndex {
  /** Folders of the packages, below the archive's root. */
  readonly packages: ReadonlyMap<string, string>;
  /** Packages that are about to get their names, or got them just before a kill. */
  readonly placing: ReadonlySet<string>;
  /** Lines that cannot be read. Each may have been a package. */
  readonly damaged: number;
}

/** Undefined where there is none, or one that does not begin as an index does. */
export async function loadIndex(root: string): Promise<PackageIndex | undefined> {
  const file = await openPlain(join(root, indexPath), plainDisk);
  if (file === undefined) {
    return undefined;
  }
  const packages = new Map<string, string>();
  const placing = new Set<string>();
  let damaged = 0;
  let hasBegun = false;
  try {
    for await (const lines of readLines(file)) {
      for (const { text } of lines) {
        const record = decodeRecord(decodeLine(text));
        hasBegun ||= record?.type === "journal";
        if (!hasBegun) {
          return undefined;
        }
        if (record === undefined) {
          damaged += 1;
        } else if (record.type === "archived") {
          packages.set(record.sha256, record.path);
        } else if (record.type === "placing") {
          placing.add(record.sha256);
        }
      }
    }
  } finally {
    await file.close();
  }
  return hasBegun ? { packages, placing, damaged } : undefined;
}
