import { inEnglish, phrase } from "../../errors/interpolation.ts";
import type { IntentFacts, Picture } from "../../vault/packages/intent.ts";
import type { Expected, Manifest } from "../../vault/packages/manifest.ts";
import { lackingNames } from "../../model/lacking-names.ts";
import { expectedOf, includes, otherParcelsVideo } from "./required-media.ts";

/** The phrases for what a device lacks. */
export const pictureNames = {
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
  const named = [...Object.values(pictureNames), "keptVideo", "startedVideo"] as const;
  const texts = new Set([...named.map((one) => inEnglish(phrase(one))), ...(expected?.expect ?? [])]);
  return missing.some((text) => !texts.has(text));
}
