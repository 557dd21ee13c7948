/** What people call an image or a video of a parcel. */
export type MediaKind = "depthPicture" | "picture" | "pictureWithDimensions" | "video";

interface DescribedMedium {
  /** MIME type. */
  readonly contentType: string | null;
  /** The device's or the cloud's own, such as `AnnotatedColorImageJpeg`; anything is possible. */
  readonly description: string | null;
  /** Its file name. */
  readonly name: string;
}

/** Returns what kind of image or video it is; undefined if it says something else of itself, which is then shown as it is. */
export function mediaKindOf({ contentType, description, name }: DescribedMedium): MediaKind | undefined {
  const says = description ?? name;
  if (contentType?.startsWith("video/") === true) {
    return description === null || /^(?:\w*video\w*|[\w.+-]+\/[\w.+-]+)$/i.test(description)
      ? "video"
      : undefined;
  }
  if (contentType?.startsWith("image/") !== true) {
    return undefined;
  }
  if (/^annotated/i.test(says)) {
    return "pictureWithDimensions";
  }
  if (/^depth/i.test(says)) {
    return "depthPicture";
  }
  return description === null || /^color|^image(?:\/|jpe?g|png|bmp|$)/i.test(description)
    ? "picture"
    : undefined;
}

/**
 * Media of the same content, together: of one measurement, the device and the cloud may have given the same picture. Each group is where its
 * first one is.
 */
export function byContent<T extends { readonly sha256: string }>(
  media: readonly T[],
): readonly (readonly T[])[] {
  const groups = new Map<string, T[]>();
  for (const one of media) {
    groups.set(one.sha256, [...(groups.get(one.sha256) ?? []), one]);
  }
  return [...groups.values()];
}

/** The captions of some media, in their order; those of one kind are numbered. `say` has a text for each kind. */
export function captionsOf(
  media: readonly DescribedMedium[],
  say: (kind: MediaKind) => string,
): readonly string[] {
  const kinds = media.map(mediaKindOf);
  const counts = new Map<MediaKind, number>();
  return media.map(({ description, name }, index) => {
    const kind = kinds[index];
    if (kind === undefined) {
      return description ?? name;
    }
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    return kinds.indexOf(kind) === kinds.lastIndexOf(kind) ? say(kind) : `${say(kind)} ${count}`;
  });
}
