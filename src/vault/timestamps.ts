import type { X509Certificate } from "node:crypto";
import { ProblemError } from "../errors/interpolation.ts";
import type { ArchiveNote, Finding, PackageFinding, Unchecked } from "../model/archive-reports.ts";
import { sha256Of } from "../model/sha256.ts";
import { manifestFileName, stateFolderName } from "./archive-disk.ts";
import type { ArchiveFiles } from "./files/archive-files.ts";
import type { PlacedPackage } from "./packages/intent.ts";
import { type CheckParts, ManifestChains } from "./seen-packages.ts";
import {
  type KeptTimestamp,
  TimestampFolder,
  locationOf,
  timeOf,
  timestampLogName,
  timestampsName,
} from "./timestamp-folder.ts";
import { readRequest } from "./timestamp/token.ts";
import { type VerifiedTimestamp, verifyTimestamp } from "./timestamp/verify.ts";
import { loadManifestWithin } from "./walk.ts";

const noTimestamps =
  "the time stamps: root certificates were given, but there is no time stamp here; if there have been some, they were deleted";

/** How many signers are named that were not checked against a root certificate. */
const mostNamed = 3;

interface Checked extends VerifiedTimestamp {
  readonly kept: KeptTimestamp;
}

/** Verifies a kept time stamp for the SHA-256 of a manifest. Throws a ProblemError. */
function verifyKept(
  { about, request, response }: KeptTimestamp,
  roots: readonly X509Certificate[],
): VerifiedTimestamp {
  const sha256 = Buffer.from(about.manifestSha256, "hex");
  return verifyTimestamp(response, { ...readRequest(request), sha256 }, roots);
}

/**
 * Checks all time stamps of an archive: that each in the log is there and unchanged, that it can be verified, and that
 * the manifest that it is for is there or was pruned. If no root certificates are given, the signers are added to
 * `unchecked`; if some are given, and there is no time stamp, this is added. The newest time stamp is added to the notes.
 */
export async function* checkTimestamps(
  parts: CheckParts,
  roots: readonly X509Certificate[],
  { unchecked, notes }: { readonly unchecked: Unchecked[]; readonly notes: ArchiveNote[] },
): AsyncGenerator<Finding> {
  const folder = new TimestampFolder(parts.root, parts.disk, parts.exported);
  const names = new Set(await folder.names());
  const place = (name: string): string =>
    parts.exported === undefined ? locationOf(name) : `${timestampsName}/${name}`;
  const folderPath = place("").slice(0, -1);
  const found = (name: string, problem: string): Finding => ({
    kind: "timestamp",
    path: place(name),
    problem,
  });
  const logged = new Set<string>();
  let changedLines = 0;
  for await (const { timestamp: name, package: path, response } of folder.logged(() => changedLines++)) {
    logged.add(name);
    if (!names.has(name)) {
      yield found(name, `the time stamp of the package ${path} is missing`);
    } else if (await isChanged(folder, name, response)) {
      names.delete(name);
      yield found(name, `the time stamp of the package ${path} is not the original one`);
    }
  }
  if (changedLines > 0) {
    yield {
      kind: "timestamp",
      path: `${stateFolderName}/${timestampLogName}`,
      problem: "a line of the log of all time stamps has been changed: its time stamp may have been deleted",
    };
  }
  let newest: Checked | undefined;
  const uncheckedSigners = new Set<string>();
  for (const name of names) {
    const kept = await folder.read(name);
    if (kept === undefined) {
      // An export has no log.
      if (parts.exported !== undefined || logged.has(name) || !(await folder.isUnfinished(name))) {
        yield found(name, "the time stamp cannot be read: a file of it is missing or damaged");
      } else {
        names.delete(name);
      }
      continue;
    }
    const verified = tryVerify(kept, roots);
    if (typeof verified === "string") {
      yield found(name, `the time stamp of the package ${kept.about.package} is not valid: ${verified}`);
      continue;
    }
    if (!(await hasManifest(kept, parts))) {
      const what = parts.exported === undefined ? "is missing or has been changed" : "has been changed";
      yield found(name, `the manifest that was time-stamped, that of ${kept.about.package}, ${what}`);
      continue;
    }
    if (verified.root === null) {
      uncheckedSigners.add(verified.signer);
    }
    newest = newest === undefined || newest.at <= verified.at ? { ...verified, kept } : newest;
  }
  if (uncheckedSigners.size > 0) {
    unchecked.push(explainUncheckedSigners([...uncheckedSigners], folderPath));
  }
  if (newest !== undefined) {
    notes.push(explainNewest(newest, place(newest.kept.name), await isOutside(newest.kept, parts)));
  } else if (roots.length > 0 && names.size === 0 && logged.size === 0) {
    unchecked.push({ kind: "no-timestamps", path: folderPath, problem: noTimestamps });
  }
}

/** One whose files are missing is reported when it is read. */
async function isChanged(folder: TimestampFolder, name: string, sha256: string): Promise<boolean> {
  const kept = await folder.read(name);
  return kept !== undefined && sha256Of(kept.response) !== sha256;
}

/** What is wrong with it, as a text. */
function tryVerify(kept: KeptTimestamp, roots: readonly X509Certificate[]): VerifiedTimestamp | string {
  try {
    return verifyKept(kept, roots);
  } catch (error) {
    if (error instanceof ProblemError) {
      return error.message;
    }
    throw error;
  }
}

/**
 * The manifest may be outside the checked folder, or may have been pruned since. In an export it may be that of a later
 * package, which is not there.
 */
async function hasManifest(
  { about }: KeptTimestamp,
  { root, disk, pruned, exported, seen }: CheckParts,
): Promise<boolean> {
  if (exported !== undefined) {
    const there = (await seen.at([about.package])).get(about.package);
    return there === undefined || there.sha256 === about.manifestSha256;
  }
  const manifest = await loadManifestWithin(root, `${about.package}/${manifestFileName}`, disk);
  const isThere = typeof manifest === "object" && manifest.sha256 === about.manifestSha256;
  return isThere || (await pruned?.has(about.manifestSha256)) === true;
}

/** Whether the manifest that was signed is not in the export: it is that of a later package. */
async function isOutside({ about }: KeptTimestamp, { exported, seen }: CheckParts): Promise<boolean> {
  const found = await seen.select("SELECT 1 FROM seen WHERE sha256 = ?", [about.manifestSha256]);
  return exported !== undefined && found.length === 0;
}

function explainUncheckedSigners(signers: readonly string[], path: string): Unchecked {
  const named = signers.slice(0, mostNamed).map((name) => `“${name}”`);
  const more = signers.length > mostNamed ? ` and ${signers.length - mostNamed} others` : "";
  return {
    kind: "timestamp-signer",
    path,
    problem: `who has signed the time stamps: they name ${named.join(", ")}${more}, but no root certificate was given to check this against`,
  };
}

function explainNewest({ kept, at, signer, root }: Checked, path: string, outside: boolean): ArchiveNote {
  const checked = root === null ? "not checked against a root certificate" : `root certificate: “${root}”`;
  return {
    kind: "timestamp",
    path,
    text: `the newest time stamp: on ${at.toISOString()}, “${signer}” (${checked}) signed the manifest of ${kept.about.package}${outside ? " (which is not in this export, so the way back from it was not checked)" : ""}, and with it the chain of all packages before it`,
  };
}

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
