import { join } from "node:path";
import type { PackageFinding } from "../../model/archive-reports.ts";
import { parseFields, recordLimits } from "../../model/parse-json.ts";
import { holdName, manifestFileName, measurementFileName, type ReadDisk } from "../../vault/archive-disk.ts";
import type { ArchiveFiles } from "../../vault/files/archive-files.ts";
import { checkIndexed } from "../../vault/maintenance/indexed-check.ts";
import { loadManifestWithin } from "../../vault/maintenance/load-manifest-within.ts";
import type { CheckedTotals } from "../../vault/maintenance/package-check.ts";
import { filesOf, type Manifest } from "../../vault/packages/manifest.ts";
import { mostMeasurementBytes } from "../../vault/packages/measurement-fields.ts";
import { fileContent, measure, unchanged, type Content, type ExportFacts, type Measured } from "./content.ts";
import type { ExportedTimestamp, ExportedTimestamps } from "./exported-timestamps.ts";
import type { ChainedPackage } from "./neighbours.ts";
import type { ZipNames } from "./zip-names.ts";

/** A file of an exported package. */
export interface ExportedFile {
  /** In the package's folder. */
  readonly path: string;
  /** In the ZIP. */
  readonly name: string;
  readonly measured: Measured;
  /** Fails if it is no longer what was measured. */
  readonly content: Content;
  /** Whether it is what was archived, by its SHA-256. */
  readonly isWhole: boolean;
}

/** The package that was archived before or after another one, and whether it still fits to it. */
export interface Neighbour {
  /** Below the folder of packages, with slashes. */
  readonly path: string;
  readonly state: "fits" | "gone" | "other";
}

/** A package as it is exported, and what was found when it was verified. */
export interface ExportedPackage {
  readonly indexed: ChainedPackage;
  /** Null if it cannot be read. */
  readonly manifest: Manifest | null;
  /** SHA-256 of the manifest that is there. */
  readonly sha256: string | null;
  readonly findings: readonly PackageFinding[];
  /** How much was checked. */
  readonly totals: Readonly<CheckedTotals>;
  readonly files: readonly ExportedFile[];
  /** The fields of measurement.json; null if there is none, or if it is not what was archived. */
  readonly measurement: Readonly<Record<string, unknown>> | null;
  readonly before: Neighbour | null;
  readonly after: Neighbour | null;
  /** The earliest valid one that covers this package; null if there is none. */
  readonly timestamp: ExportedTimestamp | null;
}

interface Opened {
  readonly manifest: Manifest | null;
  readonly sha256: string | null;
}

/** Of a folder whose manifest cannot be read. */
const mostUnlistedFiles = 1_000;

/** Verifies a package of the index and measures its files. Throws ERR_FILE, ERR_STORE and ERR_CANCELLED. */
export async function collectPackage(
  archive: ArchiveFiles,
  indexed: ChainedPackage,
  { names, facts, timestamps }: { names: ZipNames; facts: ExportFacts; timestamps: ExportedTimestamps },
): Promise<ExportedPackage> {
  const totals: CheckedTotals = { packages: 0, files: 0, bytes: 0, incomplete: 0 };
  const findings: PackageFinding[] = [];
  for await (const finding of checkIndexed(archive, indexed, totals, facts.signal)) {
    findings.push(finding);
  }
  const { timestamp, findings: ofTimestamps } = await timestamps.find(indexed);
  findings.push(...ofTimestamps);
  const found = await loadManifestWithin(archive.root, `${indexed.path}/${manifestFileName}`, archive.disk);
  const opened: Opened = typeof found === "string" ? { manifest: null, sha256: null } : found;
  const files =
    found === "none" ? [] : await collectFiles(archive, indexed, opened, { findings, names, facts });
  return {
    indexed,
    manifest: opened.manifest,
    sha256: opened.sha256,
    findings,
    totals,
    files,
    measurement: await readMeasurement(files),
    before: await findBefore(archive, opened),
    after: await findAfter(archive, indexed, opened),
    timestamp,
  };
}

async function collectFiles(
  archive: ArchiveFiles,
  indexed: ChainedPackage,
  { manifest }: Opened,
  { findings, names, facts }: { findings: readonly PackageFinding[]; names: ZipNames; facts: ExportFacts },
): Promise<ExportedFile[]> {
  const { disk } = archive;
  const folder = join(archive.root, indexed.path);
  const listed = new Map(
    manifest === null ? [] : filesOf(manifest).map(({ path, sha256 }) => [path, sha256] as const),
  ).set(manifestFileName, indexed.sha256);
  const unreadable = new Set(
    findings
      .filter(({ kind }) => kind === "missing" || kind === "unreadable")
      .map(({ path }) => path.slice(indexed.path.length + 1)),
  );
  const paths = manifest === null ? await filesIn(folder, disk) : [...listed.keys()];
  const inZip = names.ofPackage(indexed);
  const files: ExportedFile[] = [];
  for (const path of paths.filter((one) => !unreadable.has(one)).toSorted()) {
    const content = fileContent(join(folder, path), disk, facts);
    const measured = await measure(content);
    files.push({
      path,
      name: inZip(path),
      measured,
      content: unchanged(content, measured, archive.addressOf(`${indexed.path}/${path}`), facts),
      isWhole: measured.sha256 === listed.get(path),
    });
  }
  return files;
}

/** The plain files of a folder of which no manifest says what belongs there. */
async function filesIn(folder: string, disk: ReadDisk): Promise<string[]> {
  const names: string[] = [];
  for (const name of (await disk.readdir(folder)).toSorted()) {
    if (names.length < mostUnlistedFiles && !holdName.test(name)) {
      const entry = await disk.lstat(join(folder, name));
      names.push(...(entry.isFile() ? [name] : []));
    }
  }
  return names;
}

async function readMeasurement(
  files: readonly ExportedFile[],
): Promise<Readonly<Record<string, unknown>> | null> {
  const file = files.find(({ path }) => path === measurementFileName);
  if (file === undefined || !file.isWhole || file.measured.bytes > mostMeasurementBytes) {
    return null;
  }
  const blocks: Uint8Array[] = [];
  for await (const block of file.content()) {
    blocks.push(block);
  }
  return parseFields(String(Buffer.concat(blocks)), recordLimits);
}

async function findBefore({ root, disk }: ArchiveFiles, { manifest }: Opened): Promise<Neighbour | null> {
  const previous = manifest?.previous ?? null;
  if (previous === null) {
    return null;
  }
  const found = await loadManifestWithin(root, previous.path, disk);
  const path = previous.path.replace(/\/[^/]*$/, "");
  if (typeof found === "string") {
    return { path, state: found === "none" ? "gone" : "other" };
  }
  return { path, state: found.sha256 === previous.sha256 ? "fits" : "other" };
}

async function findAfter(
  { root, disk }: ArchiveFiles,
  { next }: ChainedPackage,
  { sha256 }: Opened,
): Promise<Neighbour | null> {
  if (next === null) {
    return null;
  }
  const found = await loadManifestWithin(root, `${next}/${manifestFileName}`, disk);
  if (typeof found === "string") {
    return { path: next, state: found === "none" ? "gone" : "other" };
  }
  return { path: next, state: found.manifest.previous?.sha256 === sha256 ? "fits" : "other" };
}
