import { join } from "node:path";
import * as v from "valibot";
import { DimensionerError, isDimensionerError } from "../../errors/dimensioner-error.ts";
import {
  holdLogName,
  holdName,
  isAbsent,
  manifestFileName,
  stateFolderName,
  type ReadDisk,
} from "../archive-disk.ts";
import type { ArchiveFiles } from "../files/archive-files.ts";
import { decodeLine, LogReader } from "../files/checked-lines.ts";
import type { FolderFiles } from "../files/folder-files.ts";
import { filesOf } from "../packages/manifest.ts";
import { loadManifest } from "../packages/package-files.ts";
import { straysOf, walkPackages, type WalkedPackage } from "./walk-packages.ts";

type Package = Pick<WalkedPackage, "manifest" | "path" | "sha256">;

const holdLine = v.object({
  what: v.literal("hold"),
  /** The package's folder below the root, with slashes. */
  path: v.string(),
  transactionId: v.nullable(v.string()),
});

type HoldLine = v.InferOutput<typeof holdLine>;

/** The names in a package that its manifest does not name. */
export function straysIn(
  { folder, manifest }: Pick<WalkedPackage, "folder" | "manifest">,
  disk: ReadDisk,
): AsyncGenerator<string> {
  return straysOf(folder, new Set([manifestFileName, ...filesOf(manifest).map(({ path }) => path)]), disk);
}

/**
 * The path and the hash of the manifest of the package that this one supplements, or of its own. All packages of one transaction
 * have one of them in common: the path is another one after somebody has moved the package, or where the disk has the folder in other
 * capital and small letters than the layout; the hash is another one after somebody has changed the manifest.
 */
function keysOf({ path, sha256, manifest: { supplements = null } }: Package): readonly [string, string] {
  const first = supplements ?? { path: `${path}/${manifestFileName}`, sha256 };
  return [first.path, first.sha256];
}

/** The error of a run that does not know whether something is on hold; `address` names it for people. */
export function unreadError(address: string, cause?: unknown): DimensionerError {
  const facts = { surface: "disk", operation: "prune", cause } as const;
  return new DimensionerError("holdsUnread", facts, { path: address });
}

/**
 * The packages that holds protect. A hold on a package or one of its supplements protects all of them, because one alone is
 * not what was archived. A run can take hours, so what was found when it began is looked at again before each deletion.
 */
export class Holds {
  readonly #files: ArchiveFiles;
  readonly #log: LogReader;
  /** By `keysOf`. */
  readonly #held = new Set<string>();
  /** Of all packages with one of these transactions, also where a manifest cannot be read at the moment. */
  readonly #heldTransactions = new Set<string>();
  /** The paths of the known supplements, by `keysOf`. */
  readonly #supplements = new Map<string, string[]>();
  /** Lines of the log whose package was not looked at yet. */
  readonly #lines: HoldLine[] = [];
  #reading: Promise<void> = Promise.resolve();

  private constructor(files: ArchiveFiles) {
    this.#files = files;
    this.#log = new LogReader(join(files.root, stateFolderName, holdLogName), files.disk);
  }

  /** To be called before the packages are searched for holds: what is set from now on is found in the log. */
  static async begin(files: ArchiveFiles): Promise<Holds> {
    const holds = new Holds(files);
    await holds.#log.skip();
    return holds;
  }

  /** Notes a package that is on hold. */
  add(one: Package): void {
    keysOf(one).forEach((key) => this.#held.add(key));
  }

  /** Notes a package, so that a hold which somebody puts there by hand later is found. */
  note(one: Package): void {
    if ((one.manifest.supplements ?? null) !== null) {
      for (const key of keysOf(one)) {
        this.#supplements.set(key, [...(this.#supplements.get(key) ?? []), one.path]);
      }
    }
  }

  /** Whether a package was protected when it was looked for. */
  has(one: Package): boolean {
    const { transactionId } = one.manifest;
    const isOfHeld = transactionId !== null && this.#heldTransactions.has(transactionId);
    return isOfHeld || keysOf(one).some((key) => this.#held.has(key));
  }

  /** Whether a package is protected by now, apart from a hold in its own folder. Throws what keeps it from being known. */
  async hasNow(one: Package): Promise<boolean> {
    // One after the other: who comes second must not look before the lines of the first one are noted.
    const read = this.#reading.then(() => this.#readOn());
    this.#reading = read.catch(() => undefined);
    await read;
    if (this.has(one)) {
      return true;
    }
    const keys = keysOf(one);
    const first = keys[0].slice(0, -manifestFileName.length - 1);
    for (const path of new Set([first, ...keys.flatMap((key) => this.#supplements.get(key) ?? [])])) {
      if (path !== one.path && (await isHeldAt(join(this.#files.root, path), this.#files.disk))) {
        return true;
      }
    }
    return false;
  }

  /** The line is written before the hold, which may not be there yet: so the line counts, even if it is released again. */
  async #readOn(): Promise<void> {
    const { root, disk } = this.#files;
    for await (const lines of this.#log.read()) {
      for (const text of lines) {
        const line = v.safeParse(holdLine, decodeLine(text), { abortEarly: true });
        if (line.success) {
          this.#lines.push(line.output);
        }
      }
    }
    for (let [line] = this.#lines; line !== undefined; [line] = this.#lines) {
      if (line.transactionId !== null) {
        this.#heldTransactions.add(line.transactionId);
      }
      const found = await loadManifest(join(root, line.path, manifestFileName), disk);
      if (typeof found !== "string") {
        this.add({ path: line.path, ...found });
      }
      this.#lines.shift();
    }
  }
}

/**
 * Searches a folder for holds. A supplement may be anywhere in the archive, so the whole folder is searched; of a bucket,
 * `surveyBucket` lists it. What cannot be read may be on hold, and nobody can tell for which packages: then it throws.
 */
export async function findHeld(
  { root, disk }: FolderFiles,
  holds: Holds,
  signal?: AbortSignal,
): Promise<void> {
  for await (const entry of walkPackages(root, root, disk)) {
    signal?.throwIfAborted();
    if (entry.kind === "unreadable") {
      throw unreadError(join(root, entry.path), entry.error);
    }
    if (entry.kind === "damaged" && (await isHeldAt(join(root, entry.path), disk))) {
      throw unreadError(join(root, entry.path));
    }
    if (entry.kind === "package") {
      holds.note(entry);
      if (await isHeld(entry, disk)) {
        holds.add(entry);
      }
    }
  }
}

async function isHeld(entry: WalkedPackage, disk: ReadDisk): Promise<boolean> {
  try {
    return await hasHold(straysIn(entry, disk));
  } catch (error) {
    // Another run is deleting it.
    if (isAbsent(error)) {
      return false;
    }
    throw unreadError(entry.folder, error);
  }
}

/** Whether a folder that may contain a package contains a hold. */
async function isHeldAt(folder: string, disk: ReadDisk): Promise<boolean> {
  try {
    const found = await loadManifest(join(folder, manifestFileName), disk);
    const named = typeof found === "string" ? [] : filesOf(found.manifest).map(({ path }) => path);
    return await hasHold(straysOf(folder, new Set(named), disk));
  } catch (error) {
    if (isAbsent(error)) {
      return false;
    }
    throw isDimensionerError(error) ? error : unreadError(folder, error);
  }
}

async function hasHold(names: AsyncIterable<string>): Promise<boolean> {
  for await (const name of names) {
    if (holdName.test(name)) {
      return true;
    }
  }
  return false;
}
