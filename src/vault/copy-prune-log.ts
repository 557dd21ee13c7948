import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  exists,
  manifestFileName,
  plainDisk,
  pruneLogName,
  removeTree,
  stateFolderName,
  writeWhole,
} from "./archive-disk.ts";
import { BucketDisk, pathOf } from "./bucket/bucket-disk.ts";
import { copyAnyFile } from "./bucket/copy-file.ts";
import { sha256OfObject } from "./bucket/copy-package.ts";
import { LogReader, encodeLine, readLogFile } from "./files/checked-lines.ts";
import { type PrunedLine, readPrunedLine } from "./prune-log.ts";
import type { Bucket } from "./s3/bucket.ts";
import { inParallel } from "./walk.ts";

const requestsAtOnce = 4;

/** A line of the log that is copied, and whether its package is in the bucket: undefined where the bucket has to be asked. */
interface Line {
  readonly text: string;
  readonly deleted: PrunedLine | undefined;
  readonly isInCopy: boolean | undefined;
}

/**
 * Copies the log of deleted packages to a bucket. The copy must not say of a package that is in the bucket that it was deleted, since
 * its loss would then count as its deletion: behind the line of such a package comes one that says that it is kept there. What an
 * earlier run has found stays, also if the package is lost later; so the bucket is asked once for each deleted package. The bucket's
 * own deletions are in objects, which are read after this file. Returns the bytes that were sent.
 */
export async function copyPruneLog(
  root: string,
  bucket: Bucket,
  keyOf: (path: string) => string,
): Promise<number> {
  const key = keyOf(`${stateFolderName}/${pruneLogName}`);
  const log = new LogReader(join(root, stateFolderName, pruneLogName), plainDisk);
  const earlier = new EarlierCopy(bucket, key);
  const isInBucket = async ({ path, sha256 }: PrunedLine): Promise<boolean> =>
    (await sha256OfObject(bucket, keyOf(`${path}/${manifestFileName}`))) === sha256;
  const folder = await mkdtemp(join(tmpdir(), "dimensioner-copy-"));
  try {
    const made = join(folder, pruneLogName);
    const file = await plainDisk.open(made, "wx");
    let bytes = 0;
    try {
      for await (const texts of log.read()) {
        const lines = await decide(texts, root, earlier);
        const block = Buffer.from(await copyLines(lines, isInBucket));
        await writeWhole(file, block, bytes);
        bytes += block.length;
      }
    } finally {
      await file.close();
    }
    return bytes === 0 ? 0 : await copyAnyFile(made, bucket, key);
  } finally {
    await earlier.close();
    await removeTree(folder, plainDisk);
  }
}

async function decide(texts: readonly string[], root: string, earlier: EarlierCopy): Promise<Line[]> {
  const lines: Line[] = [];
  for (const text of texts) {
    const line = readPrunedLine(text);
    // A folder that was restored from a bucket has what was kept there: this bucket may be another one.
    if (line?.copy === true) {
      continue;
    }
    const isInCopy = await earlier.next(text, line?.sha256);
    const deleted = line?.kept === true ? undefined : line;
    // It may have been brought back from a backup, and copied only then. Where that cannot be read, the bucket is asked.
    const isBack =
      deleted !== undefined &&
      isInCopy === false &&
      (await exists(join(root, deleted.path, manifestFileName), plainDisk).catch(() => true));
    lines.push({ text, deleted, isInCopy: isBack ? undefined : isInCopy });
  }
  return lines;
}

async function copyLines(
  lines: readonly Line[],
  isInBucket: (line: PrunedLine) => Promise<boolean>,
): Promise<string> {
  const open = lines.flatMap(({ deleted, isInCopy }) =>
    deleted !== undefined && isInCopy === undefined ? [deleted] : [],
  );
  const there = new Set<PrunedLine>();
  for await (const found of inParallel(open, requestsAtOnce, async (line) =>
    (await isInBucket(line)) ? line : undefined,
  )) {
    if (found !== undefined) {
      there.add(found);
    }
  }
  return lines
    .map(({ text, deleted, isInCopy }) => {
      const isKept = deleted !== undefined && (isInCopy === true || there.has(deleted));
      return `${text}\n${isKept ? String(encodeLine({ ...deleted, kept: true, copy: true })) : ""}`;
    })
    .join("");
}

/** The copy that an earlier run has made, which is read beside the log: it has the same lines, and those of kept packages. */
class EarlierCopy {
  readonly #lines: AsyncIterator<string, undefined>;
  #next: string | undefined;
  /** The kept packages behind the first line that is another one than in the log: that was replaced, or has new lines. */
  #others: ReadonlySet<string> | undefined;

  constructor(bucket: Bucket, key: string) {
    this.#lines = readLogFile(pathOf(key), new BucketDisk(bucket))[Symbol.asyncIterator]();
  }

  /** Whether the package of the next line of the log was in the bucket; undefined if the line was not copied yet. */
  async next(text: string, sha256: string | undefined): Promise<boolean | undefined> {
    if (this.#others === undefined && (await this.#peek()) === text) {
      this.#next = undefined;
      const after = readPrunedLine((await this.#peek()) ?? "");
      if (after?.copy === true && after.sha256 === sha256) {
        this.#next = undefined;
        return true;
      }
      return false;
    }
    this.#others ??= await this.#readOthers();
    return sha256 !== undefined && this.#others.has(sha256) ? true : undefined;
  }

  async close(): Promise<void> {
    await this.#lines.return?.();
  }

  async #peek(): Promise<string | undefined> {
    if (this.#next === undefined) {
      const { value } = await this.#lines.next();
      this.#next = value;
    }
    return this.#next;
  }

  async #readOthers(): Promise<ReadonlySet<string>> {
    const kept = new Set<string>();
    for (let text = await this.#peek(); text !== undefined; text = await this.#peek()) {
      this.#next = undefined;
      const line = readPrunedLine(text);
      if (line?.copy === true) {
        kept.add(line.sha256);
      }
    }
    return kept;
  }
}
