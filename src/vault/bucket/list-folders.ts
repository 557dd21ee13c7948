import { manifestFileName } from "../archive-disk.ts";
import type { ListedObject, Objects } from "../s3/bucket.ts";
import { keyOf, pathOf } from "./bucket-disk.ts";

/** A folder of a bucket with what is directly in it. */
export interface ListedFolder {
  /** As `BucketDisk` reads it. */
  readonly path: string;
  /** The first of its objects: no package has more. */
  readonly objects: readonly ListedObject[];
  readonly hasManifest: boolean;
  /** Whether there are folders in it. */
  readonly hasFolders: boolean;
}

/** More files than a package has: its manifest would be larger than one may be. */
const mostObjects = 10_000;

interface OpenFolder {
  readonly key: string;
  readonly objects: ListedObject[];
  hasManifest: boolean;
  hasFolders: boolean;
}

/**
 * Lists a folder of a bucket and all folders in it, each after those in it: 1,000 objects with a request, however many
 * folders there are. It keeps only the path to the present one. What is in a folder whose path would lead elsewhere is left
 * out.
 */
export async function* listFolders(bucket: Objects, path: string): AsyncGenerator<ListedFolder> {
  const start = keyOf(path);
  const open: OpenFolder[] = [newFolder(start)];
  for await (const page of bucket.list(start === "" ? "" : `${start}/`)) {
    for (const object of page) {
      const key = object.key.slice(0, Math.max(object.key.lastIndexOf("/"), 0));
      if (!isPlain(key)) {
        continue;
      }
      for (let last = open.at(-1); last !== undefined && !isWithin(key, last.key); last = open.at(-1)) {
        open.pop();
        yield asListed(last);
      }
      addTo(openAsFarAs(key, open), object);
    }
  }
  for (const one of open.reverse()) {
    yield asListed(one);
  }
}

function addTo(folder: OpenFolder, object: ListedObject): void {
  const name = object.key.slice(object.key.lastIndexOf("/") + 1);
  folder.hasManifest ||= name === manifestFileName;
  // Some programs create an empty object without a name to show a folder.
  if (name !== "" && folder.objects.length < mostObjects) {
    folder.objects.push(object);
  }
}

/** Opens the folders between the last open one and the one with this key, and returns that. */
function openAsFarAs(key: string, open: OpenFolder[]): OpenFolder {
  let last = open.at(-1) ?? newFolder("");
  while (last.key !== key) {
    const above = last.key === "" ? "" : `${last.key}/`;
    const [name = ""] = key.slice(above.length).split("/");
    last.hasFolders = true;
    last = newFolder(above + name);
    open.push(last);
  }
  return last;
}

function newFolder(key: string): OpenFolder {
  return { key, objects: [], hasManifest: false, hasFolders: false };
}

function asListed({ key, ...rest }: OpenFolder): ListedFolder {
  return { path: pathOf(key), ...rest };
}

/** Whether the path of a key leads where the key says: no part is empty, or means another folder. */
function isPlain(key: string): boolean {
  return key === "" || (!/(?:^|\/)\.{0,2}(?:\/|$)/.test(key) && keyOf(pathOf(key)) === key);
}

function isWithin(key: string, folder: string): boolean {
  return folder === "" || key === folder || key.startsWith(`${folder}/`);
}
