import { join } from "node:path";
import { plainDisk } from "../archive-disk.ts";
import type { Finding, Unchecked } from "./finding.ts";
import type { Manifest } from "./manifest.ts";
import { hashFile } from "./package-files.ts";

interface Link {
  readonly path: string;
  readonly sha256: string;
  readonly manifest: Manifest;
}

interface Gap {
  readonly path: string;
  readonly archived: string;
  readonly previous: string;
  /** Another manifest lies where the one before it was. */
  readonly isReplaced: boolean;
}

/**
 * Checks that each manifest is the one that the next one names. The names are hashes, so that there can be no circle, and one
 * that is gone leaves a gap before the package that names it. Whether the last one is gone, the chain cannot tell.
 */
export class ChainCheck {
  readonly #root: string;
  readonly #isPruned: ((sha256: string) => Promise<boolean>) | undefined;
  readonly #seen = new Set<string>();
  /** Manifests that another one names, and the package that does. */
  readonly #named = new Map<string, string>();
  #first: string | undefined;
  #last: { path: string; archived: string } | undefined;
  /** By the manifest that is not where it should be; it may still be met elsewhere. */
  readonly #gaps = new Map<string, Gap>();

  /** `isPruned` knows the deleted packages; not given where there is no archive's state to ask. */
  constructor(root: string, isPruned: ((sha256: string) => Promise<boolean>) | undefined) {
    this.#root = root;
    this.#isPruned = isPruned;
  }

  /** Takes in one package. */
  async *check({ path, sha256, manifest }: Link): AsyncGenerator<Finding> {
    const { previous, times } = manifest;
    this.#seen.add(sha256);
    if (this.#last === undefined || times.archived >= this.#last.archived) {
      this.#last = { path, archived: times.archived };
    }
    if (previous === null) {
      if (this.#first !== undefined) {
        const problem = `this package names none before it, and neither does ${this.#first}: the archive was begun twice, and packages between the two may be missing`;
        yield { kind: "begun-twice", path, problem };
      }
      this.#first ??= path;
      return;
    }
    const other = this.#named.get(previous.sha256);
    if (other !== undefined) {
      const problem = `${other} names the same package before it: one of them is a copy, or was not archived here`;
      yield { kind: "two-successors", path, problem };
      return;
    }
    this.#named.set(previous.sha256, path);
    const found = isInside(previous.path)
      ? await hashFile(join(this.#root, previous.path), plainDisk)
      : undefined;
    if (found?.sha256 !== previous.sha256 && (await this.#isPruned?.(previous.sha256)) !== true) {
      const isReplaced = found !== undefined;
      this.#gaps.set(previous.sha256, {
        path,
        archived: times.archived,
        previous: previous.path,
        isReplaced,
      });
    }
  }

  /** What is known once all packages have been seen, and what the chain cannot tell by itself. */
  end(hasIndex: boolean): { findings: Finding[]; unchecked: Unchecked[] } {
    // A folder that was copied out of its archive has the packages under other paths.
    const gaps = [...this.#gaps].filter(([sha256]) => !this.#seen.has(sha256)).map(([, gap]) => gap);
    const beginning = this.#beginningOf(gaps);
    const findings = gaps.filter((gap) => gap !== beginning).map((gap) => this.#explain(gap));
    const unchecked: Unchecked[] = [];
    if (beginning !== undefined) {
      const { path, previous } = beginning;
      const problem = `whether packages before this one are missing: the one before it, ${previous}, is not here`;
      unchecked.push({ kind: "earlier-packages", path, problem });
    }
    if (!hasIndex && this.#last !== undefined) {
      const problem =
        "whether packages after this one, the last, are missing: only the archive's index knows";
      unchecked.push({ kind: "later-packages", path: this.#last.path, problem });
    }
    return { findings, unchecked };
  }

  #explain({ path, previous, isReplaced }: Gap): Finding {
    if (isReplaced) {
      const problem = `the manifest before it, ${previous}, is not the one that was there`;
      return { kind: "previous-changed", path, problem };
    }
    const state = this.#isPruned === undefined ? "not here" : "gone and was not pruned";
    const problem = `the package before it, ${previous}, is ${state}`;
    return { kind: "previous-missing", path, problem };
  }

  /** Where packages were copied out of their archive, the chain of the copy begins with one that names another before it. */
  #beginningOf(gaps: readonly Gap[]): Gap | undefined {
    if (this.#isPruned !== undefined || this.#first !== undefined) {
      return undefined;
    }
    return gaps
      .filter(({ isReplaced }) => !isReplaced)
      .reduce<Gap | undefined>(
        (oldest, gap) => (oldest === undefined || gap.archived < oldest.archived ? gap : oldest),
        undefined,
      );
  }
}

function isInside(path: string): boolean {
  return !path.split(/[/\\]/).includes("..") && !/^(?:[/\\]|[a-z]:)/i.test(path);
}
