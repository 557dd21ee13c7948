import { numberedName, safeParts } from "../../media/file-names.ts";
import { diskFacts } from "../../vault/archive-disk.ts";
import type { ChainedPackage } from "./neighbours.ts";

/** A longer path could not be extracted on a Windows computer whose paths have at most 260 characters. */
const longestFolder = 120;
const longestShortName = 60;

/** Gives each file of a ZIP a name that every system accepts, and that no other file has in capital or small letters. */
export class ZipNames {
  readonly #taken = new Set<string>();
  /** The folders of packages, in small letters. */
  readonly #packages = new Set<string>();
  /** How these and the folders above them are spelled, in small letters. */
  readonly #spellings = new Map<string, string>();

  /** A name as it is, or with a number. */
  free(name: string): string {
    for (let number = 0; ; number += 1) {
      const cut = name.lastIndexOf("/") + 1;
      const free = name.slice(0, cut) + numberedName(name.slice(cut), number);
      if (!this.#taken.has(free.toLowerCase())) {
        this.#taken.add(free.toLowerCase());
        return free;
      }
    }
  }

  /**
   * A package has the folder that it has in the archive, or a short one if that would be too long, or if it or one above it is in the
   * export already in other letters: Windows would make one folder of both, and a package that is not where the list of hashes has it,
   * or whose files had numbers in their names, could not be verified.
   */
  ofPackage({ path, sha256 }: Pick<ChainedPackage, "path" | "sha256">): (file: string) => string {
    const parts = safeParts(path, diskFacts);
    const last = parts.at(-1) ?? "";
    const short = `${last.slice(0, longestShortName).trim().toWellFormed()}~${sha256.slice(0, 8)}`;
    const joined = parts.join("/");
    const isShort = joined.length > longestFolder || this.#isTaken(joined);
    const folder = isShort ? short : joined;
    this.#packages.add(folder.toLowerCase());
    for (const one of withParents(folder)) {
      this.#spellings.set(one.toLowerCase(), one);
    }
    return (file) => this.free(`packages/${folder}/${safeParts(file, diskFacts).join("/")}`);
  }

  #isTaken(folder: string): boolean {
    const isOther = (one: string): boolean => (this.#spellings.get(one.toLowerCase()) ?? one) !== one;
    return this.#packages.has(folder.toLowerCase()) || withParents(folder).some(isOther);
  }
}

/** A folder, and those above it. */
function withParents(folder: string): string[] {
  const parts = folder.split("/");
  return parts.map((_part, index) => parts.slice(0, index + 1).join("/"));
}
