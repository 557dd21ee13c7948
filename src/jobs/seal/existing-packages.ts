import type { PlacedPackage } from "../../vault/packages/intent.ts";
import type { Manifest } from "../../vault/packages/manifest.ts";
import type { PackagePlace } from "../../vault/place/package-place.ts";
import type { IndexedPackage, PackageIndex } from "../../vault/packages/package-index.ts";
import { isOtherAnswer, type Answer } from "../table/job-keys.ts";

/** A complete package that exists already. */
export interface ExistingPackage extends PlacedPackage {
  readonly manifest: Manifest;
}

/** The existing packages for the keys of a job and its measurement. */
export interface Existing {
  /** A package and its supplements, in the order in which they were archived; empty if there is no package. */
  readonly packages: readonly ExistingPackage[];
  /** The ids of all packages that the index has for these keys. */
  readonly known: readonly string[];
  /** Whether the same transaction is archived with another measurement. */
  readonly hasOther: boolean;
}

interface Places {
  readonly place: Pick<PackagePlace, "find">;
  readonly index: PackageIndex;
  readonly onDamaged: (path: string) => void;
}

/**
 * Searches for the packages of a job's keys with its measurement. Every file is read, because only complete packages
 * count. A damaged one is reported, and stays as it is.
 */
export async function findExisting(
  keys: readonly string[],
  answer: Answer,
  { place, index, onDamaged }: Places,
): Promise<Existing> {
  const rows = keys.length === 0 ? [] : await index.ofKeys(keys);
  const known = rows.map(({ id }) => id);
  let hasOther = false;
  for (const first of rows.filter(({ supplements }) => supplements === null)) {
    const group = [first, ...rows.filter(({ supplements }) => supplements === first.sha256)];
    if (isOtherAnswer(answer, answerOfAll(group))) {
      hasOther = true;
      continue;
    }
    const packages: ExistingPackage[] = [];
    for (const { path, sha256 } of group) {
      const manifest = await place.find({ path, sha256 });
      if (typeof manifest === "object") {
        packages.push({ path, sha256, manifest });
      } else if (manifest === "damaged") {
        onDamaged(path);
      }
    }
    // A deleted package cannot be supplemented.
    if (packages[0]?.sha256 === first.sha256) {
      return { packages, hasOther, known };
    }
  }
  return { packages: [], hasOther, known };
}

/** The measurement of a group of packages: a supplement may bring the one that its package lacks. */
function answerOfAll(group: readonly IndexedPackage[]): Answer {
  const find = (of: keyof Answer): string | null => group.find((one) => one[of] !== null)?.[of] ?? null;
  return { measurement: find("measurement"), raw: find("raw") };
}
