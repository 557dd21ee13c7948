import { join } from "node:path";
import { isDimensionerError } from "../errors/dimensioner-error.ts";
import type { EvidencePackage } from "../model/shapes.ts";
import { parseFields, recordLimits } from "../model/parse-json.ts";
import { sha256Of } from "../model/sha256.ts";
import { asFileError, measurementFileName, type ReadDisk } from "../vault/archive-disk.ts";
import type { ArchiveFiles } from "../vault/files/archive-files.ts";
import { archivedFiles } from "../vault/packages/archived-files.ts";
import type { Measured } from "../vault/packages/manifest.ts";
import type { IndexedPackage } from "../vault/packages/package-index.ts";
import { openPlain } from "../vault/packages/package-files.ts";
import { measuredOf, mostMeasurementBytes } from "../vault/packages/measurement-fields.ts";
import { readHold } from "./hold.ts";
import { openPackage, type OpenedPackage } from "./open-package.ts";

/** A package of which something is not what was archived. */
const changedTexts = {
  manifest:
    "The manifest is not the one that was archived: its SHA-256 is not that of the index. Verify the package to see what is wrong.",
  measurement: `${measurementFileName} is not what was archived: its SHA-256 is not that of the manifest. Its values are left out. Verify the package to see what is wrong.`,
} as const;

/**
 * Describes a package of the index, from its manifest and its measurement; the package is the truth, not the index. Both
 * are compared with what was archived, the images and videos are not.
 */
export async function describeIndexed(
  files: ArchiveFiles,
  indexed: IndexedPackage,
): Promise<EvidencePackage> {
  const folder = files.addressOf(indexed.path);
  try {
    const opened = await openPackage(files, indexed);
    const described = await describeOpened(opened, folder, files.disk);
    return opened.sha256 === indexed.sha256
      ? described
      : { ...described, problem: changedTexts.manifest, changed: true };
  } catch (error) {
    if (isDimensionerError(error) && error.sentence === "evidenceGone") {
      return describeGone(folder, indexed, error.message);
    }
    throw asFileError(error, folder, files.name);
  }
}

async function describeOpened(
  opened: OpenedPackage,
  folder: string,
  disk: ReadDisk,
): Promise<EvidencePackage> {
  const { location, manifest } = opened;
  const [{ figures, isChanged }, hold] = await Promise.all([
    readFigures(opened, disk),
    readHold(opened.folder, disk),
  ]);
  const { references, times, instrument, billable = null, scan = null, supplements = null } = manifest;
  return {
    packageId: manifest.job,
    location,
    folder,
    transactionId: manifest.transactionId,
    ...references,
    scan: scan?.text ?? null,
    device: manifest.device,
    deviceSerialNumber: instrument?.serialNumber ?? null,
    deviceCertificate: instrument?.certificate ?? null,
    measuredAtUtc: times.deviceUtc,
    archivedAtUtc: times.archived,
    ...figures,
    legalForTrade: manifest.legalForTrade,
    billable: billable === null ? null : { weight: billable.weight, unit: billable.unit },
    complete: manifest.complete,
    missing: manifest.missing,
    supplements: supplements?.path ?? null,
    hold,
    files: archivedFiles(folder, manifest),
    problem: isChanged ? changedTexts.measurement : null,
    changed: isChanged,
  };
}

/** The index lists it, but its folder or its manifest is gone. */
function describeGone(folder: string, indexed: IndexedPackage, problem: string): EvidencePackage {
  return {
    packageId: indexed.id,
    location: indexed.path,
    folder,
    transactionId: indexed.transactionId,
    transactionReference: indexed.transactionReference,
    customReference1: null,
    customReference2: null,
    customReference3: null,
    barcodeReference: null,
    scan: null,
    device: null,
    deviceSerialNumber: null,
    deviceCertificate: null,
    measuredAtUtc: null,
    archivedAtUtc: indexed.archivedAt,
    ...measuredOf({}),
    legalForTrade: null,
    billable: null,
    complete: indexed.complete,
    missing: [],
    supplements: null,
    hold: null,
    files: [],
    problem,
    changed: false,
  };
}

interface ReadFigures {
  readonly figures: Measured;
  /** Whether measurement.json is not what the manifest says of it, or is gone. */
  readonly isChanged: boolean;
}

async function readFigures(
  { folder, manifest: { measurement } }: OpenedPackage,
  disk: ReadDisk,
): Promise<ReadFigures> {
  const content = measurement === null ? null : await readMeasurement(folder, disk);
  const isChanged = measurement !== null && (content === null || sha256Of(content) !== measurement.sha256);
  const fields = content === null || isChanged ? {} : (parseFields(String(content), recordLimits) ?? {});
  return { figures: measuredOf(fields), isChanged };
}

/** The content of measurement.json; null if it is not there, longer than this package writes, or cannot be read. */
async function readMeasurement(folder: string, disk: ReadDisk): Promise<Buffer | null> {
  const file = await openPlain(join(folder, measurementFileName), disk);
  if (file === undefined) {
    return null;
  }
  try {
    const { size } = await file.stat();
    return size > mostMeasurementBytes ? null : await file.readFile();
  } catch (error) {
    // A bucket that fails does not make it a damaged one.
    if (isDimensionerError(error)) {
      throw error;
    }
    return null;
  } finally {
    await file.close();
  }
}
