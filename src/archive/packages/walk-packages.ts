import { opendir } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { systemCode } from "../../media/disk.ts";
import { plainDisk, exists, manifestFileName, stateFolderName } from "../archive-disk.ts";
import { loadManifest, type FoundManifest } from "./package-files.ts";

/** One thing that a walk over an archive finds. Paths are below the archive's root, with slashes. */
export type WalkEntry =
  | ({ readonly kind: "package"; readonly path: string; readonly folder: string } & FoundManifest)
  /** A folder whose manifest says nothing. */
  | { readonly kind: "damaged"; readonly path: string }
  /** Another archive, with a journal of its own: its packages are not of this one. */
  | { readonly kind: "archive"; readonly path: string }
  /** Neither a package nor a folder of packages. */
  | { readonly kind: "stray"; readonly path: string }
  | { readonly kind: "unreadable"; readonly path: string; readonly problem: string };

/** The archive that a folder belongs to: the folder itself, or the nearest one above that has a journal. */
export async function findRoot(folder: string): Promise<{ root: string; hasState: boolean }> {
  const start = resolve(folder);
  for (let at = start; ; at = dirname(at)) {
    if (await exists(join(at, stateFolderName), plainDisk)) {
      return { root: at, hasState: true };
    }
    if (dirname(at) === at) {
      return { root: start, hasState: false };
    }
  }
}

/** Walks a folder in the disk's own order, holding no more than the way to where it is. */
export async function* walkPackages(root: string, folder: string): AsyncGenerator<WalkEntry> {
  const path = relative(root, folder).split(sep).join("/");
  try {
    const found = await loadManifest(join(folder, manifestFileName), plainDisk);
    if (found === "damaged") {
      yield { kind: "damaged", path };
    }
    if (typeof found !== "string") {
      yield { kind: "package", path, folder, ...found };
    }
    if (found !== "none") {
      return;
    }
    for await (const entry of await opendir(folder)) {
      const entryPath = path === "" ? entry.name : `${path}/${entry.name}`;
      if (entry.name === stateFolderName) {
        continue;
      }
      const inner = join(folder, entry.name);
      if (!entry.isDirectory()) {
        yield { kind: "stray", path: entryPath };
      } else if (await exists(join(inner, stateFolderName), plainDisk)) {
        yield { kind: "archive", path: entryPath };
      } else {
        yield* walkPackages(root, inner);
      }
    }
  } catch (error) {
    // Deleted by a pruner while we were walking.
    if (systemCode(error) === "ENOENT") {
      return;
    }
    yield { kind: "unreadable", path, problem: error instanceof Error ? error.message : String(error) };
  }
}

/** The names in a package that its manifest does not name. */
export async function* straysOf(folder: string, named: ReadonlySet<string>): AsyncGenerator<string> {
  for await (const entry of await opendir(folder)) {
    if (!named.has(entry.name)) {
      yield entry.name;
    }
  }
}
