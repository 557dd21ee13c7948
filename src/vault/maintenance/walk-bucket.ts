import { basename, dirname, join, relative, sep } from "node:path";
import { holdName, manifestFileName, stateFolderName } from "../archive-disk.ts";
import { listFolders, type ListedFolder } from "../bucket/list-folders.ts";
import type { BucketFiles } from "../files/bucket-files.ts";
import { loadManifest } from "../packages/package-files.ts";
import { inParallel } from "./in-parallel.ts";
import { unreadError, type Holds } from "./holds.ts";
import { locationOf } from "./upload-location.ts";
import type { WalkedPackage } from "./walk-packages.ts";

/** Packages are small, and most of the time goes by while the object store answers. */
const requestsAtOnce = 8;

/** What the names of all objects say, before a single one is read. Paths are those of `BucketDisk`. */
export interface BucketSurvey {
  /** Folders with a state folder of their own: their packages do not belong to this archive. */
  readonly archives: ReadonlySet<string>;
  /** Packages with folders in them, which are no archives of packages. */
  readonly closed: ReadonlySet<string>;
}

/**
 * Lists a whole archive, and reads the manifests of packages on hold. Throws if one is damaged: then nobody can tell which
 * packages are on hold with it.
 */
export async function surveyBucket(
  files: BucketFiles,
  holds: Holds,
  signal?: AbortSignal,
): Promise<BucketSurvey> {
  const archives = new Set<string>();
  const closed = new Set<string>();
  const withHold: ListedFolder[] = [];
  for await (const folder of listFolders(files.bucket, files.root)) {
    signal?.throwIfAborted();
    const { path, objects, hasManifest, hasFolders } = folder;
    if (basename(path) === stateFolderName && path !== join(files.root, stateFolderName)) {
      archives.add(dirname(path));
    }
    if (hasManifest && hasFolders) {
      closed.add(path);
    }
    if (hasManifest && objects.some(({ key }) => holdName.test(basename(key)))) {
      withHold.push({ ...folder, objects: [] });
    }
  }
  const refuse = (location: string): never => {
    throw unreadError(files.addressOf(location));
  };
  for await (const found of packagesOf(files, withHold, { archives, closed }, refuse)) {
    holds.add(found);
  }
  return { archives, closed };
}

/** A package, or another archive. */
export type ArchiveEntry = WalkedPackage | { readonly kind: "archive"; readonly path: string };

/** Reads the packages in a folder of an archive, in any order, after the archives in it. Throws ERR_STORE. */
export async function* walkBucket(
  files: BucketFiles,
  start: string,
  survey: BucketSurvey,
): AsyncGenerator<ArchiveEntry> {
  for (const archive of survey.archives) {
    const isBelow = relative(start, archive).split(sep)[0] !== "..";
    if (isBelow && !isElsewhere(dirname(archive), survey)) {
      yield { kind: "archive", path: locationOf(files, archive) };
    }
  }
  yield* packagesOf(files, listFolders(files.bucket, start), survey);
}

/** Whether a folder is in another archive, or in a package. */
export function isElsewhere(path: string, { archives, closed }: BucketSurvey): boolean {
  if (archives.has(path)) {
    return true;
  }
  for (let end = path.lastIndexOf(sep); end > 0; end = path.lastIndexOf(sep, end - 1)) {
    const above = path.slice(0, end);
    if (archives.has(above) || closed.has(above)) {
      return true;
    }
  }
  return path !== sep && closed.has(sep);
}

async function* packagesOf(
  files: BucketFiles,
  folders: AsyncIterable<ListedFolder> | Iterable<ListedFolder>,
  survey: BucketSurvey,
  onDamaged: (location: string) => void = () => undefined,
): AsyncGenerator<WalkedPackage> {
  const load = async ({ path, hasManifest }: ListedFolder): Promise<WalkedPackage | undefined> => {
    const location = locationOf(files, path);
    if (!hasManifest || location.split("/")[0] === stateFolderName || isElsewhere(path, survey)) {
      return undefined;
    }
    const found = await loadManifest(join(path, manifestFileName), files.disk);
    if (found === "damaged") {
      onDamaged(location);
    }
    return typeof found === "string"
      ? undefined
      : { kind: "package", path: location, folder: path, ...found };
  };
  for await (const found of inParallel(folders, requestsAtOnce, load)) {
    if (found !== undefined) {
      yield found;
    }
  }
}
