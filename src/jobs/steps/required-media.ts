import {
  asksCloud,
  type IntentFacts,
  type ItemSource,
  type StoredItem,
} from "../../vault/packages/intent.ts";
import type { Expected, LeftOut, Manifest } from "../../vault/packages/manifest.ts";
import type { FindMissing } from "./media-source.ts";

type Medium = Pick<StoredItem, "contentTypeAnnounced" | "contentTypeFound">;

/** The video that a device kept. */
export function isDeviceVideo(item: Medium & { readonly source?: ItemSource | undefined }): boolean {
  return item.source === "device" && isVideo(item);
}

/** By what was announced or found: descriptions say nothing reliable. */
export function isVideo({ contentTypeAnnounced, contentTypeFound }: Medium): boolean {
  return isVideoType(contentTypeFound ?? contentTypeAnnounced);
}

export function isVideoType(contentType: string | null): boolean {
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

/** As `findMissing` takes them. */
export function asMediaItems(items: Iterable<Omit<StoredItem, "source">>): Parameters<FindMissing>[0] {
  return [...items].map(({ contentId, description, contentTypeAnnounced, contentTypeFound }) => ({
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
    items.some(({ source, description }) => source === "device" && description === image),
  );
  const lacksVideo =
    (wanted.video && !items.some(isVideo)) || (wanted.deviceVideo && !items.some(isDeviceVideo));
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
export function includes(done: Expected, wanted: Expected): boolean {
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
