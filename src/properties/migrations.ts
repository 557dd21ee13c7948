/**
 * Migrates the saved properties of each type from version to version. Nodes are saved with their version; older ones
 * are migrated when they are loaded, in the runtime and in the editor alike, so that a flow runs without being opened,
 * and a dialog shows what runs.
 *
 * A step may change values and add properties. It never removes or renames one: the editor deletes what is not among a
 * type's defaults. It returns properties that it does not know unchanged.
 */

/** The properties as they were saved. */
export type Saved = Readonly<Record<string, unknown>>;

/** Converts the properties to the next version. */
type Step = (saved: Saved) => Saved;

/** The steps of each type, the first one from version 1 to 2; a type without an entry has none. */
export type Steps = Readonly<Record<string, readonly Step[]>>;

const allSteps: Steps = {};

/** The present version of a type. */
export function currentVersion(type: string, steps: Steps = allSteps): number {
  return 1 + (steps[type]?.length ?? 0);
}

/** The version with which a node was saved; 1 if it has none. Null if it is not a valid one. */
function versionOf({ version }: { readonly version?: unknown }): number | null {
  const saved = version ?? 1;
  return typeof saved === "number" && Number.isInteger(saved) && saved >= 1 ? saved : null;
}

/** Whether a node was saved by this version of the package or an earlier one. */
export function isKnown(
  type: string,
  saved: { readonly version?: unknown },
  steps: Steps = allSteps,
): boolean {
  const version = versionOf(saved);
  return version !== null && version <= currentVersion(type, steps);
}

/** Migrates properties to the present version; they stay unchanged if they have it, or if theirs is unknown. */
export function migrate(type: string, saved: Saved, steps: Steps = allSteps): Saved {
  const version = versionOf(saved);
  const open = version === null ? [] : (steps[type]?.slice(version - 1) ?? []);
  if (open.length === 0) {
    return saved;
  }
  return {
    ...open.reduce((properties, step) => step(properties), saved),
    version: currentVersion(type, steps),
  };
}
