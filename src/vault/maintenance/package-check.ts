import { join } from "node:path";
import { isDimensionerError } from "../../errors/dimensioner-error.ts";
import type { PackageFinding } from "../../model/archive-reports.ts";
import { holdName, manifestFileName } from "../archive-disk.ts";
import { filesOf } from "../packages/manifest.ts";
import type { HashAnswer } from "./hash-thread.ts";
import type { FileHasher } from "./file-hasher.ts";
import { sayUnreadable } from "./say-unreadable.ts";
import { straysOf, type WalkedPackage } from "./walk-packages.ts";

/** The totals of a verification, which grow while it runs. */
export interface CheckedTotals {
  packages: number;
  files: number;
  bytes: number;
  incomplete: number;
}

/** Checks each file of a package against its manifest, and its folder for files that do not belong there. */
export async function* checkPackage(
  { path, folder, manifest }: WalkedPackage,
  hasher: FileHasher,
  totals: CheckedTotals,
): AsyncGenerator<PackageFinding> {
  totals.packages += 1;
  const files = filesOf(manifest);
  for (const file of files) {
    const found = await hasher.hash(join(folder, file.path));
    totals.files += 1;
    totals.bytes += typeof found === "object" ? found.bytes : 0;
    const finding = compare(file, found);
    if (finding !== undefined) {
      yield { ...finding, path: below(path, file.path) };
    }
  }
  const named = new Set([manifestFileName, ...files.map((file) => file.path)]);
  try {
    for await (const name of straysOf(folder, named, hasher.disk)) {
      if (!holdName.test(name)) {
        yield { kind: "stray", path: below(path, name), problem: "this does not belong to the package" };
      }
    }
  } catch (error) {
    if (isDimensionerError(error)) {
      throw error;
    }
    yield { kind: "unreadable", path, problem: sayUnreadable(error) };
  }
}

type ManifestFile = ReturnType<typeof filesOf>[number];

function compare(file: ManifestFile, found: HashAnswer): Omit<PackageFinding, "path"> | undefined {
  if (found === undefined) {
    return { kind: "missing", problem: "the file is not there" };
  }
  if (typeof found === "string") {
    return { kind: "unreadable", problem: found };
  }
  if (found.bytes !== file.bytes) {
    return { kind: "changed", problem: `the file has ${found.bytes} bytes instead of ${file.bytes}` };
  }
  return found.sha256 === file.sha256
    ? undefined
    : { kind: "changed", problem: "the content is not what was archived (sha256)" };
}

/** A path in a package; the path of a package that is verified alone is empty. */
function below(path: string, name: string): string {
  return path === "" ? name : `${path}/${name}`;
}
