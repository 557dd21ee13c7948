import { phrase, verbatim, type Problem } from "../../errors/interpolation.ts";
import type { MediaItem } from "../../model/shapes.ts";
import type { NotFound } from "../find/transaction-finder.ts";
import { asksCloud, type IntentFacts, type Picture, type StoredItem } from "../../vault/packages/intent.ts";
import type { Expected, LeftOut, Manifest } from "../../vault/packages/manifest.ts";
import type { Completeness } from "../../vault/packages/package-writer.ts";
import {
  asMediaItems,
  expectedOf,
  otherParcelsVideo,
  isDeviceVideo,
  isVideo,
  isVideoType,
} from "./required-media.ts";
import { expectedWith, isNotLookedFor, pictureNames, withRecording, type Messages } from "./with-existing.ts";
import { withoutLeftOut } from "../seal/addition.ts";
import type { ExistingPackage } from "../seal/existing-packages.ts";
import type { FindMissing } from "./media-source.ts";
import type { OpenJob } from "../table/open-job.ts";
import { positionOf } from "../table/item-slots.ts";

/** What a job has, and what its last round has found. */
export interface Collected {
  readonly job: OpenJob;
  /** The last list of the cloud. */
  readonly listed: readonly MediaItem[];
  /** How long the cloud's list has not grown, while it responded. */
  readonly quietMs: number;
  /** Why the transaction of a local measurement is not known yet. */
  readonly notFound: NotFound | undefined;
  /** The packages that an earlier job for the same measurement has made. */
  readonly existing: readonly ExistingPackage[];
  /** Content ids of videos of another parcel that the cloud announced with another type. */
  readonly otherParcels: ReadonlySet<string>;
}

type Packages = readonly ExistingPackage[];

/** What a job asks for, with the recording of the packages that it adds to if its message says none. */
export function askedOf({ job, existing }: Collected, packages: Packages = existing): IntentFacts {
  return withRecording(job.intent, manifestsOf(packages));
}

function manifestsOf(packages: Packages): Manifest[] {
  return packages.map(({ manifest }) => manifest);
}

/** The required media of the cloud's list. */
export function wantedOf(listed: readonly MediaItem[], intent: IntentFacts): MediaItem[] {
  const takesVideo = intent.media !== "pictures" && otherParcelsVideo(intent) === undefined;
  return listed.filter(({ contentType }) => takesVideo || !isVideoType(contentType));
}

/**
 * The cloud's media that belong to another parcel. The package that says so may have been made when the job had stored them
 * already.
 */
function leftOutOf({ job, listed, otherParcels }: Collected, asked: IntentFacts): LeftOut[] {
  const reason = otherParcelsVideo(asked);
  if (reason === undefined) {
    return [];
  }
  const ofList = listed.filter(
    ({ contentType, contentId }) => isVideoType(contentType) || otherParcels.has(contentId),
  );
  const stored = [...job.items.values()].filter((item) => item.source === "cloud" && isVideo(item));
  const found = new Map([...stored, ...ofList].map((one) => [one.contentId ?? "", one.description]));
  return [...found].map(([contentId, description]) => ({ contentId, description, reason }));
}

/**
 * What a job requires that is neither stored nor in its package. What only existing packages were to hold is not waited for: the
 * job may not even know who has it.
 */
export function missingFrom(running: Collected, findMissing: FindMissing): Problem[] {
  const asked = askedOf(running);
  return missingOf({ running, asked, packages: running.existing }, expectedOf(asked), findMissing);
}

/** A job, what it asks for, and the packages that it adds to. */
interface Judged {
  readonly running: Collected;
  readonly asked: IntentFacts;
  readonly packages: Packages;
}

function missingOf(
  { running, asked, packages }: Judged,
  wanted: Expected,
  findMissing: FindMissing,
): Problem[] {
  const { job } = running;
  const leftOut = leftOutOf(running, asked);
  const own = withoutLeftOut(job.items.values(), leftOut);
  const items = [...own, ...packages.flatMap(({ manifest }) => manifest.items)];
  const hasPicture = (picture: Picture): boolean =>
    items.some(({ source, description }) => source === "device" && description === picture);
  return [
    ...missingParts(job),
    ...[...job.lost.values()].map(({ path }) => verbatim(path)),
    ...wanted.images.filter((image) => !hasPicture(image)).map((image) => phrase(pictureNames[image])),
    ...(wanted.deviceVideo && !items.some(isDeviceVideo) ? [phrase("keptVideo")] : []),
    ...(asksCloud(asked) ? missingOfCloud(running, asked, { items, leftOut }) : []),
    ...(wanted.video && !items.some(isVideo) ? [phrase("startedVideo")] : []),
    ...findMissing(asMediaItems(items), wanted.expect).map(verbatim),
  ];
}

type AnyItem = StoredItem | Manifest["items"][number];

function missingOfCloud(
  { job, listed, notFound }: Collected,
  asked: IntentFacts,
  { items, leftOut }: { readonly items: readonly AnyItem[]; readonly leftOut: readonly LeftOut[] },
): Problem[] {
  if (job.transactionId === null) {
    return [notFound?.missing ?? phrase("recordMissing")];
  }
  const ofCloud = items.filter(({ source, url }) => source === "cloud" || url !== null);
  const done = new Set([...ofCloud, ...leftOut].map(({ contentId }) => contentId));
  const notStored = wantedOf(listed, asked).filter(({ contentId }) => !done.has(contentId));
  if (notStored.length > 0) {
    return notStored.map(({ description, contentId }) => verbatim(description ?? contentId));
  }
  const { media } = asked;
  const isNothing = media === "pictures" ? ofCloud.every(isVideo) : ofCloud.length === 0;
  return isNothing && media !== "list" ? [phrase(media === "pictures" ? "anyImages" : "anyMedia")] : [];
}

/** Whether the cloud's list has not grown for long enough. */
export function leftToSettleMs({ job, quietMs }: Collected): number {
  const { intent } = job;
  const waits = asksCloud(intent) && intent.media !== "list";
  return waits ? Math.max(0, intent.settleMs - quietMs) : 0;
}

/** Whether missing media may still arrive. */
export function canGrow(running: Collected, missing: readonly Problem[]): boolean {
  const { job, existing, notFound } = running;
  const { intent } = job;
  if (notFound?.isFinal === true && missing.every((one) => one === notFound.missing)) {
    return false;
  }
  const wanted = expectedOf(intent);
  return (
    asksCloud(intent) ||
    !isWhole(job) ||
    wanted.images.length > 0 ||
    wanted.deviceVideo ||
    existing.length > 0
  );
}

/**
 * Judges the package of a job together with those that it adds to: all of them are complete when it is. `isUnsure`: whether
 * the job ends by a failure, so that there may be more.
 */
export function judge(
  running: Collected,
  packages: Packages,
  { findMissing, isUnsure }: { findMissing: FindMissing; isUnsure: boolean },
): Completeness {
  const asked = askedOf(running, packages);
  const manifests = manifestsOf(packages);
  const expected = expectedWith(asked, manifests, messagesOf(running.job));
  const found = missingOf({ running, asked, packages }, expected, findMissing);
  const mayBeMore = isUnsure || isNotLookedFor(expected, manifests);
  const missing = mayBeMore && found.length === 0 ? [phrase("moreMedia")] : found;
  return {
    complete: missing.length === 0,
    missing,
    expected,
    leftOut: leftOutOf(running, asked),
    recording: asked.recording,
    recordedBy: asked.recordedBy ?? null,
  };
}

/** The parts of a sequence are counted by their positions, so a part that arrives twice counts once. */
function partsOf({ items }: Pick<OpenJob, "items">): number {
  return new Set([...items.keys()].map(positionOf).filter((position) => position !== null)).size;
}

function messagesOf(job: OpenJob): Messages {
  const { count, intent, items, lost } = job;
  if (isWhole(job) && lost.size === 0) {
    return { whole: partsOf(job), lacking: 0 };
  }
  const arrived = partsOf({ items: new Map([...items, ...lost]) });
  // At least the last part is missing if the number is not known.
  return { whole: 0, lacking: count ?? arrived + (intent.sequence === null ? 0 : 1) };
}

/** Whether all messages of the sequence have arrived. */
export function isWhole(job: OpenJob): boolean {
  return job.intent.sequence === null || (job.count !== null && partsOf(job) >= job.count);
}

function missingParts(job: OpenJob): Problem[] {
  if (isWhole(job)) {
    return [];
  }
  return job.count === null
    ? [phrase("lastPart")]
    : [phrase("partsMissing", { count: job.count - partsOf(job), total: job.count })];
}
