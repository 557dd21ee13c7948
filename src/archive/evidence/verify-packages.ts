import type { ArchiveNote, ArchiveProgress, Finding, VerifyReport } from "../../model/archive-reports.ts";
import { plainDisk } from "../archive-disk.ts";
import { checkIndexed } from "../maintenance/indexed-check.ts";
import type { CheckedTotals } from "../maintenance/package-check.ts";
import { TimestampFolder } from "../maintenance/timestamp-folder.ts";
import type { PlacedPackage } from "../packages/intent.ts";

export interface VerifyPackagesOptions {
  readonly onFinding: (finding: Finding) => void;
  readonly onProgress: (progress: ArchiveProgress) => void;
  readonly signal: AbortSignal;
  /** A PEM file with the root certificates that signers are checked against. */
  readonly timestampRoots?: string | undefined;
}

/**
 * Verifies some packages of the index: each file against its manifest, each manifest against the index, and the
 * manifest before it against what this one says of it. The whole archive is checked by `verifyArchive`.
 */
export async function verifyPackages(
  root: string,
  packages: readonly PlacedPackage[],
  { onFinding, onProgress, signal, timestampRoots }: VerifyPackagesOptions,
): Promise<VerifyReport> {
  const totals: CheckedTotals = { packages: 0, files: 0, bytes: 0, incomplete: 0 };
  let findings = 0;
  const report = (finding: Finding): void => {
    findings += 1;
    onFinding(finding);
  };
  for (const placed of packages) {
    signal.throwIfAborted();
    for await (const finding of checkIndexed(root, placed, totals, signal)) {
      report(finding);
    }
    const { packages: done, bytes } = totals;
    onProgress({ packages: done, bytes, expectedPackages: packages.length, expectedBytes: null });
  }
  return {
    verdict: findings > 0 ? "wrong" : "ok",
    findings,
    unchecked: [],
    notes: await noteTimestamps(root, packages, timestampRoots, signal),
    ...totals,
    expected: packages.length,
  };
}

/** Says for each package which verified time stamp covers it. What reads them is loaded only if there are some. */
async function noteTimestamps(
  root: string,
  packages: readonly PlacedPackage[],
  timestampRoots: string | undefined,
  signal: AbortSignal,
): Promise<ArchiveNote[]> {
  const notes: ArchiveNote[] = [];
  if (await new TimestampFolder(root, plainDisk).hasAny()) {
    const { explainTimestamp, readRoots, timestampOf } = await import("../maintenance/package-timestamp.ts");
    const roots = await readRoots(timestampRoots);
    for (const one of packages) {
      const found = await timestampOf(root, one, { disk: plainDisk, roots, signal });
      notes.push({ kind: "timestamp", path: one.path, text: explainTimestamp(found) });
    }
  }
  return notes;
}
