/**
 * What a package has to hold, and what is missing. A job is judged together with the packages that it adds to, because all of them are
 * complete only together. Nothing here asks anybody: these are pure functions over what a job has and has found.
 */
import type { DimensionerError } from "../errors/dimensioner-error.ts";
import { type Problem, inEnglish, phrase, verbatim } from "../errors/interpolation.ts";
import { lackingNames } from "../model/measure-result.ts";
import type { MediaItem } from "../model/shapes.ts";
import {
  type IntentFacts,
  type ItemSource,
  type Picture,
  type StoredItem,
  asksCloud,
} from "../vault/packages/intent.ts";
import type { Expected, LeftOut, Manifest } from "../vault/packages/manifest.ts";
import type { Completeness } from "../vault/packages/package-writer.ts";
import type { FoundPackage } from "../vault/vault.ts";
import { type OpenJob, positionOf } from "./job-rows.ts";
import type { NotFound } from "./transactions.ts";

/** Returns the entries of `expect` that are not among these media. */
export type FindMissing = (items: readonly MediaItem[], expect: readonly string[]) => string[];

/** What the rounds of a job have found on the device, in the cloud and in existing packages so far. */
export class CollectedMedia {
  readonly job: OpenJob;
  /** The last list of the cloud. */
  listed: readonly MediaItem[] = [];
  /** How long the cloud's list has not grown, while it responded. */
  quietMs = 0;
  /** Why the transaction of a local measurement is not known yet. */
  notFound: NotFound | undefined;
  /** The packages that an earlier job for the same measurement has made; undefined until they were searched for. */
  packages: Packages | undefined;
  /** Why these could not be searched for. */
  away: DimensionerError | undefined;
  /** Content ids of videos of another parcel that the cloud announced with another type. */
  otherParcels: ReadonlySet<string> = none;
  /** The cloud's error if it does not know the transaction (yet). */
  unknown: DimensionerError | undefined;
  /** Why a medium counts as missing that its source has refused. */
  refused: DimensionerError | undefined;
  /** The slots of media whose download has failed, the last one last. */
  failed: readonly string[] = noSlots;
  /** The first failure of a round, which does not prevent the other requests. */
  failure: { readonly error: unknown } | undefined;

  constructor(job: OpenJob, packages: Packages | undefined) {
    this.job = job;
    this.packages = packages;
  }

  get existing(): Packages {
    return this.packages ?? [];
  }
}

const none: ReadonlySet<string> = new Set();
const noSlots: readonly string[] = [];

type Packages = readonly FoundPackage[];

/** What a job asks for, with the recording of the packages that it adds to if its message says none. */
export function askedOf({ job, existing }: CollectedMedia, packages: Packages = existing): IntentFacts {
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
function leftOutOf({ job, listed, otherParcels }: CollectedMedia, asked: IntentFacts): LeftOut[] {
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
export function missingFrom(seen: CollectedMedia, findMissing: FindMissing): Problem[] {
  const asked = askedOf(seen);
  return missingOf({ seen, asked, packages: seen.existing }, expectedOf(asked), findMissing);
}

/** A job, what it asks for, and the packages that it adds to. */
interface Judged {
  readonly seen: CollectedMedia;
  readonly asked: IntentFacts;
  readonly packages: Packages;
}

function missingOf({ seen, asked, packages }: Judged, wanted: Expected, findMissing: FindMissing): Problem[] {
  const { job } = seen;
  const leftOut = leftOutOf(seen, asked);
  const own = withoutLeftOut(job.items.values(), leftOut);
  const items = [...own, ...packages.flatMap(({ manifest }) => manifest.items)];
  const hasPicture = (picture: Picture): boolean =>
    items.some((item) => item.source === "device" && item.description === picture && isImage(item));
  return [
    ...missingParts(job),
    ...[...job.lost.values()].map(({ path }) => verbatim(path)),
    ...wanted.images.filter((image) => !hasPicture(image)).map((image) => phrase(pictureNames[image])),
    ...(wanted.deviceVideo && !items.some(isDeviceVideo) ? [phrase("keptVideo")] : []),
    ...(asksCloud(asked) ? missingOfCloud(seen, asked, { items, leftOut }) : []),
    ...(wanted.video && !items.some(isFilm) ? [phrase("startedVideo")] : []),
    ...findMissing(asMediaItems(items), wanted.expect).map(verbatim),
  ];
}

type AnyItem = StoredItem | Manifest["items"][number];

function missingOfCloud(
  { job, listed, notFound }: CollectedMedia,
  asked: IntentFacts,
  { items, leftOut }: { readonly items: readonly AnyItem[]; readonly leftOut: readonly LeftOut[] },
): Problem[] {
  if (job.transactionId === null) {
    return [notFound?.missing ?? phrase("recordMissing")];
  }
  const ofCloud = items.filter(({ source, url }) => source === "cloud" || url !== null);
  const announced = new Map(listed.map((one) => [one.contentId, one.contentType]));
  const present = ofCloud.filter((item) =>
    isMedium(item, announced.get(item.contentId ?? "") ?? item.contentTypeAnnounced),
  );
  const done = new Set([...present, ...leftOut].map(({ contentId }) => contentId));
  const notStored = wantedOf(listed, asked).filter(({ contentId }) => !done.has(contentId));
  if (notStored.length > 0) {
    return notStored.map(({ description, contentId }) =>
      verbatim(description?.trim() ? description : contentId),
    );
  }
  const { media } = asked;
  const isNothing = media === "pictures" ? present.every(isVideo) : present.length === 0;
  return isNothing && media !== "list" ? [phrase(media === "pictures" ? "anyImages" : "anyMedia")] : [];
}

/** Whether the cloud's list has not grown for long enough. */
export function leftToSettleMs(seen: CollectedMedia): number {
  const { intent } = seen.job;
  const waits = asksCloud(intent) && intent.media !== "list" && !hasAllKinds(seen);
  return waits ? Math.max(0, intent.settleMs - seen.quietMs) : 0;
}

/** The cloud's names for the pictures of a measurement. */
const pictureKinds = ["AnnotatedColorImageJpeg", "ColorImageJpeg", "DepthImage16Bit"];

/**
 * Whether the cloud's list has every kind of media that a measurement is known to have. Where no start of a video was seen, one may have
 * been started at the device itself.
 */
function hasAllKinds(seen: CollectedMedia): boolean {
  const { listed } = seen;
  const asked = askedOf(seen);
  const kinds = new Set(listed.map(({ description }) => description));
  const hasVideo = expectedOf(asked).video && listed.some(({ contentType }) => isVideoType(contentType));
  return (
    asked.contentType === null &&
    (asked.media === "pictures" || hasVideo) &&
    pictureKinds.every((kind) => kinds.has(kind))
  );
}

/** Whether missing media may still arrive. */
export function canGrow(seen: CollectedMedia, missing: readonly Problem[]): boolean {
  const { job, existing, notFound } = seen;
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
  seen: CollectedMedia,
  packages: Packages,
  { findMissing, isUnsure }: { findMissing: FindMissing; isUnsure: boolean },
): Completeness {
  const asked = askedOf(seen, packages);
  const manifests = manifestsOf(packages);
  const wanted = expectedWith(asked, manifests, messagesOf(seen.job));
  // Nobody is asked for it, so nothing has waited for it; the package lacks it all the same, and says why.
  const unasked = unaskedVideo(asked);
  const expected = { ...wanted, video: wanted.video || unasked !== undefined };
  const found = missingOf({ seen, asked, packages }, expected, findMissing).map((one) =>
    unasked !== undefined && isStartedVideo(one) ? phrase(unasked) : one,
  );
  const mayBeMore = isUnsure || isNotLookedFor(expected, manifests);
  const missing = mayBeMore && found.length === 0 ? [phrase("moreMedia")] : found;
  return {
    complete: missing.length === 0,
    missing,
    expected,
    leftOut: leftOutOf(seen, asked),
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

type Medium = Pick<StoredItem, "contentTypeAnnounced" | "contentTypeFound">;

/** The video that a device kept. */
function isDeviceVideo(item: Medium & { readonly source?: ItemSource | undefined }): boolean {
  return item.source === "device" && isFilm(item);
}

/** By its bytes alone: what an error document is announced as makes no picture and no film of it. */
function isImage({ contentTypeFound }: Medium): boolean {
  return contentTypeFound?.startsWith("image/") === true;
}

function isFilm({ contentTypeFound }: Medium): boolean {
  return isVideoType(contentTypeFound);
}

/** Whether the bytes of what is announced as a film are one, and those of a picture one of both: a film that is called a picture is no error document. */
function isMedium(item: Medium, announced: string | null): boolean {
  const isPicture = announced?.toLowerCase().startsWith("image/") === true && isImage(item);
  return isPicture || isFilm(item) || !/^(?:image|video)\//i.test(announced ?? "");
}

/** The same where somebody waits for a picture, or for a film. */
function isWhatItIsCalled(item: Medium): boolean {
  const type = item.contentTypeAnnounced?.toLowerCase() ?? "";
  return (!type.startsWith("image/") || isImage(item)) && (!type.startsWith("video/") || isFilm(item));
}

/** By what was announced or found: descriptions say nothing reliable. */
export function isVideo({ contentTypeAnnounced, contentTypeFound }: Medium): boolean {
  return isVideoType(contentTypeFound ?? contentTypeAnnounced);
}

function isVideoType(contentType: string | null): boolean {
  return contentType?.toLowerCase().startsWith("video/") === true;
}

/**
 * Why the cloud's video of this transaction is not the one that was started for this parcel; undefined where it is, or may be. A
 * measurement gets what the device records at that moment, whoever it was started for.
 */
export function otherParcelsVideo({
  recording,
}: Pick<IntentFacts, "recording">): LeftOut["reason"] | undefined {
  const whose = recording?.recording;
  return whose === undefined || whose === "own" || whose === "unknown" ? undefined : whose;
}

/** What a package has to hold to be complete for a job. */
export function expectedOf(intent: IntentFacts): Expected {
  const { contentType, expect, measuredBy, recording, recordedBy = null } = intent;
  const isForAll = asksCloud(intent) && intent.media === "all";
  return {
    media: asksCloud(intent) || intent.media === "list" ? intent.media : "none",
    contentType,
    expect,
    images: measuredBy?.images ?? [],
    deviceVideo: (measuredBy?.videoAt ?? null) !== null,
    video: isForAll && recording !== null && recordedBy === null && otherParcelsVideo(intent) === undefined,
  };
}

/** The phrases for a video that nobody is asked for. */
const unaskedVideos = ["unarchivedVideo", "perhapsUnarchivedVideo", "unfindableVideo"] as const;

/**
 * How to name the video that was started for this parcel, if a package of a job with the rule `all` is to have it and nobody is asked for
 * it: neither a cloud nor the device. Undefined if somebody is, or if there is no such video.
 */
function unaskedVideo(intent: IntentFacts): (typeof unaskedVideos)[number] | undefined {
  const { media, measuredBy, recording, hasNoTransaction = false } = intent;
  const isAsked = asksCloud(intent) || (measuredBy?.videoAt ?? null) !== null;
  if (media !== "all" || recording === null || isAsked || otherParcelsVideo(intent) !== undefined) {
    return undefined;
  }
  if (hasNoTransaction) {
    return "unfindableVideo";
  }
  return recording.recording === "own" ? "unarchivedVideo" : "perhapsUnarchivedVideo";
}

/** Whether packages that there are lack a video that nobody is asked for. */
export function lackVideoOf(intent: IntentFacts, manifests: readonly Manifest[]): boolean {
  return unaskedVideo(intent) !== undefined && !manifests.some(({ items }) => items.some(isFilm));
}

function isStartedVideo(one: Problem): boolean {
  return "phrase" in one && one.phrase === phrase("startedVideo").phrase;
}

/** Whether all that a package lacks is a video that nobody was asked for. */
export function lacksUnaskedVideo({ missing }: Pick<Manifest, "missing">): boolean {
  const texts = new Set(unaskedVideos.map((one) => inEnglish(phrase(one))));
  return missing.length > 0 && missing.every((text) => texts.has(text));
}

/** As `findMissing` takes them. */
function asMediaItems(items: Iterable<Omit<StoredItem, "source">>): Parameters<FindMissing>[0] {
  const present = [...items].filter(isWhatItIsCalled);
  return present.map(({ contentId, description, contentTypeAnnounced, contentTypeFound }) => ({
    contentId: contentId ?? "",
    description,
    contentType: contentTypeAnnounced ?? contentTypeFound,
  }));
}

/** Whether packages that there are hold all that a job wants, so that nobody has to be asked for it. */
export function isSatisfied(
  wanted: Expected,
  manifests: readonly Manifest[],
  findMissing: FindMissing,
): boolean {
  const items = manifests.flatMap((one) => one.items);
  const hasImages = wanted.images.every((image) =>
    items.some((item) => item.source === "device" && item.description === image && isImage(item)),
  );
  const lacksVideo =
    (wanted.video && !items.some(isFilm)) || (wanted.deviceVideo && !items.some(isDeviceVideo));
  if (!hasImages || lacksVideo) {
    return false;
  }
  if (findMissing(asMediaItems(items), wanted.expect).length > 0) {
    return false;
  }
  return (
    wanted.media === "none" ||
    wanted.media === "list" ||
    manifests.some(
      ({ complete, expected }) => complete && expected !== undefined && includes(expected, wanted),
    )
  );
}

/** Whether what is complete by one rule is complete by another. */
function includes(done: Expected, wanted: Expected): boolean {
  const hasType = done.contentType === null || done.contentType === wanted.contentType;
  return hasType && (done.media === "all" || done.media === wanted.media);
}

/** Whether a package with all that one job wants has all that another one wants. */
export function includesAll(done: Expected, wanted: Expected): boolean {
  const has = (of: "expect" | "images"): boolean =>
    wanted[of].every((one) => (done[of] as readonly string[]).includes(one));
  return (
    has("expect") &&
    has("images") &&
    (done.video || !wanted.video) &&
    (done.deviceVideo || !wanted.deviceVideo) &&
    (wanted.media === "none" || includes(done, wanted))
  );
}

/** The media that are not another parcel's. */
export function withoutLeftOut(items: Iterable<StoredItem>, leftOut: readonly LeftOut[]): StoredItem[] {
  const ids = new Set<string | null>(leftOut.map(({ contentId }) => contentId));
  return [...items].filter(({ source, contentId }) => source !== "cloud" || !ids.has(contentId));
}

/** The phrases for what a device lacks. */
const pictureNames = {
  annotated: "annotatedImage",
  color: "colorImage",
  depth: "depthImage",
} as const satisfies Record<Picture, string>;

/**
 * What a job asks for. A transaction that is sent again without its recording has that of its newest package with one, and the
 * device that made it.
 */
export function withRecording(intent: IntentFacts, manifests: readonly Manifest[]): IntentFacts {
  const known = manifests.findLast(({ recording }) => (recording ?? null) !== null);
  const { recording, recordedBy = null } = known ?? {};
  return intent.recording === null && recording ? { ...intent, recording, recordedBy } : intent;
}

/** The messages of a job that bring media. */
export interface Messages {
  /** How many there are, if all their media are there; otherwise 0. */
  readonly whole: number;
  /** Of how many some media are missing. */
  readonly lacking: number;
}

/** What a package has to hold together with those that it adds to: also what these were to hold. */
export function expectedWith(
  intent: IntentFacts,
  manifests: readonly Manifest[],
  { whole, lacking }: Messages = { whole: 0, lacking: 0 },
): Expected {
  const own = expectedOf(intent);
  // Each package repeats it until all of the messages were sent again.
  const before = manifests.findLast(({ expected }) => expected !== undefined)?.expected?.parts ?? 0;
  const parts = Math.max(lacking, whole >= before ? 0 : before);
  const all = [own, ...manifests.flatMap(({ expected }) => expected ?? [])];
  return {
    ...own,
    expect: all.reduce<string[]>((sum, { expect }) => [...sum, ...lackingNames(expect, sum)], []),
    images: [...new Set(all.flatMap(({ images }) => images))],
    deviceVideo: all.some(({ deviceVideo }) => deviceVideo),
    video: all.some(({ video }) => video) && otherParcelsVideo(intent) === undefined,
    ...(parts === 0 ? {} : { parts }),
  };
}

/**
 * Whether existing packages lack something for which neither a job with this rule nor a later one of them has looked. Nobody can
 * look for media of messages.
 */
export function isNotLookedFor(rule: Expected, manifests: readonly Manifest[]): boolean {
  if (rule.parts !== undefined) {
    return true;
  }
  const rules = manifests.filter((one) => !lacksUnnamed(one)).flatMap(({ expected }) => expected ?? []);
  return manifests.some(
    (one) =>
      one.expected !== undefined &&
      lacksUnnamed(one) &&
      ![rule, ...rules].some((done) => one.expected !== undefined && includes(done, one.expected)),
  );
}

/** Whether a package lacks what its rule does not name: media of the cloud. */
function lacksUnnamed({ missing, expected }: Manifest): boolean {
  const named = [...Object.values(pictureNames), "keptVideo", "startedVideo", ...unaskedVideos] as const;
  const texts = new Set([...named.map((one) => inEnglish(phrase(one))), ...(expected?.expect ?? [])]);
  return missing.some((text) => !texts.has(text));
}
