import type { X509Certificate } from "node:crypto";
import { ProblemError } from "../../errors/interpolation.ts";
import { sha256Of } from "../../model/sha256.ts";
import type { ArchiveNote, Finding, Unchecked } from "../../model/archive-reports.ts";
import { readRequest } from "../timestamp/request.ts";
import { verifyTimestamp, type VerifiedTimestamp } from "../timestamp/verify.ts";
import { manifestFileName, stateFolderName } from "../archive-disk.ts";
import type { CheckParts } from "./check-parts.ts";
import { loadManifestWithin } from "./load-manifest-within.ts";
import {
  locationOf,
  TimestampFolder,
  timestampLogName,
  timestampsName,
  type KeptTimestamp,
} from "./timestamp-folder.ts";

export { readRoots } from "./timestamp-roots.ts";

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
export function tryVerify(
  kept: KeptTimestamp,
  roots: readonly X509Certificate[],
): VerifiedTimestamp | string {
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
