import { holdName, manifestFileName, plainDisk, type ReadDisk } from "../archive-disk.ts";
import { filesOf, type Manifest } from "../packages/manifest.ts";
import { straysOf, walkPackages, type WalkedPackage } from "./walk-packages.ts";

/** The names in a package that its manifest does not name. */
export function straysIn(
  { folder, manifest }: Pick<WalkedPackage, "folder" | "manifest">,
  disk: ReadDisk,
): AsyncGenerator<string> {
  return straysOf(folder, new Set([manifestFileName, ...filesOf(manifest).map(({ path }) => path)]), disk);
}

/**
 * The path of the manifest of the package that this one supplements, or of its own: the same for all packages of one
 * transaction.
 */
export function firstOf(path: string, { supplements = null }: Manifest): string {
  return supplements?.path ?? `${path}/${manifestFileName}`;
}

/**
 * The packages that holds protect, by `firstOf`. A hold on a package or one of its supplements protects all of them,
 * because one alone is not what was archived. A supplement may be anywhere in the archive, so the whole folder is
 * searched; of a bucket, `surveyBucket` lists it.
 */
export async function findHeld(root: string, signal?: AbortSignal): Promise<ReadonlySet<string>> {
  const held = new Set<string>();
  for await (const entry of walkPackages(root, root)) {
    signal?.throwIfAborted();
    if (entry.kind === "package" && (await isHeld(entry))) {
      held.add(firstOf(entry.path, entry.manifest));
    }
  }
  return held;
}

async function isHeld(entry: WalkedPackage): Promise<boolean> {
  try {
    for await (const name of straysIn(entry, plainDisk)) {
      if (holdName.test(name)) {
        return true;
      }
    }
    return false;
  } catch {
    // It cannot be read, or another run is deleting it. A package that cannot be read is not deleted either.
    return false;
  }
}
