import { join } from "node:path";
import * as v from "valibot";
import { type ReadDisk, exists, pruneLogName, stateFolderName } from "./archive-disk.ts";
import type { ArchiveFiles } from "./files/archive-files.ts";
import { LogReader, decodeLine, logObjectTime } from "./files/checked-lines.ts";
import { filesOf } from "./packages/manifest.ts";
import type { WalkedPackage } from "./walk.ts";

/** By how much the clock of whoever deletes may be behind those of the workers, generously. */
const clocksMs = 24 * 60 * 60 * 1_000;
/** How a line begins that has a time, and where in it the time is. */
const lineStart = /^[0-9a-f]{8} \{"at":"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z"/;
const [timeStart, timeEnd] = [16, 40];

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
  /** True: the package was kept after all, although an earlier line says that it was deleted. */
  kept: v.exactOptional(v.literal(true)),
  /** True: it was kept in the bucket that has this copy of the log, and deleted in the folder that was copied. */
  copy: v.exactOptional(v.literal(true)),
});

/** One line of the log of deleted packages. */
export type PrunedLine = v.InferOutput<typeof prunedLine>;

/** Undefined if it is damaged, or not a line of this log. */
export function readPrunedLine(text: string): PrunedLine | undefined {
  const entry = v.safeParse(prunedLine, decodeLine(text), { abortEarly: true });
  return entry.success ? entry.output : undefined;
}

type LoggedPackage = Pick<WalkedPackage, "manifest" | "path" | "sha256">;

/** The log of packages that were deleted because of their age: one line with a checksum for each. */
export class PruneLog {
  readonly #files: Pick<ArchiveFiles, "addToLog" | "disk">;
  readonly #path: string;

  constructor(files: Pick<ArchiveFiles, "addToLog" | "disk" | "root">) {
    this.#files = files;
    this.#path = join(files.root, stateFolderName, pruneLogName);
  }

  /** Notes that these packages are deleted; resolves when that is durable. */
  async add(packages: readonly WalkedPackage[]): Promise<void> {
    await this.#files.addToLog(this.#path, packages.map(lineOf));
  }

  /** Notes that these were kept after all. */
  async addKept(packages: readonly LoggedPackage[]): Promise<void> {
    if (packages.length > 0) {
      const lines = packages.map((one) => ({ ...lineOf(one), kept: true }));
      await this.#files.addToLog(this.#path, lines);
    }
  }

  /**
   * The same for packages that may be in the log. It is not searched for them, because it may be long: a line that takes nothing back
   * does no harm.
   */
  async addKeptIfAny(packages: readonly LoggedPackage[]): Promise<void> {
    if (packages.length > 0 && (await exists(this.#path, this.#files.disk))) {
      await this.addKept(packages);
    }
  }
}

/** Reads the log of an archive, and later what was added to it. A line with a wrong checksum is skipped. */
export class PruneLogReader {
  readonly #log: LogReader;

  constructor(root: string, disk: ReadDisk) {
    this.#log = new LogReader(join(root, stateFolderName, pruneLogName), disk);
  }

  /**
   * Yields the lines that were not read yet, some at a time. `since`: lines that are older are not needed, and may be left
   * out.
   */
  async *read(since?: string): AsyncGenerator<readonly PrunedLine[]> {
    const sinceMs = Date.parse(since ?? "");
    const from = Number.isNaN(sinceMs) ? "" : new Date(sinceMs - clocksMs).toISOString();
    for await (const lines of this.#log.read((name) => isNameBefore(name, from))) {
      yield lines.flatMap((text) => {
        if (text.slice(timeStart, timeEnd) < from && lineStart.test(text)) {
          return [];
        }
        return readPrunedLine(text) ?? [];
      });
    }
  }
}

/**
 * Finds which of these packages were deleted and not kept after all, with the last line of each: by their paths, by the SHA-256 of
 * their manifests, or by the IDs of their transactions in small letters. The log is not read for none. `since`: none of them was
 * deleted before, such as when the first of them was archived; undefined where that is not known.
 */
export async function findPruned(
  { root, disk }: { readonly root: string; readonly disk: ReadDisk },
  by: "path" | "sha256" | "transactionId",
  sought: ReadonlySet<string>,
  since?: string,
): Promise<ReadonlyMap<string, PrunedLine>> {
  const found = new Map<string, PrunedLine>();
  if (sought.size === 0) {
    return found;
  }
  for await (const lines of new PruneLogReader(root, disk).read(since)) {
    for (const line of lines) {
      const key = by === "transactionId" ? (line.transactionId?.toLowerCase() ?? "") : line[by];
      if (line.kept !== true) {
        if (sought.has(key)) {
          found.set(key, line);
        }
      } else if (found.get(key)?.sha256 === line.sha256) {
        // A transaction may have another package that was deleted.
        found.delete(key);
      }
    }
  }
  return found;
}

/** The bytes of a package's files, without its manifest. */
export function bytesOf({ manifest }: Pick<WalkedPackage, "manifest">): number {
  return filesOf(manifest).reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Whether an object of a bucket's log was written before a time: it is named by its own. */
function isNameBefore(name: string, from: string): boolean {
  return /^\d{8}T\d{9}Z-/.test(name) && name < logObjectTime(from);
}

function lineOf(one: LoggedPackage): PrunedLine {
  const { path, sha256, manifest } = one;
  return {
    at: new Date().toISOString(),
    path,
    sha256,
    transactionId: manifest.transactionId,
    transactionReference: manifest.references.transactionReference,
    archived: manifest.times.archived,
    files: filesOf(manifest).length,
    bytes: bytesOf(one),
  };
}
