import { join } from "node:path";
import type { Surface } from "../../errors/dimensioner-error.ts";
import { suggestedName } from "../../media/file-names.ts";
import { saveToFile } from "../../media/save-to-file.ts";
import { sniffBytes, sniffKind } from "../../media/sniff.ts";
import type { Download } from "../../model/download.ts";
import { asFileError, diskFacts, holdName } from "../archive-disk.ts";
import type { JobStore } from "./job-store.ts";
import { hashFile, openPlain } from "../packages/package-files.ts";
import type { ItemSource, StoredItem } from "../packages/intent.ts";

/** What is known of a medium before it is stored. */
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

/** Brings one medium into a job's work folder: whole, checked and synced, with an extension by what the bytes are. */
export async function storeItem(
  root: JobStore,
  jobId: string,
  start: () => Promise<Download>,
  facts: ItemFacts,
  transfer: Transfer,
): Promise<StoredItem> {
  const folder = await root.work.make(jobId);
  let announced: string | null = null;
  const saved = await saveToFile(
    async () => {
      const download = await start();
      announced = download.contentType;
      return download;
    },
    { folder, suggestedBase: facts.base, ifExists: "error" },
    { operation: diskFacts.operation, ...transfer, folders: root.folders, disk: root.disk },
  );
  const path = saved.path.slice(folder.length + 1);
  const { source, contentId, description, url } = facts;
  return {
    path,
    source,
    contentId,
    description,
    url,
    contentTypeAnnounced: announced,
    contentTypeFound: await typeOf(saved.path, root),
    bytes: saved.bytes,
    sha256: saved.sha256,
  };
}

/** A base that no other medium of the package has, whatever the case, and that is not one of its own files'. */
export function reserveName(used: Set<string>, wanted: string): string {
  // As it will be on the disk: two names that become the same there are the same.
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

/** Leaves room for a number in a name that is as long as names can be. */
function cut(base: string): string {
  return Buffer.byteLength(base) < 200 ? base : base.slice(0, 50).toWellFormed();
}

/** The bases that stored media have. */
export function namesInUse(items: Iterable<StoredItem>): Set<string> {
  return new Set([...items].map(({ path }) => path.replace(/\.[^.]*$/, "").toLowerCase()));
}

/** Whether a medium still is what was stored: asked after a restart. */
export async function isUnchanged(root: JobStore, jobId: string, item: StoredItem): Promise<boolean> {
  const path = join(root.work.of(jobId), item.path);
  try {
    const found = await hashFile(path, root.disk);
    return found?.bytes === item.bytes && found.sha256 === item.sha256;
  } catch (error) {
    throw asFileError(error, path);
  }
}

/** The content type that the bytes themselves show. */
async function typeOf(path: string, root: JobStore): Promise<string | null> {
  try {
    const file = await openPlain(path, root.disk);
    if (file === undefined) {
      return null;
    }
    try {
      const head = Buffer.alloc(sniffBytes);
      const { bytesRead } = await file.read(head, 0, head.length, 0);
      return sniffKind(head.subarray(0, bytesRead))?.contentType ?? null;
    } finally {
      await file.close();
    }
  } catch (error) {
    throw asFileError(error, path);
  }
}
