import { join } from "node:path";
import * as v from "valibot";
import { systemCode } from "../../media/disk.ts";
import { plainDisk, pruneLogName, type ReadDisk } from "../archive-disk.ts";
import { openPlain } from "../packages/package-files.ts";
import { addLines, decodeLine, readLines } from "../files/checked-lines.ts";

const prunedLine = v.object({
  at: v.string(),
  /** The package's folder below the root, with slashes. */
  path: v.string(),
  /** The SHA-256 of its manifest. */
  sha256: v.string(),
  transactionId: v.nullable(v.string()),
  transactionReference: v.nullable(v.string()),
  archived: v.string(),
  files: v.number(),
  bytes: v.number(),
});

/** One line of the log of deleted packages. */
export type PrunedLine = v.InferOutput<typeof prunedLine>;

/** The log of packages that were deleted because of their age: one line with a checksum for each. */
export class PruneLog {
  readonly #path: string;

  constructor(stateFolder: string) {
    this.#path = join(stateFolder, pruneLogName);
  }

  /** Adds a line; resolves when it is on the disk. */
  async add(entry: PrunedLine): Promise<void> {
    await addLines(this.#path, [entry], plainDisk);
  }
}

/**
 * Reads the log, some lines at a time, from a position on: 0, or where an earlier reading has ended. A line with a
 * wrong checksum is skipped.
 */
export async function* readPruneLog(
  stateFolder: string,
  disk: ReadDisk,
  from: number,
): AsyncGenerator<{ entries: readonly PrunedLine[]; end: number }> {
  const path = join(stateFolder, pruneLogName);
  const { size } = await disk.lstat(path).catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") {
      return { size: 0 };
    }
    throw error;
  });
  if (size <= from) {
    return;
  }
  const file = await openPlain(path, disk);
  if (file === undefined) {
    return;
  }
  try {
    for await (const { lines, end } of readLines(file, from)) {
      const entries = lines.flatMap((text) => {
        const entry = v.safeParse(prunedLine, decodeLine(text), { abortEarly: true });
        return entry.success ? [entry.output] : [];
      });
      yield { entries, end };
    }
  } finally {
    await file.close();
  }
}
