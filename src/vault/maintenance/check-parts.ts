import type { ReadDisk } from "../archive-disk.ts";
import type { PrunedPackages } from "./pruned-packages.ts";
import type { SeenPackages } from "./seen-packages.ts";

/** What all checks of one verification use. */
export interface CheckParts {
  /** The folder of packages, without links. */
  readonly root: string;
  readonly disk: ReadDisk;
  readonly seen: SeenPackages;
  /** Undefined if there is no log of deleted packages. */
  readonly pruned: PrunedPackages | undefined;
  /** The folder of the extracted export that is checked; undefined if it is none. */
  readonly exported: string | undefined;
}
