import type { ArchiveNote, ArchiveProgress, Finding, VerifyReport } from "../model/archive-reports.ts";
import type { ArchiveFiles } from "../vault/files/archive-files.ts";
import {
  coveringTimestamp,
  explainTimestamp,
  timestampsIn,
} from "../vault/maintenance/covering-timestamps.ts";
import { checkIndexed } from "../vault/maintenance/indexed-check.ts";
import type { CheckedTotals } from "../vault/maintenance/package-check.ts";
import type { PackageTimestamp } from "../vault/maintenance/package-timestamp.ts";
import type { PlacedPackage } from "../vault/packages/intent.ts";

export interface VerifyPackagesOptions {
  readonly onFinding: (finding: Finding) => void;
  readonly onProgress: (progress: ArchiveProgress) => void;
  readonly signal: AbortSignal;
  /** A PEM file with the root certificates that signers are checked against. */
  readonly timestampRoots?: string | undefined;
}

/**
 * Verifies some packages of the index: each file against its manifest, each manifest against the index, the
 * manifest before it against what this one says of it, and the time stamps that cover it. The whole archive is checked by
 * `verifyArchive`. Throws ERR_STORE if the bucket fails.
 */
export async function verifyPackages(
  files: Pick<ArchiveFiles, "disk" | "root">,
  packages: readonly PlacedPackage[],
  { onFinding, onProgress, signal, timestampRoots }: VerifyPackagesOptions,
): Promise<VerifyReport> {
  const totals: CheckedTotals = { packages: 0, files: 0, bytes: 0, incomplete: 0 };
  let findings = 0;
  const report = (finding: Finding): void => {
    findings += 1;
    onFinding(finding);
  };
  const timestamps = await timestampsIn(files, timestampRoots, signal);
  const notes: ArchiveNote[] = [];
  // One time stamp covers many packages.
  const named = new Set<string>();
  for (const placed of packages) {
    signal.throwIfAborted();
    for await (const finding of checkIndexed(files, placed, totals, signal)) {
      report(finding);
    }
    const found = await timestamps?.find(placed);
    for (const finding of found?.findings ?? []) {
      if (!named.has(finding.path)) {
        named.add(finding.path);
        report(finding);
      }
    }
    // With root certificates, time stamps are expected: somebody may have deleted all of them.
    if (found !== undefined || timestampRoots !== undefined) {
      notes.push(noteOf(placed, found?.timestamp ?? null));
    }
    const { packages: done, bytes } = totals;
    onProgress({ packages: done, bytes, expectedPackages: packages.length, expectedBytes: null });
  }
  return {
    verdict: findings > 0 ? "wrong" : "ok",
    findings,
    unchecked: [],
    notes,
    ...totals,
    expected: packages.length,
  };
}

function noteOf({ path }: PlacedPackage, found: PackageTimestamp | null): ArchiveNote {
  const timestamp = found === null ? null : coveringTimestamp(found);
  return { kind: "timestamp", path, text: explainTimestamp(found), timestamp };
}
