import { readFile } from "node:fs/promises";
import * as v from "valibot";
import { type Value, interpolate } from "../../errors/interpolation.ts";
import { packageFile } from "../../package/package-files.ts";
import { formatBytes } from "../../rules/bytes.ts";
import type { Language } from "../../rules/languages.ts";

/**
 * The texts of the evidence report in English. The catalogs translate each under `report.<key>`, and a test checks
 * that the English one agrees with them.
 */
export const reportTexts = {
  title: "Evidence report",
  caseTitle: "Evidence report: __count__ packages",

  // The result of the verification, first of all.
  isWhole: "As archived",
  isWholeHelp:
    "Every file was read and compared with its SHA-256 in the manifest. Nothing has changed since it was archived.",
  isWrong: "Not as archived",
  isWrongHelp: "Something has changed or is missing since it was archived:",
  isIncomplete: "Incomplete",
  isIncompleteHelp: "It was archived without everything that was expected. Missing: __list__",
  foundChanged: "__name__: the content of this file is not what was archived.",
  foundMissing: "__name__: this file is missing.",
  foundUnreadable: "__name__: this file cannot be read, and is not in this export.",
  foundStray: "__name__: this does not belong to the package, and is not in this export.",
  foundDocument: "__name__: this is not an image or a video, but a text, such as an error message.",
  foundManifest:
    "manifest.json: this is not the manifest that was archived, or it cannot be read. Nothing that this report shows about this package is proven.",
  foundPackage: "The package is missing: its folder or its manifest is gone.",
  foundPrevious: "The manifest of the package that was archived before this one has changed.",
  foundTimestamp: "__name__: this time stamp is missing, or it is not valid.",
  notShown: "Not shown, because this file is not what was archived.",

  // What was measured.
  measurement: "Measurement",
  dimensions: "Length × width × height",
  weight: "Weight",
  notMeasured: "not measured",
  billable: "Billable weight",
  billableHelp: "Calculated from the measurement, not measured.",
  legal: "Legal for trade",
  legalYes: "yes, according to the device",
  legalNo: "no, according to the device",
  legalUnknown: "not stated by the device",

  // Pictures and videos.
  media: "Pictures and videos",
  noMedia: "This package has no pictures and no videos.",
  linked: "In a separate file, because of its size:",

  // What is known about the parcel.
  parcel: "Parcel",
  transactionReference: "Reference",
  customReference1: "Custom reference 1",
  customReference2: "Custom reference 2",
  customReference3: "Custom reference 3",
  barcodeReference: "Barcode",
  scan: "Scanned label",
  transactionId: "Transaction ID",
  packageId: "Package ID",
  supplements: "Supplement to the package",
  cutOff: "(__count__ characters; all of them are in manifest.json)",
  device: "Device",
  deviceName: "Name",
  serialNumber: "Serial number",
  certificate: "Approval number",
  cloud: "Cloud",
  software: "Archived by",

  // Times, each with its clock.
  times: "Times",
  deviceLocal: "Measured (the device's clock, local time)",
  deviceUtc: "Measured (the device's clock)",
  accepted: "Received (clock of the archive's computer)",
  archived: "Archived (clock of the archive's computer)",
  verifiedAt: "Verified (clock of the exporting computer)",

  // Files, and the chain of packages.
  files: "Files",
  file: "File",
  size: "Size",
  chain: "Place in the chain",
  chainHelp:
    "Each package names the manifest of the package before it with its SHA-256. A later change of one of them is therefore visible in the next.",
  manifestHash: "SHA-256 of manifest.json",
  before: "Package before",
  after: "Package after",
  first: "none: this is the first package of its chain",
  last: "none yet: no later package names this one",
  beforeFits: "unchanged",
  afterFits: "names exactly this manifest",
  neighbourGone: "no longer in the archive",
  neighbourOther: "does not match this package",

  timestamp: "Time stamp (the clock of its server)",
  timestampChecked: "signed by __name__ (root certificate: __root__)",
  timestampUnchecked: "signed by __name__ (not checked against a root certificate)",
  timestampOwn: "It was made for the manifest.json of this package, whose SHA-256 is stated above.",
  timestampLater:
    "It was made for the manifest of a later package. Number of manifests that lead from there back to this one, each of which names the one before it: __count__. Those that are not in this export are about other parcels: ask the owner of the archive for them.",
  timestampCheck: "With OpenSSL, anyone can check it in the folder of the extracted ZIP:",
  timestampRoots:
    "__name__ has the root certificates that were trusted for this export. Whoever checks it should get them from the operator of the time stamp server.",
  timestampNoRoots:
    "roots.pem stands for a file with the root certificate of the operator of the time stamp server.",

  // What was verified, and how to do it again.
  overview: "Overview",
  package: "Package",
  result: "Result",
  verification: "Verification",
  verifiedBy: "Verified by",
  verifiedFiles: "Checked",
  verifiedFilesHelp: "files: __files__, packages: __packages__, __size__",
  check: "How anyone can check this",
  checkHelp:
    "All that is needed is a program that calculates SHA-256. Extract the ZIP, open a terminal in its folder, and run:",
  checkOneFile: "for one file",
  checkManifest:
    "The manifest.json of a package lists each of its files with its SHA-256. The SHA-256 of that manifest.json is stated above; the package that was archived next names it, too.",
  checkLimits:
    "This shows that nothing has changed since the manifest was written. It does not show that the clocks were right, or that nobody has rewritten the whole archive.",
} as const;

export type ReportTextKey = keyof typeof reportTexts;

/** The texts and formats of one language. */
export interface ReportTexts {
  readonly language: Language;
  text(key: ReportTextKey, values?: Readonly<Record<string, Value>>): string;
  number(value: number): string;
  size(bytes: number): string;
}

const catalog = v.object({ report: v.optional(v.record(v.string(), v.string()), {}) });

/** Reads the texts of a language from its catalog; a text that it does not have is in English. */
export async function readReportTexts(language: Language): Promise<ReportTexts> {
  const file = packageFile(`nodes/device/locales/${language}/device.json`);
  const { report } = v.parse(catalog, JSON.parse(await readFile(file, "utf8")));
  // Numbers as they were measured: rounding would change them, and a separator for thousands may look like a point.
  const numbers = new Intl.NumberFormat(language, { useGrouping: false, maximumFractionDigits: 20 });
  return {
    language,
    text: (key, values = {}) => interpolate(report[key] ?? reportTexts[key], values),
    number: (value) => numbers.format(value),
    size: (bytes) => formatBytes(bytes, language),
  };
}
