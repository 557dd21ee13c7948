/**
 * What became of the saved properties of each type from version to version. Nodes carry the version that they were saved
 * with; older ones are brought up to date when they are loaded, in the runtime and in the editor alike, so that a flow runs
 * before anybody opens it, and a dialog shows what runs.
 *
 * A step may change values and add properties. It takes none away and renames none: the editor forgets what is not among
 * a type's defaults, so that a name, once given, stays. What a step does not know it hands on.
 */

/** The properties as they were saved. */
export type Saved = Readonly<Record<string, unknown>>;

/** What the next version makes of them. */
type Step = (saved: Saved) => Saved;

/** The steps of each type, the first one from version 1 to 2; a type that is not named has none. */
export type Steps = Readonly<Record<string, readonly Step[]>>;

const allSteps: Steps = {};

/** The version that a type is saved with. */
export function currentVersion(type: string, steps: Steps = allSteps): number {
  return 1 + (steps[type]?.length ?? 0);
}

/** The version that a node was saved with; what is saved without one is of version 1. Null where it is none. */
function versionOf({ version }: { readonly version?: unknown }): number | null {
  const saved = version ?? 1;
  return typeof saved === "number" && Number.isInteger(saved) && saved >= 1 ? saved : null;
}

/** Whether a node was saved by this version of the package or by an earlier one. */
export function isKnown(
  type: string,
  saved: { readonly version?: unknown },
  steps: Steps = allSteps,
): boolean {
  const version = versionOf(saved);
  return version !== null && version <= currentVersion(type, steps);
}

/** The properties in the present version; untouched where they are of it already, or of one that is not known. */
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
