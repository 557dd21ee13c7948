import { join } from "node:path";
import { isDimensionerError } from "../../errors/dimensioner-error.ts";
import type { EvidencePackage } from "../../model/shapes.ts";
import { parseFields, recordLimits } from "../../model/parse-json.ts";
import { asFileError, measurementFileName, type ArchiveDisk } from "../archive-disk.ts";
import { archivedFiles } from "../packages/archived-files.ts";
import type { Measured } from "../packages/manifest.ts";
import type { IndexedPackage } from "../packages/package-index.ts";
import { openPlain } from "../packages/package-files.ts";
import { measuredOf, mostMeasurementBytes } from "../packages/measurement-fields.ts";
import { readHold } from "./hold.ts";
import { openPackage, type OpenedPackage } from "./open-package.ts";

/** Describes a package of the index, from its manifest and its measurement; the package is the truth, not the index. */
export async function describeIndexed(
  root: string,
  indexed: IndexedPackage,
  disk: ArchiveDisk,
): Promise<EvidencePackage> {
  try {
    return await describeOpened(await openPackage(root, indexed, disk), disk);
  } catch (error) {
    if (isDimensionerError(error) && error.sentence === "evidenceGone") {
      return describeGone(root, indexed, error.message);
    }
    throw asFileError(error, join(root, indexed.path), root);
  }
}

async function describeOpened(opened: OpenedPackage, disk: ArchiveDisk): Promise<EvidencePackage> {
  const { folder, location, manifest } = opened;
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
    ...(await readFigures(opened, disk)),
    legalForTrade: manifest.legalForTrade,
    billable: billable === null ? null : { weight: billable.weight, unit: billable.unit },
    complete: manifest.complete,
    missing: manifest.missing,
    supplements: supplements?.path ?? null,
    hold: await readHold(folder, disk),
    files: archivedFiles(folder, manifest),
    problem: null,
  };
}

/** The index lists it, but its folder or its manifest is gone. */
function describeGone(root: string, indexed: IndexedPackage, problem: string): EvidencePackage {
  return {
    packageId: indexed.id,
    location: indexed.path,
    folder: join(root, indexed.path),
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
  };
}

async function readFigures({ folder, manifest }: OpenedPackage, disk: ArchiveDisk): Promise<Measured> {
  return measuredOf(manifest.measurement === null ? {} : await readMeasurement(folder, disk));
}

/** The fields of measurement.json; none if it is damaged, which a verification reports. */
async function readMeasurement(
  folder: string,
  disk: ArchiveDisk,
): Promise<Readonly<Record<string, unknown>>> {
  const file = await openPlain(join(folder, measurementFileName), disk);
  if (file === undefined) {
    return {};
  }
  try {
    const { size } = await file.stat();
    const fields =
      size > mostMeasurementBytes ? null : parseFields(String(await file.readFile()), recordLimits);
    return fields ?? {};
  } catch {
    return {};
  } finally {
    await file.close();
  }
}
