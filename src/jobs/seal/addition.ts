import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { diskFacts } from "../../vault/archive-disk.ts";
import type { PlacedPackage, StoredItem } from "../../vault/packages/intent.ts";
import type { LeftOut, Manifest } from "../../vault/packages/manifest.ts";
import type { ExistingPackage } from "./existing-packages.ts";
import { answerOfManifest, isOtherAnswer, keysOfManifest, type Answer } from "../table/job-keys.ts";
import { positionOf } from "../table/item-slots.ts";
import type { OpenJob } from "../table/open-job.ts";

/** What a new package adds to the existing ones. */
export interface Addition {
  readonly items: readonly StoredItem[];
  readonly hasAnswer: boolean;
  readonly supplements: PlacedPackage | null;
}

/** Everything that a job has of its parcel, for a package of its own. */
export function wholeOf(job: OpenJob, leftOut: readonly LeftOut[]): Addition {
  return { items: withoutLeftOut(job.items.values(), leftOut), hasAnswer: true, supplements: null };
}

/** What a job has and the existing package and its supplements do not have; null if there is nothing. */
export function additionOf(
  job: OpenJob,
  packages: readonly ExistingPackage[],
  leftOut: readonly LeftOut[],
): Addition | null {
  const whole = wholeOf(job, leftOut);
  const [first] = packages;
  if (first === undefined) {
    return whole;
  }
  const archived = hashesIn(packages);
  const fresh = whole.items.filter(({ sha256 }) => !archived.has(sha256));
  const hasAnswer = bringsAnswer(job.answer, packages);
  return fresh.length === 0 && !hasAnswer
    ? null
    : { items: fresh, hasAnswer, supplements: { path: first.path, sha256: first.sha256 } };
}

/**
 * Throws ERR_EXPIRED for a part of a sequence that was accepted when the package of its job had its name already: it would go with the
 * work folder. Clouds and devices still have what has come since then.
 */
export function throwIfPartIsLate({ items }: OpenJob, packages: readonly ExistingPackage[]): void {
  const archived = hashesIn(packages);
  const late = [...items].findLast(([, { source, sha256 }]) => source === "message" && !archived.has(sha256));
  if (late !== undefined) {
    throw new DimensionerError("partTooLate", diskFacts, { count: Number(positionOf(late[0])) + 1 });
  }
}

/** The hashes of the media in packages. */
function hashesIn(packages: readonly ExistingPackage[]): ReadonlySet<string> {
  return new Set(packages.flatMap(({ manifest }) => manifest.items.map(({ sha256 }) => sha256)));
}

/** The media that are not another parcel's. */
export function withoutLeftOut(items: Iterable<StoredItem>, leftOut: readonly LeftOut[]): StoredItem[] {
  const ids = new Set<string | null>(leftOut.map(({ contentId }) => contentId));
  return [...items].filter(({ source, contentId }) => source !== "cloud" || !ids.has(contentId));
}

/** Whether a job brings a measurement or an exact answer that the existing packages do not have. */
export function bringsAnswer(
  { raw, measurement }: Answer,
  packages: readonly Pick<ExistingPackage, "manifest">[],
): boolean {
  const answers = packages.map(({ manifest }) => answerOfManifest(manifest));
  const hasRaw = answers.some((one) => one.raw !== null);
  const hasMeasurement = answers.some((one) => one.measurement !== null);
  return (raw !== null && !hasRaw) || (measurement !== null && !hasRaw && !hasMeasurement);
}

/**
 * Whether a package that another process has placed contains everything of this one: then it is the package of both. An exact
 * answer that only this one has would be lost with its work folder.
 */
export function hasAll(there: Manifest, own: Manifest): boolean {
  const answer = answerOfManifest(own);
  const hashes = new Set(there.items.map(({ sha256 }) => sha256));
  return (
    keysOfManifest(there).own === keysOfManifest(own).own &&
    (there.supplements?.sha256 ?? null) === (own.supplements?.sha256 ?? null) &&
    !isOtherAnswer(answer, answerOfManifest(there)) &&
    !bringsAnswer(answer, [{ manifest: there }]) &&
    (there.complete || !own.complete) &&
    own.items.every(({ sha256 }) => hashes.has(sha256))
  );
}
