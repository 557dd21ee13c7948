import type { X509Certificate } from "node:crypto";
import type { PackageFinding } from "../../model/archive-reports.ts";
import type { VerifiedTimestamp } from "../../timestamp/verify.ts";
import { manifestFileName } from "../archive-disk.ts";
import type { ArchiveFiles } from "../files/archive-files.ts";
import { loadManifestWithin } from "./load-manifest-within.ts";
import type { FoundManifest } from "../packages/package-files.ts";
import type { PlacedPackage } from "../packages/intent.ts";
import { tryVerify } from "./timestamp-check.ts";
import {
  TimestampFolder,
  locationOf,
  timeOf,
  type AboutTimestamp,
  type KeptTimestamp,
} from "./timestamp-folder.ts";

export { readRoots } from "./timestamp-roots.ts";

/** A verified time stamp that covers a package. */
export interface PackageTimestamp extends VerifiedTimestamp {
  /** As it is kept; it is for the manifest of this package, or of a later one of the chain. */
  readonly kept: KeptTimestamp;
  /** How many manifests lead from that one to this package, each naming the one before it; 0: it is this package. */
  readonly links: number;
}

/** What was found when a package's time stamp was looked for. */
export interface SoughtTimestamp {
  /** The earliest valid one that covers the package. */
  readonly timestamp: PackageTimestamp | null;
  /** What is wrong with those that were made between the package and that one. */
  readonly findings: readonly PackageFinding[];
}

export interface PackageTimestampOptions {
  /** The root certificates that the signers are checked against. */
  readonly roots: readonly X509Certificate[];
  readonly signal?: AbortSignal | undefined;
}

/** The time stamps of an archive, as they were when it was opened, for several packages. */
export class PackageTimestamps {
  readonly #files: Pick<ArchiveFiles, "disk" | "root">;
  readonly #options: PackageTimestampOptions;
  readonly #folder: TimestampFolder;
  #names: Promise<NamedTimestamps> | undefined;

  constructor(files: Pick<ArchiveFiles, "disk" | "root">, options: PackageTimestampOptions) {
    this.#files = files;
    this.#options = options;
    this.#folder = new TimestampFolder(files.root, files.disk);
  }

  /**
   * Finds the earliest time stamp that covers a package: one of its own manifest, or of a later one that leads back to it.
   * Every manifest on that way is read and hashed. There is none if a package on the way was pruned.
   */
  async find({ path, sha256 }: PlacedPackage): Promise<SoughtTimestamp> {
    const findings: PackageFinding[] = [];
    const { root, disk } = this.#files;
    const own = await loadManifestWithin(root, `${path}/${manifestFileName}`, disk);
    if (typeof own === "string" || own.sha256 !== sha256) {
      return { timestamp: null, findings };
    }
    const { archived } = own.manifest.times;
    const add = (name: string, problem: string): void => {
      findings.push({ kind: "timestamp", path: locationOf(name), problem });
    };
    const { all, logged, there } = await (this.#names ??= readNames(this.#folder));
    const interrupted = new Set<string | null>();
    // A name begins with the time at which its time stamp was received.
    for (const name of all.filter((one) => one >= timeOf(archived))) {
      const kept = there.has(name) ? await this.#folder.read(name) : "missing";
      if (kept === "missing") {
        add(name, "the time stamp is missing");
        continue;
      }
      if (kept === undefined) {
        if (logged.has(name) || !(await this.#folder.isUnfinished(name))) {
          add(name, "the time stamp cannot be read: a file of it is missing or damaged");
        }
        continue;
      }
      const { about } = kept;
      if (about.archived < archived || interrupted.has(about.store)) {
        continue;
      }
      const verified = tryVerify(kept, this.#options.roots);
      if (typeof verified === "string") {
        add(name, `the time stamp of the package ${about.package} is not valid: ${verified}`);
        continue;
      }
      const links = await this.#countLinks(about, { sha256 });
      if (links !== null) {
        return { timestamp: { ...verified, kept, links }, findings };
      }
      // The way back from a later time stamp of this store leads through the same gap.
      interrupted.add(about.store);
    }
    return { timestamp: null, findings };
  }

  /** Goes back along the chain until it meets the package; null if the chain ends or breaks before. */
  async #countLinks(from: AboutTimestamp, to: { readonly sha256: string }): Promise<number | null> {
    const { root, disk } = this.#files;
    let next: { readonly path: string; readonly sha256: string } | null = {
      path: `${from.package}/${manifestFileName}`,
      sha256: from.manifestSha256,
    };
    for (let links = 0; next !== null; links++) {
      this.#options.signal?.throwIfAborted();
      if (next.sha256 === to.sha256) {
        return links;
      }
      const found: FoundManifest | "damaged" | "none" = await loadManifestWithin(root, next.path, disk);
      if (typeof found === "string" || found.sha256 !== next.sha256) {
        return null;
      }
      next = found.manifest.previous;
    }
    return null;
  }
}

interface NamedTimestamps {
  /** The names of all that are there or in the log, the earliest first. */
  readonly all: readonly string[];
  readonly there: ReadonlySet<string>;
  readonly logged: ReadonlySet<string>;
}

async function readNames(folder: TimestampFolder): Promise<NamedTimestamps> {
  const there = new Set(await folder.names());
  const logged = new Set<string>();
  for await (const { timestamp } of folder.logged()) {
    logged.add(timestamp);
  }
  return { all: [...new Set([...there, ...logged])].toSorted(), there, logged };
}
