import { phrase, verbatim, type Problem } from "../../errors/interpolation.ts";
import type { MediaItem } from "../../model/shapes.ts";
import type { NotFound } from "../find/transaction-finder.ts";
import type { IntentFacts, Picture, StoredItem } from "../packages/intent.ts";
import type { LeftOut, Manifest } from "../packages/manifest.ts";
import type { Completeness } from "../packages/package-writer.ts";
import {
  asksCloud,
  asMediaItems,
  expectedOf,
  foreignVideo,
  isDeviceVideo,
  isVideo,
  isVideoType,
} from "./demand.ts";
import type { ExistingPackage } from "./existing.ts";
import type { FindMissing } from "./media-source.ts";
import type { OpenJob } from "./open-job.ts";
import { placeOf } from "./slots.ts";

/** What a job has, and what its last look at everybody has shown. */
export interface Collected {
  readonly job: OpenJob;
  /** What the cloud listed last. */
  readonly listed: readonly MediaItem[];
  /** How long the cloud's list has not grown, while it answered. */
  readonly quietMs: number;
  /** Why the transaction of a local measurement is not known yet. */
  readonly notFound: NotFound | undefined;
  /** The packages that an earlier job for the same has made. */
  readonly existing: readonly ExistingPackage[];
  /** Videos of another parcel that the cloud announced as something else, by their content id. */
  readonly foreign: ReadonlySet<string>;
  /** What messages brought and is not there any more after a restart. */
  readonly lost: readonly string[];
}

const pictureNames = {
  annotated: "annotatedImage",
  color: "colorImage",
  depth: "depthImage",
} as const satisfies Record<Picture, string>;

/** What is wanted of the cloud's list. */
export function wantedOf(listed: readonly MediaItem[], intent: IntentFacts): MediaItem[] {
  const takesVideo = intent.media !== "pictures" && foreignVideo(intent) === undefined;
  return listed.filter(({ contentType }) => takesVideo || !isVideoType(contentType));
}

/** What of the cloud's list is another parcel's. */
function leftOutOf({ job, listed, foreign }: Collected): LeftOut[] {
  const reason = foreignVideo(job.intent);
  if (reason === undefined) {
    return [];
  }
  return listed
    .filter(({ contentType, contentId }) => isVideoType(contentType) || foreign.has(contentId))
    .map(({ contentId, description }) => ({ contentId, description, reason }));
}

/** What a job wants and neither has nor finds in its package. */
export function missingFrom(
  running: Collected,
  findMissing: FindMissing,
  packages: readonly ExistingPackage[] = running.existing,
): Problem[] {
  const { job, lost } = running;
  const archived = packages.flatMap(({ manifest }) => manifest.items);
  const items = [...job.items.values(), ...archived];
  const wanted = expectedOf(job.intent);
  const hasPicture = (picture: Picture): boolean =>
    items.some(({ source, description }) => source === "device" && description === picture);
  return [
    ...missingParts(job),
    ...lost.map(verbatim),
    ...wanted.images.filter((image) => !hasPicture(image)).map((image) => phrase(pictureNames[image])),
    ...(wanted.deviceVideo && !items.some(isDeviceVideo) ? [phrase("keptVideo")] : []),
    ...(asksCloud(job.intent) ? missingOfCloud(running, items) : []),
    ...(wanted.video && !items.some(isVideo) ? [phrase("startedVideo")] : []),
    ...findMissing(asMediaItems(items), wanted.expect).map(verbatim),
  ];
}

type AnyItem = StoredItem | Manifest["items"][number];

function missingOfCloud({ job, listed, notFound, foreign }: Collected, items: readonly AnyItem[]): Problem[] {
  if (job.transactionId === null) {
    return [notFound?.missing ?? phrase("recordMissing")];
  }
  const ofCloud = items.filter(({ source, url }) => source === "cloud" || url !== null);
  const stored = new Set(ofCloud.map(({ contentId }) => contentId));
  const notStored = wantedOf(listed, job.intent).filter(
    ({ contentId }) => !stored.has(contentId) && !foreign.has(contentId),
  );
  if (notStored.length > 0) {
    return notStored.map(({ description, contentId }) => verbatim(description ?? contentId));
  }
  const { media } = job.intent;
  const isNothing = media === "pictures" ? ofCloud.every(isVideo) : ofCloud.length === 0;
  return isNothing && media !== "list" ? [phrase(media === "pictures" ? "anyImages" : "anyMedia")] : [];
}

/** Whether the cloud's list has not grown for long enough. */
export function leftToSettleMs({ job, quietMs }: Collected): number {
  const { intent } = job;
  const waits = asksCloud(intent) && intent.media !== "list";
  return waits ? Math.max(0, intent.settleMs - quietMs) : 0;
}

/** Whether what is missing can still come. */
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

export function judge(running: Collected, missing: readonly Problem[]): Completeness {
  return {
    complete: missing.length === 0,
    missing,
    expected: expectedOf(running.job.intent),
    leftOut: leftOutOf(running),
  };
}

/** Parts of a sequence are counted by their place: one that comes twice is one. */
function partsOf(job: OpenJob): number {
  return new Set([...job.items.keys()].map(placeOf).filter((place) => place !== null)).size;
}

/** Whether all messages of its sequence have come. */
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
