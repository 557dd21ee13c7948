/**
 * Collects the media of one job: from the device that measured, from the cloud, and from its messages. A medium is stored whole in the
 * work folder of the job before the database notes it, so what the database names is there.
 */
import { join } from "node:path";
import { isTaken, isUnknown } from "../database/own-jobs.ts";
import {
  DimensionerError,
  type ErrorCode,
  type Surface,
  isDimensionerError,
} from "../errors/dimensioner-error.ts";
import { diskError, throwIfAborted } from "../media/disk.ts";
import { newPartName, suggestedName } from "../media/file-names.ts";
import { placeFile } from "../media/place-file.ts";
import { eachTransfer, receiveFile } from "../media/save-to-file.ts";
import type { Download } from "../model/download.ts";
import type { MediaItem } from "../model/shapes.ts";
import { type ArchiveDisk, asFileError, diskFacts, holdName, removeTree } from "../vault/archive-disk.ts";
import type { ItemSource, Picture, StoredItem } from "../vault/packages/intent.ts";
import { hashFile } from "../vault/packages/package-files.ts";
import { keysOfJob } from "../vault/packages/package-keys.ts";
import type { StagedMedia } from "../vault/staged-media.ts";
import { type CollectedMedia, askedOf, isVideo, otherParcelsVideo, wantedOf } from "./completeness.ts";
import {
  type JobTable,
  type OpenJob,
  type Spool,
  beginCollecting,
  cloudSlot,
  deviceVideoSlot,
  pictureSlot,
  positionOf,
  searchOf,
} from "./job-rows.ts";
import type { Sealing } from "./seal.ts";
import { type TransactionFinder, unfindable } from "./transactions.ts";
import { type SpoolRoom, type WorkFolders, readNotes, removeNote, writeNote } from "./work-folder.ts";

/** The store of jobs, as the work on them uses it. */
export interface JobStore {
  /** The folder below which the work folders are: that of the store's packages, unless they are in a bucket. */
  readonly folder: string;
  /** The disk of the work folders. */
  readonly disk: ArchiveDisk;
  readonly work: WorkFolders;
  readonly jobs: JobTable;
  readonly sealing: Sealing;
  /**
   * Whether a job that need not wait is sealed without a word to the database: nothing but this process can add anything to it, and
   * the package gets its name by one rename.
   */
  readonly sealsAtOnce: boolean;
  /** Finds the transactions of local measurements. */
  readonly finder: TransactionFinder;
  /** Null if the work folders are beside the packages: then a full disk says so itself. */
  readonly room: SpoolRoom | null;
  /** Null if no other worker can finish a job of this one without them. */
  readonly staged: StagedMedia | null;
}

interface SourcePeer {
  readonly host: string;
  readonly surface: Surface;
}

export interface TransferOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((doneBytes: number, totalBytes: number | null) => void) | undefined;
}

/** A cloud as the archive uses it. */
export interface MediaSource {
  readonly peer: SourcePeer;
  /** Lists the media once; ERR_NOT_FOUND for an unknown transaction. */
  waitForMedia(
    transactionId: string,
    options: { readonly contentType?: string | undefined; readonly signal?: AbortSignal | undefined },
  ): Promise<{ readonly items: MediaItem[] }>;
  media(
    transactionId: string,
    contentId: string,
    options: TransferOptions & { readonly contentType?: string | undefined },
  ): Promise<Download>;
}

/** A device on the local network as the archive uses it. */
export interface DeviceSource {
  readonly peer: SourcePeer;
  /** Downloads an image; ERR_NOT_FOUND if the device does not have it. */
  image(picture: Picture, imageIdentifier: string, options: TransferOptions): Promise<Download>;
  /** Whether the video that it keeps is of this reference's recording, as far as this process knows. */
  keepsVideoOf(reference: string | null): boolean;
  /** Downloads the video that it keeps; ERR_NO_VIDEO if there is none. */
  video(options: TransferOptions): Promise<Download>;
}

/** A job whose media are collected. */
export interface CollectingJob {
  readonly job: OpenJob;
  readonly store: JobStore;
  readonly seen: CollectedMedia;
  /** Aborts when the job is stopped, with the error to end with. */
  readonly signal: AbortSignal;
  /** Resets the failures after a success. */
  resetFailures(): void;
  /** Notes the progress of a download. */
  setBytes(doneBytes: number, totalBytes: number | null): void;
}

/** The errors of a source that does not have the requested medium. */
const absentCodes: ReadonlySet<ErrorCode> = new Set(["ERR_NOT_FOUND", "ERR_NO_VIDEO"]);

/**
 * After the failure of one medium. One that its source does not have or refuses, or that has an ID that nobody can ask for, counts as
 * missing: what else there is is evidence all the same. Any other failure is thrown, and the next round comes to this medium after all
 * others, which their source may not keep for long.
 */
function noteFailed({ seen }: CollectingJob, slot: string, error: unknown): void {
  if (isDimensionerError(error)) {
    if (error.code === "ERR_INPUT" || (error.code === "ERR_HTTP" && !isRetryableJob(error))) {
      seen.refused = error;
      return;
    }
    if (absentCodes.has(error.code)) {
      return;
    }
  }
  seen.failed = [...seen.failed.filter((one) => one !== slot), slot];
  throw error;
}

interface DeviceItem {
  readonly slot: string;
  readonly description: string;
  readonly start: (source: DeviceSource, options: TransferOptions) => Promise<Download>;
}

/** Whether the device may have a required medium that is not stored yet. */
export function isToCollect(running: CollectingJob): boolean {
  return dueOfDevice(running.seen).length > 0;
}

function dueOfDevice(seen: CollectedMedia): DeviceItem[] {
  const { job, existing } = seen;
  const archived = existing.flatMap(({ manifest }) => manifest.items);
  const due = wantedOfDevice(job).filter(
    ({ slot, description }) =>
      !isStored(job, slot) &&
      !archived.some((item) => item.source === "device" && item.description === description),
  );
  return failedLast(seen, due, ({ slot }) => slot);
}

function failedLast<T>({ failed }: CollectedMedia, due: T[], slotOf: (one: T) => string): T[] {
  return failed.length === 0
    ? due
    : due.toSorted((one, other) => failed.indexOf(slotOf(one)) - failed.indexOf(slotOf(other)));
}

/**
 * Stores the images that the device has of the measurement, or the video that it keeps, if they are not stored yet;
 * media that it does not have are left out.
 */
export async function collectDevice(running: CollectingJob, source: DeviceSource): Promise<void> {
  const { job, store, signal } = running;
  const { references } = job.intent;
  const used = namesOfMedia(job);
  const { surface, host } = source.peer;
  const isOwn = (): boolean => source.keepsVideoOf(references.transactionReference);
  // Asked when the headers of each transfer have arrived: no recording is started during a transfer, so all of it is of this video. When
  // the file is written, the next recording may have been started already.
  const refuseOther = (): void => {
    if (!isOwn()) {
      throw new DimensionerError("noVideo", { surface, operation: "video" });
    }
  };
  let failure: { readonly error: unknown } | undefined;
  for (const { slot, description, start } of dueOfDevice(running.seen)) {
    const isVideo = slot === deviceVideoSlot;
    if (isVideo && !isOwn()) {
      continue;
    }
    const base = reserveName(used, description);
    const facts = { source: "device", contentId: null, description, url: null, base } as const;
    const onProgress = (done: number, total: number | null): void => running.setBytes(done, total);
    try {
      const begin = async (): Promise<Download> => {
        const download = await start(source, { signal, onProgress });
        return isVideo ? eachTransfer(download, refuseOther) : download;
      };
      const item = await storeItem(store, job.id, begin, facts, { surface, host, signal });
      job.unnoted.set(slot, item);
      // The device may have deleted it before a restart.
      await writeNote(store.work.of(job.id), slot, item, store.disk);
      await store.work.sync(job.id);
      failure = await noteOrReturn(running);
    } catch (error) {
      noteFailed(running, slot, error);
    }
  }
  if (failure !== undefined) {
    throw failure.error;
  }
}

/**
 * Notes what is stored. Returns the error instead of throwing it, because the device may not have the other media any more when the
 * database is back: they are stored first. Rejects if another worker has the job.
 */
async function noteOrReturn(running: CollectingJob): Promise<{ readonly error: unknown } | undefined> {
  try {
    await noteStored(running);
    running.resetFailures();
    return undefined;
  } catch (error) {
    if (isTaken(error)) {
      throw error;
    }
    return { error };
  }
}

/** The media that the job requires of the device. */
function wantedOfDevice({ intent: { measuredBy } }: OpenJob): DeviceItem[] {
  const id = measuredBy?.imageIdentifier ?? null;
  const images = id === null ? [] : (measuredBy?.images ?? []);
  const items = images.map((picture): DeviceItem => ({
    slot: pictureSlot(picture),
    description: picture,
    start: (source, options) => source.image(picture, id ?? "", options),
  }));
  const video: DeviceItem = {
    slot: deviceVideoSlot,
    description: "video",
    start: (source, options) => source.video(options),
  };
  return (measuredBy?.videoAt ?? null) === null ? items : [...items, video];
}

/** Finds the transaction of a local measurement by the webhook's records, and its existing packages. */
export async function findTransaction(
  running: CollectingJob,
  onDamaged: (path: string) => void,
): Promise<void> {
  const { job, store } = running;
  const search = searchOf(job);
  const found = search === null ? unfindable() : await store.finder.find(search);
  if ("missing" in found) {
    running.seen.notFound = found;
  } else if (await store.jobs.found(job, found)) {
    job.transactionId = found.transactionId;
    running.seen.notFound = undefined;
    await findPackages(running, onDamaged);
  }
}

/**
 * Searches for the packages of the same measurement. While what has them does not answer, everything is collected. Rejects with ERR_STORE if
 * the database does not answer.
 */
export async function findPackages(
  { job, seen, store }: Pick<CollectingJob, "job" | "seen" | "store">,
  onDamaged: (path: string) => void,
): Promise<void> {
  const found = await store.sealing.findIfThere(keysOfJob(job), job.answer, onDamaged);
  const isAway = "away" in found;
  seen.packages = isAway ? undefined : found.packages;
  seen.away = isAway ? found.away : undefined;
}

/** Lists the transaction's media, and notes the list in the running job. */
export async function listMedia(running: CollectingJob, source: MediaSource): Promise<void> {
  const { signal, job } = running;
  const { transactionId } = job;
  if (transactionId === null) {
    return;
  }
  try {
    const contentType = job.intent.contentType ?? undefined;
    const { items } = await source.waitForMedia(transactionId, { contentType, signal });
    const known = new Set(running.seen.listed.map(({ contentId }) => contentId));
    if (items.some(({ contentId }) => !known.has(contentId))) {
      running.seen.quietMs = 0;
    }
    running.seen.listed = items;
    running.seen.unknown = undefined;
  } catch (error) {
    if (!(error instanceof DimensionerError) || error.code !== "ERR_NOT_FOUND") {
      throw error;
    }
    running.seen.listed = [];
    running.seen.unknown = error;
  }
}

/** Whether the list has a required medium that is not stored yet. */
export function isToDownload(running: CollectingJob): boolean {
  return dueOfCloud(running.seen).length > 0;
}

function dueOfCloud(seen: CollectedMedia): MediaItem[] {
  const { job, existing, otherParcels, listed } = seen;
  const archived = new Set(
    existing.flatMap(({ manifest }) => manifest.items.map(({ contentId }) => contentId)),
  );
  const due = wantedOf(listed, askedOf(seen)).filter(
    ({ contentId }) =>
      !isStored(job, cloudSlot(contentId)) && !archived.has(contentId) && !otherParcels.has(contentId),
  );
  return failedLast(seen, due, ({ contentId }) => cloudSlot(contentId));
}

/** A medium of this size or more is noted in the database at once, because to download it again takes time. */
const largeBytes = 1_000_000;

/**
 * Stores the required media of the list that are not stored yet. Small ones are noted in the database together, or only if the job has
 * to wait: after a kill they are downloaded again. With messages that may still bring parts, files that are not noted are not removed,
 * so each medium is noted at once.
 */
export async function downloadMedia(running: CollectingJob, source: MediaSource): Promise<void> {
  const { job } = running;
  const { transactionId } = job;
  if (transactionId === null) {
    return;
  }
  const used = namesOfMedia(job);
  try {
    for (const item of dueOfCloud(running.seen)) {
      const slot = cloudSlot(item.contentId);
      // The list may contain it twice.
      if (isStored(job, slot) || running.seen.otherParcels.has(item.contentId)) {
        continue;
      }
      const one = await download(running, source, { item, transactionId, used });
      if (one === undefined) {
        continue;
      }
      const mayBeLost = job.state === "accepted" && one.bytes < largeBytes && job.intent.sequence === null;
      if (running.store.sealsAtOnce && mayBeLost) {
        job.items.set(slot, one);
        job.unsaved = (job.unsaved ?? new Map<string, StoredItem>()).set(slot, one);
        continue;
      }
      job.unnoted.set(slot, one);
      if (one.bytes >= largeBytes || job.intent.sequence !== null) {
        await noteStored(running);
      }
    }
  } finally {
    await noteStored(running);
  }
}

/** Stores one medium; undefined if it cannot be downloaded, or is a video of another parcel. */
async function download(
  running: CollectingJob,
  source: MediaSource,
  { item, transactionId, used }: { item: MediaItem; transactionId: string; used: Set<string> },
): Promise<StoredItem | undefined> {
  const { job, store, signal } = running;
  const { contentId, description } = item;
  const facts = {
    source: "cloud",
    contentId,
    description,
    url: mediaPath(transactionId, contentId),
    base: reserveName(used, description ?? contentId),
  } as const;
  const { surface, host } = source.peer;
  const onProgress = (done: number, total: number | null): void => running.setBytes(done, total);
  const start = () =>
    source.media(transactionId, contentId, {
      signal,
      onProgress,
      contentType: item.contentType ?? undefined,
    });
  let stored: StoredItem;
  try {
    stored = await storeItem(store, job.id, start, facts, { surface, host, signal });
  } catch (error) {
    noteFailed(running, cloudSlot(contentId), error);
    return undefined;
  }
  if (otherParcelsVideo(askedOf(running.seen)) !== undefined && isVideo(stored)) {
    // It was announced with another type.
    running.seen.otherParcels = new Set([...running.seen.otherParcels, contentId]);
    await store.disk.unlink(join(store.work.of(job.id), stored.path));
    return undefined;
  }
  running.resetFailures();
  return stored;
}

/**
 * Adds the media to the job that are stored and not noted yet. If the bucket or the database fails, they stay where they are, and the
 * next try notes them first: a device may have deleted its own, and the database may have noted them although its answer was lost.
 * Rejects with ERR_STORE.
 */
export async function noteStored({ job, store }: Pick<CollectingJob, "job" | "store">): Promise<void> {
  if (job.unnoted.size > 0) {
    const noted = new Map(job.unnoted);
    if (!(await addItems(store, job, noted))) {
      // They stay in the work folder with their notes, and are moved aside with it.
      throw new DimensionerError("jobUnknown", diskFacts, { value: job.id });
    }
    noted.forEach((_item, slot) => job.unnoted.delete(slot));
    for (const item of [...noted.values()].filter(({ source }) => source === "device")) {
      await removeNote(store.work.of(job.id), item, store.disk);
    }
  }
}

/**
 * Notes that a job waits, with the media that the database does not know yet. Not waited for: a job can also be sealed from `accepted`, and
 * what the database does not know then is added.
 */
export function noteWaiting({ job, store }: Pick<CollectingJob, "job" | "store">): void {
  const { unsaved } = job;
  if (job.state === "accepted" || unsaved !== null) {
    beginCollecting(job);
    job.unsaved = null;
    void store.jobs.addItems(job.id, unsaved ?? new Map()).catch(() => undefined);
  }
}

/** Finds what an earlier process has stored of a device, and the database has not noted. */
export async function findUnnoted({ job, store }: Pick<CollectingJob, "job" | "store">): Promise<void> {
  for (const [slot, item] of await readNotes(store.work.of(job.id), store.disk)) {
    if (!isStored(job, slot)) {
      job.unnoted.set(slot, item);
    }
  }
}

/**
 * Fetches what another worker has stored with the packages: these slots, and what the database has not noted. Rejects with ERR_FILE or
 * ERR_STORE while the packages are away.
 */
export async function findStaged(
  { job, store }: Pick<CollectingJob, "job" | "store">,
  slots: readonly string[],
): Promise<void> {
  const { staged, work } = store;
  for (const slot of slots) {
    const item = job.items.get(slot);
    if (item !== undefined) {
      await work.make(job.id);
      const isFetched = await staged?.fetch(job.id, item, join(work.of(job.id), item.path));
      if (isFetched !== true || !(await isUnchanged(store, job.id, item))) {
        await giveUpItem({ job, store }, slot, item);
      }
    }
  }
  for (const [slot, item] of (await staged?.readNotes(job.id)) ?? []) {
    if (!isStored(job, slot)) {
      await work.make(job.id);
      if (await staged?.fetch(job.id, item, join(work.of(job.id), item.path))) {
        job.unnoted.set(slot, item);
      }
    }
  }
}

/**
 * The same for what an earlier try has stored. A file that is not there any more is not a part of the job, whatever the database has noted
 * of it: it is asked for again.
 */
export async function noteStoredBefore(running: Pick<CollectingJob, "job" | "store">): Promise<void> {
  const { job, store } = running;
  for (const [slot, item] of job.unnoted) {
    if (!(await isUnchanged(store, job.id, item))) {
      await store.jobs.removeItems(job.id, [slot]);
      job.unnoted.delete(slot);
    }
  }
  if (job.unnoted.size > 0) {
    // What an attempt has stored may not be synced.
    await store.work.sync(job.id);
  }
  await noteStored(running);
}

/** The names of the job's files, without extensions. */
function namesOfMedia({ items, unnoted, lost }: OpenJob): Set<string> {
  return namesInUse([...items.values(), ...unnoted.values(), ...lost.values()]);
}

/** Whether a medium is stored, noted or not. */
function isStored({ items, unnoted }: OpenJob, slot: string): boolean {
  return items.has(slot) || unnoted.has(slot);
}

/**
 * Adds stored media to a job; returns false if it accepts none any more. Media of a message are added also while they cannot be staged: nobody
 * else has them. Rejects with ERR_STORE.
 */
export async function addItems(
  store: JobStore,
  job: OpenJob,
  items: ReadonlyMap<string, StoredItem>,
): Promise<boolean> {
  const isOfMessage = [...items.values()].every(({ source }) => source === "message");
  const spool = isOfMessage ? await stageOrPin(store, job.id, items) : await stage(store, job.id, items);
  const isAdded = await store.jobs.addItems(job.id, items, spool);
  if (isAdded) {
    beginCollecting(job);
    if (spool !== null) {
      job.unstaged = new Set([...(job.unstaged ?? []), ...items.keys()]);
    }
    items.forEach((item, slot) => {
      job.items.set(slot, item);
      job.lost.delete(slot);
    });
  }
  return isAdded;
}

/** Media that are nowhere else have to be in the bucket before the database says that the job has them. */
async function stage(
  { staged, work }: Pick<JobStore, "staged" | "work">,
  job: string,
  items: ReadonlyMap<string, StoredItem>,
): Promise<null> {
  try {
    await staged?.store(job, work.of(job), items);
    return null;
  } catch (error) {
    // What a close ends here is not accepted yet: its message has to be sent again.
    const isClosed = isDimensionerError(error) && error.sentence === "cancelledKept";
    throw isClosed ? new DimensionerError("cancelledClose", diskFacts) : error;
  }
}

/**
 * The same for media of a message: while they cannot be put there, the spool of this computer keeps them, which is returned for the
 * database to note. Null if they were put there.
 */
export async function stageOrPin(
  store: Pick<JobStore, "staged" | "work">,
  job: string,
  items: ReadonlyMap<string, StoredItem>,
): Promise<Spool | null> {
  try {
    return await stage(store, job, items);
  } catch (error) {
    if (!isOfPackages(error)) {
      throw error;
    }
    return await store.work.spool();
  }
}

/** Puts what only this spool has where every worker gets at it, and notes that. */
export async function stagePinned({ job, store }: Pick<CollectingJob, "job" | "store">): Promise<void> {
  const slots = new Set(job.unstaged);
  try {
    await stage(store, job.id, new Map([...job.items].filter(([slot]) => slots.has(slot))));
  } catch (error) {
    // They are not here any more either if another process of this computer has taken the job over.
    await store.jobs.demandOwn(job.id);
    throw error;
  }
  await store.jobs.noteStaged(job.id, [...slots]);
  // Further parts may have come meanwhile.
  const left = [...(job.unstaged ?? [])].filter((slot) => !slots.has(slot));
  job.unstaged = left.length === 0 ? null : new Set(left);
}

/** Whether it is the folder or the bucket of the packages that fails, and not the database. */
export function isOfPackages(error: unknown): error is DimensionerError {
  return isDimensionerError(error) && (error.code === "ERR_FILE" || error.sentence.startsWith("bucket"));
}

/** Checks the stored media after a restart: only unchanged ones count. Returns the slots of those that may be staged, for `findStaged`. */
export async function checkItems({
  job,
  store,
}: Pick<CollectingJob, "job" | "store">): Promise<readonly string[]> {
  const elsewhere: string[] = [];
  for (const [slot, item] of job.items) {
    if (await isUnchanged(store, job.id, item)) {
      continue;
    }
    if (store.staged !== null && item.source !== "cloud") {
      elsewhere.push(slot);
    } else {
      await giveUpItem({ job, store }, slot, item);
    }
  }
  return elsewhere;
}

/** What is nowhere any more is asked for again, unless a message has brought it. */
async function giveUpItem(
  { job, store: { jobs } }: Pick<CollectingJob, "job" | "store">,
  slot: string,
  item: StoredItem,
): Promise<void> {
  if (positionOf(slot) === null) {
    await jobs.removeItems(job.id, [slot]);
  } else {
    await jobs.lose(job.id, slot);
    job.lost.set(slot, item);
    job.unstaged?.delete(slot);
  }
  job.items.delete(slot);
}

/** Removes files of an earlier, unfinished try. */
export async function removeStrays({ store, job }: Pick<CollectingJob, "job" | "store">): Promise<void> {
  if (job.intent.sequence !== null) {
    // A part may be arriving at this moment.
    return;
  }
  const folder = store.work.of(job.id);
  const expected = new Set([...job.items.values()].map(({ path }) => path));
  try {
    for (const name of await store.disk.readdir(folder)) {
      if (!expected.has(name)) {
        await removeTree(join(folder, name), store.disk);
      }
    }
  } catch (error) {
    throw asFileError(error, folder);
  }
}

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
  store: JobStore,
  jobId: string,
  start: () => Promise<Download>,
  facts: ItemFacts,
  transfer: Transfer,
): Promise<StoredItem> {
  const about = { operation: diskFacts.operation, ...transfer };
  throwIfAborted(about);
  await store.room?.demand();
  const { base, ...own } = facts;
  const { disk } = store;
  const folder = store.work.of(jobId);
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
      folder: store.folder,
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
    throw diskError(error, join(folder, name), about, store.folder);
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
async function isUnchanged(store: JobStore, jobId: string, item: StoredItem): Promise<boolean> {
  const path = join(store.work.of(jobId), item.path);
  try {
    const found = await hashFile(path, store.disk, undefined, item.bytes);
    return found?.bytes === item.bytes && found.sha256 === item.sha256;
  } catch (error) {
    throw asFileError(error, path);
  }
}

/** The path of a medium in the cloud (spec 4.1), for the manifest. */
function mediaPath(transactionId: string, contentId: string): string {
  return `/api/transactionmedia/${encodeURIComponent(transactionId)}/${encodeURIComponent(contentId)}`;
}

/**
 * Whether a failure can disappear without another message: a connection, a token or a disk may come back. Such a job
 * stays open; any other failure ends it.
 */
export function isRetryableJob(error: unknown): boolean {
  if (!isDimensionerError(error)) {
    return false;
  }
  switch (error.code) {
    case "ERR_UNREACHABLE":
    case "ERR_TIMEOUT":
    case "ERR_CONNECTION_LOST":
    case "ERR_UNAUTHORIZED":
    // The sign-in page of a network looks like an invalid response or a redirect.
    case "ERR_BAD_RESPONSE":
    // Somebody may select a video mode again, and the device has its video until the next start.
    case "ERR_WRONG_MODE":
    // A config node can be corrected, and its deploy aborts what was running.
    case "ERR_CONFIG":
      return true;
    case "ERR_CANCELLED":
      return !isTaken(error);
    // Somebody can repair a damaged or newer database, like a disk, but not a damaged row or a lost one.
    case "ERR_STORE":
      return error.sentence !== "jobDamaged" && !isUnknown(error);
    case "ERR_HTTP":
      return error.details.retryable || isOnTheWay(error.details.statusCode);
    case "ERR_FILE":
      return error.sentence !== "fileExists" && error.sentence !== "fileOutside";
    default:
      return false;
  }
}

/** The sign-in page of a network answers with a redirect or forbids, and a cache on the way with 304: both pass. */
function isOnTheWay(statusCode = 0): boolean {
  return statusCode === 403 || (statusCode >= 300 && statusCode < 400);
}
