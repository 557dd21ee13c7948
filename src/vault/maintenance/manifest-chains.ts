import { manifestFileName } from "../archive-disk.ts";
import type { ArchiveFiles } from "../files/archive-files.ts";
import { loadManifestWithin } from "./load-manifest-within.ts";

/** How many manifests are remembered: about 30 MB. */
const mostRemembered = 100_000;

/** A manifest as the next one names it. */
interface NamedManifest {
  readonly path: string;
  readonly sha256: string;
}

/** What is remembered of a manifest. */
interface Link {
  readonly archived: string;
  readonly previous: NamedManifest | null;
}

/** The package that a way should lead to. */
interface Target {
  readonly sha256: string;
  readonly archived: string;
}

/** The ways to one package. */
export interface WaysTo {
  /** Counts the manifests from this package's one back to the target; null if they do not lead there. */
  count(from: { readonly package: string; readonly manifestSha256: string }): Promise<number | null>;
}

/**
 * The chains of an archive's manifests, each naming the one before it. Several chains may lead into one. A manifest is remembered
 * once it was read, so that ways which lead elsewhere are read once, for however many packages.
 */
export class ManifestChains {
  readonly #files: Pick<ArchiveFiles, "disk" | "root">;
  readonly #signal: AbortSignal | undefined;
  readonly #known = new Map<string, Link>();

  constructor(files: Pick<ArchiveFiles, "disk" | "root">, signal: AbortSignal | undefined) {
    this.#files = files;
    this.#signal = signal;
  }

  /**
   * `isByClock`: a way is followed only as far as its manifests are not older than the target, by the clocks of the computers. That
   * misses the target if a clock was set back after it.
   */
  waysTo(target: Target, isByClock: boolean): WaysTo {
    // No way leads from these to the target: another way that comes to one of them need not be followed.
    const passed = new Set<string>();
    return {
      count: async ({ package: path, manifestSha256: sha256 }) => {
        const from = { path: `${path}/${manifestFileName}`, sha256 };
        let isRemembered = false;
        const links = await this.#follow(from, target, async (next) => {
          if (passed.has(next.sha256)) {
            return undefined;
          }
          if (passed.size < mostRemembered) {
            passed.add(next.sha256);
          }
          const known = this.#known.get(next.sha256);
          isRemembered ||= known !== undefined;
          const link = known ?? (await this.#read(next));
          return isByClock && link !== undefined && link.archived < target.archived ? undefined : link;
        });
        // A manifest that is remembered may have been pruned since, so the way that counts is read as it is now.
        return links !== null && isRemembered
          ? await this.#follow(from, target, (next) => this.#read(next))
          : links;
      },
    };
  }

  async #follow(
    from: NamedManifest,
    { sha256 }: Target,
    find: (named: NamedManifest) => Promise<Link | undefined>,
  ): Promise<number | null> {
    let next: NamedManifest | null | undefined = from;
    for (let links = 0; next !== null && next !== undefined; links++) {
      this.#signal?.throwIfAborted();
      if (next.sha256 === sha256) {
        return links;
      }
      next = (await find(next))?.previous;
    }
    return null;
  }

  /** Undefined if it is not there as it was named. */
  async #read({ path, sha256 }: NamedManifest): Promise<Link | undefined> {
    const { root, disk } = this.#files;
    const found = await loadManifestWithin(root, path, disk);
    this.#known.delete(sha256);
    if (typeof found === "string" || found.sha256 !== sha256) {
      return undefined;
    }
    const [oldest] = this.#known.size < mostRemembered ? [] : this.#known.keys();
    if (oldest !== undefined) {
      this.#known.delete(oldest);
    }
    const { times, previous } = found.manifest;
    const link = { archived: times.archived, previous };
    this.#known.set(sha256, link);
    return link;
  }
}
