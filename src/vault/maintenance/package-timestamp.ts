import type { X509Certificate } from "node:crypto";
import type { PackageFinding } from "../../model/archive-reports.ts";
import type { VerifiedTimestamp } from "../timestamp/verify.ts";
import { manifestFileName } from "../archive-disk.ts";
import type { ArchiveFiles } from "../files/archive-files.ts";
import { loadManifestWithin } from "./load-manifest-within.ts";
import { ManifestChains } from "./manifest-chains.ts";
import type { PlacedPackage } from "../packages/intent.ts";
import { tryVerify } from "./timestamp-check.ts";
import { TimestampFolder, locationOf, timeOf, type KeptTimestamp } from "./timestamp-folder.ts";

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
  readonly #chains: ManifestChains;
  #names: Promise<NamedTimestamps> | undefined;

  constructor(files: Pick<ArchiveFiles, "disk" | "root">, options: PackageTimestampOptions) {
    this.#files = files;
    this.#options = options;
    this.#folder = new TimestampFolder(files.root, files.disk);
    this.#chains = new ManifestChains(files, options.signal);
  }

  /**
   * Finds the earliest time stamp that covers a package: one of its own manifest, or of a later one that leads back to it.
   * Every manifest on that way is read and hashed. There is none if a package on the way was pruned. If a clock was set back after
   * the package, the one that is found may be a later one.
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
    // The chains of other workers are not read to their beginnings only because they were time-stamped, too.
    const newer = this.#chains.waysTo({ sha256, archived }, true);
    const others: Pick<KeptTimestamp, "about" | "name">[] = [];
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
      if (about.archived >= archived) {
        const verified = this.#verify(kept, add);
        if (verified === undefined) {
          continue;
        }
        const links = await newer.count(about);
        if (links !== null) {
          return { timestamp: { ...verified, kept, links }, findings };
        }
      }
      others.push({ name, about });
    }
    // After a clock was set back, a later package may look older than this one.
    const any = this.#chains.waysTo({ sha256, archived }, false);
    for (const { name, about } of others) {
      const links = await any.count(about);
      const kept = links === null ? undefined : await this.#folder.read(name);
      const verified = kept === undefined ? undefined : this.#verify(kept, add);
      if (links !== null && kept !== undefined && verified !== undefined) {
        return { timestamp: { ...verified, kept, links }, findings };
      }
    }
    return { timestamp: null, findings };
  }

  #verify(kept: KeptTimestamp, add: (name: string, problem: string) => void): VerifiedTimestamp | undefined {
    const verified = tryVerify(kept, this.#options.roots);
    if (typeof verified === "string") {
      add(kept.name, `the time stamp of the package ${kept.about.package} is not valid: ${verified}`);
      return undefined;
    }
    return verified;
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
