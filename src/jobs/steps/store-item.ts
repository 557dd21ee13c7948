import { join } from "node:path";
import type { Surface } from "../../errors/dimensioner-error.ts";
import { diskError, throwIfAborted } from "../../media/disk.ts";
import { newPartName, suggestedName } from "../../media/file-names.ts";
import { placeFile } from "../../media/place-file.ts";
import { receiveFile } from "../../media/receive-file.ts";
import type { Download } from "../../model/download.ts";
import { asFileError, diskFacts, holdName } from "../../vault/archive-disk.ts";
import type { JobStore } from "./job-store.ts";
import { hashFile } from "../../vault/packages/package-files.ts";
import type { ItemSource, StoredItem } from "../../vault/packages/intent.ts";

/** The facts of a medium before it is stored. */
export interface ItemFacts {
  readonly source: ItemSource;
  readonly contentId: string | null;
  readonly description: string | null;
  readonly url: string | null;
  /** The file's name without its extension. */
  readonly base: string;
}

interface Transfer {
  readonly surface: Surface;
  readonly host: string;
  readonly signal?: AbortSignal;
}

const reserved = /^(?:manifest|measurement)$/i;

/**
 * Stores one medium in a job's work folder, which must exist: complete, checked and synced, with an extension by its
 * content. Its name is not synced: if it cannot be downloaded again, the caller has to sync the folder. If it is
 * aborted, it ends when the disk has answered, so that nothing happens in the folder afterwards.
 */
export async function storeItem(
  root: JobStore,
  jobId: string,
  start: () => Promise<Download>,
  facts: ItemFacts,
  transfer: Transfer,
): Promise<StoredItem> {
  const about = { operation: diskFacts.operation, ...transfer };
  throwIfAborted(about);
  const { base, ...own } = facts;
  const { disk } = root;
  const folder = root.work.of(jobId);
  let announced: string | null = null;
  const announce = async (): Promise<Download> => {
    const download = await start();
    announced = download.contentType;
    return download;
  };
  const part = join(folder, newPartName());
  const received = await receiveFile(
    announce,
    {
      path: part,
      // The store's folder is missing: all folders below it are created here.
      folder: root.folder,
      about: join(folder, base),
      disk,
      // A file that cannot be removed now is removed with the job's folder.
      onLeftover: () => undefined,
    },
    about,
  );
  const { bytes, sha256, content } = received;
  const name = suggestedName(base, content.extension);
  try {
    await placeFile({ part, folder, name, ifExists: "error", disk, facts: about });
  } catch (error) {
    throw diskError(error, join(folder, name), about, root.folder);
  } finally {
    await disk.unlink(part).catch(() => undefined);
  }
  return {
    ...own,
    path: name,
    contentTypeAnnounced: announced,
    contentTypeFound: content.found,
    bytes,
    sha256,
  };
}

/**
 * Reserves a file name that no other medium of the package has, in any letter case, and no file of the package itself.
 */
export function reserveName(used: Set<string>, wanted: string): string {
  // Compared as on the disk, where two names may become the same.
  const stem = suggestedName(wanted.replace(/^[\s.]+/, "_") || "item", "x").slice(0, -".x".length);
  const base = reserved.test(stem) || holdName.test(stem) ? `item-${stem}` : stem;
  for (let number = 1; ; number += 1) {
    const candidate = number === 1 ? base : `${cut(base)}-${number}`;
    const claim = candidate.toLowerCase();
    if (!used.has(claim)) {
      used.add(claim);
      return candidate;
    }
  }
}

/** Shortens a name so that a number fits. */
function cut(base: string): string {
  return Buffer.byteLength(base) < 200 ? base : base.slice(0, 50).toWellFormed();
}

/** The file names of stored media, without extensions. */
export function namesInUse(items: Iterable<StoredItem>): Set<string> {
  return new Set([...items].map(({ path }) => path.replace(/\.[^.]*$/, "").toLowerCase()));
}

/** Whether a medium is unchanged since it was stored; checked after a restart. */
export async function isUnchanged(root: JobStore, jobId: string, item: StoredItem): Promise<boolean> {
  const path = join(root.work.of(jobId), item.path);
  try {
    const found = await hashFile(path, root.disk);
    return found?.bytes === item.bytes && found.sha256 === item.sha256;
  } catch (error) {
    throw asFileError(error, path);
  }
}
