import { join } from "node:path";
import { isDimensionerError } from "../../errors/dimensioner-error.ts";
import type { EvidencePackage } from "../../model/shapes.ts";
import { parseFields, recordLimits } from "../../model/parse-json.ts";
import { asFileError, measurementFileName, type ReadDisk } from "../archive-disk.ts";
import type { ArchiveFiles } from "../files/archive-files.ts";
import { archivedFiles } from "../packages/archived-files.ts";
import type { Measured } from "../packages/manifest.ts";
import type { IndexedPackage } from "../packages/package-index.ts";
import { openPlain } from "../packages/package-files.ts";
import { measuredOf, mostMeasurementBytes } from "../packages/measurement-fields.ts";
import { readHold } from "./hold.ts";
import { openPackage, type OpenedPackage } from "./open-package.ts";

/** Describes a package of the index, from its manifest and its measurement; the package is the truth, not the index. */
export async function describeIndexed(
  files: ArchiveFiles,
  indexed: IndexedPackage,
): Promise<EvidencePackage> {
  const folder = files.addressOf(indexed.path);
  try {
    return await describeOpened(await openPackage(files, indexed), folder, files.disk);
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
  const [figures, hold] = await Promise.all([readFigures(opened, disk), readHold(opened.folder, disk)]);
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
    problem: null,
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
  };
}

async function readFigures({ folder, manifest }: OpenedPackage, disk: ReadDisk): Promise<Measured> {
  return measuredOf(manifest.measurement === null ? {} : await readMeasurement(folder, disk));
}

/** The fields of measurement.json; none if it is damaged, which a verification reports. */
async function readMeasurement(folder: string, disk: ReadDisk): Promise<Readonly<Record<string, unknown>>> {
  const file = await openPlain(join(folder, measurementFileName), disk);
  if (file === undefined) {
    return {};
  }
  try {
    const { size } = await file.stat();
    const fields =
      size > mostMeasurementBytes ? null : parseFields(String(await file.readFile()), recordLimits);
    return fields ?? {};
  } catch (error) {
    // A bucket that fails does not make it a damaged one.
    if (isDimensionerError(error)) {
      throw error;
    }
    return {};
  } finally {
    await file.close();
  }
}
