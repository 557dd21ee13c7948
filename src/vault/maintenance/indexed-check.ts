import type { PackageFinding } from "../../model/archive-reports.ts";
import { join } from "node:path";
import { isDimensionerError } from "../../errors/dimensioner-error.ts";
import { manifestFileName } from "../archive-disk.ts";
import type { ArchiveFiles } from "../files/archive-files.ts";
import type { PlacedPackage } from "../packages/intent.ts";
import { FileHasher } from "./file-hasher.ts";
import { loadManifestWithin } from "./load-manifest-within.ts";
import { checkPackage, type CheckedTotals } from "./package-check.ts";
import { findPruned } from "./prune-log.ts";
import { sayUnreadable } from "./say-unreadable.ts";
import { damagedManifest } from "./walk-packages.ts";

/** Checks one package of the index, and the manifest before it. */
export async function* checkIndexed(
  { root, disk }: Pick<ArchiveFiles, "disk" | "root">,
  { path, sha256 }: PlacedPackage,
  totals: CheckedTotals,
  signal: AbortSignal | undefined,
): AsyncGenerator<PackageFinding> {
  const found = await loadManifestWithin(root, `${path}/${manifestFileName}`, disk).catch(explain);
  if (typeof found === "string") {
    totals.packages += 1;
    yield found === "none"
      ? { kind: "missing-package", path, problem: "the package is gone" }
      : { kind: "manifest", path, problem: found === "damaged" ? damagedManifest : found };
    return;
  }
  const { manifest } = found;
  if (found.sha256 !== sha256) {
    yield { kind: "manifest", path, problem: "the manifest is not the one that the index lists" };
  }
  const folder = join(root, path);
  const hasher = new FileHasher({ disk, signal, mayUseThread: false });
  yield* checkPackage({ kind: "package", path, folder, ...found }, hasher, totals);
  if (!manifest.complete) {
    totals.incomplete += 1;
  }
  const { previous } = manifest;
  if (previous !== null && (await isReplaced({ root, disk }, previous))) {
    const problem = "the manifest before this one is not the one that it names";
    yield { kind: "previous-changed", path, problem };
  }
}

/** Whether another manifest is in the place of this one, which was not deleted because of its age before. */
async function isReplaced(
  files: Pick<ArchiveFiles, "disk" | "root">,
  { path, sha256 }: PlacedPackage,
): Promise<boolean> {
  const there = await loadManifestWithin(files.root, path, files.disk);
  return (
    typeof there === "object" &&
    there.sha256 !== sha256 &&
    (await findPruned(files, "sha256", new Set([sha256]))).size === 0
  );
}

/** A bucket that fails would fail for each package. */
function explain(error: unknown): string {
  if (isDimensionerError(error)) {
    throw error;
  }
  return sayUnreadable(error);
}
