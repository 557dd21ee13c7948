import { readFile } from "node:fs/promises";
import * as v from "valibot";
import { type Value, interpolate } from "../../errors/interpolation.ts";
import { phrases } from "../../errors/phrases.ts";
import { packageFile } from "../../package/package-files.ts";
import { formatBytes } from "../../rules/bytes.ts";
import type { Language } from "../../rules/languages.ts";

/**
 * The texts of the evidence report in English. The catalogs translate each under `report.<key>`, and a test checks
 * that the English one agrees with them.
 */
export const reportTexts = {
  title: "Evidence report",
  claim: "Claim number",
  caseTitle: "Evidence report: __count__ packages",

  // Since when it is shown, first of all.
  covered: "Time-stamped on __time__",
  notCovered: "No time stamp covers this package",
  notCoveredHelp:
    "Whoever can write to the archive could have changed this package since it was archived without it being noticed here. The next time stamp covers all packages before it.",

  // The result of the verification.
  isWhole: "As archived",
  isWholeHelp:
    "Every file was read and compared with its SHA-256 in the manifest, and the manifest with the log of the archive. All of them agree.",
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
  foundIndex: "The index of the archive says something else than the manifest of this package.",
  foundNotLogged: "The log of the archive does not know this package in this place.",
  foundRetention:
    "The object store does not protect __name__ from being deleted for as long as the manifest says.",
  foundTimestamp: "__name__: this time stamp is missing, or it is not valid.",
  timesInDoubt: "Its times do not fit together, so a clock may have been wrong:",
  timeRecorded: "Recorded (clock of the archive's computer)",
  timeStamped: "Time-stamped (clock of the time stamp server)",
  timeRetained: "To be kept until",
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
  pictureWithDimensions: "Picture with dimensions",
  picture: "Picture",
  depthPicture: "Depth picture",
  video: "Video",
  linked: "In a separate file:",

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
  addedNumbers: "Added later",
  operator: "Operator",
  work: "Work",
  packing: "Packing",
  return: "Return",
  inspection: "Inspection",
  note: "Note",
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

  localTimes: "Times in parentheses are in the time zone of the exporting computer.",

  // What the log says of the package since it was archived.
  later: "Since it was archived (clock of the archive's computer)",
  when: "When",
  what: "What",
  whoAndWhy: "Who and why",
  wasNamed: "Number added: __name__",
  wasHeld: "Put on hold",
  wasReleased: "Released from hold",
  wasKept: "Kept, although it was to be deleted",
  laterNotCovered: "No time stamp covers this yet.",

  // Files, and what proves them.
  files: "Files",
  file: "File",
  size: "Size",
  proof: "Proof",
  proofHelp:
    "The archive has a log. Its line for this package has the SHA-256 of the manifest. A time stamp signs one hash over all lines: none of them can be changed later without that being noticed.",
  manifestHash: "SHA-256 of manifest.json",
  logLine: "Line in the log",
  noLogLine: "none",

  timestamp: "Time stamp (the clock of its server)",
  timestampNewest: "Newest time stamp",
  timestampChecked: "signed by __name__ (root certificate: __root__)",
  timestampUnchecked: "signed by __name__ (not checked against a root certificate)",
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
    "proof/README.txt explains how to check the packages without the software that has written them. A short Python script compares each file with its manifest, each manifest with its line in the log, and each line with the time-stamped hash:",
  checkLimits:
    "This shows that nothing has changed since the time stamp. It does not show what was before it, or that the clock of the computer was right. The reports are for reading: only SHA256SUMS covers them.",
} as const;

export type ReportTextKey = keyof typeof reportTexts;

/** The texts and formats of one language. */
export interface ReportTexts {
  readonly language: Language;
  text(key: ReportTextKey, values?: Readonly<Record<string, Value>>): string;
  /** What a package lacks, which its manifest says in English; a content type, and what else is no sentence of ours, as it is. */
  missing(text: string): string;
  number(value: number): string;
  size(bytes: number): string;
}

const texts = v.optional(v.record(v.string(), v.string()), {});
const catalog = v.object({ report: texts, phrases: texts });

/** By what a manifest can say is missing: how its English text is recognized, with its values. */
const ofMissing = (
  [
    "anyImages",
    "anyMedia",
    "annotatedImage",
    "colorImage",
    "depthImage",
    "keptVideo",
    "lastPart",
    "moreMedia",
    "partsMissing",
    "perhapsUnarchivedVideo",
    "recordAfter",
    "recordBefore",
    "recordContested",
    "recordMissing",
    "recordUnknown",
    "recordsAlike",
    "recordsOther",
    "startedVideo",
    "unarchivedVideo",
    "unfindableVideo",
    "unknownTransaction",
  ] as const
).map((key) => {
  const plain = phrases[key].replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return { key, pattern: new RegExp(`^${plain.replaceAll(/__(\w+?)__/g, "(?<$1>[\\d.]{1,20})")}$`) };
});

/** Reads the texts of a language from its catalog; a text that it does not have is in English. */
export async function readReportTexts(language: Language): Promise<ReportTexts> {
  const file = packageFile(`nodes/device/locales/${language}/device.json`);
  const { report, phrases: translated } = v.parse(catalog, JSON.parse(await readFile(file, "utf8")));
  // Numbers as they were measured: rounding would change them, and a separator for thousands may look like a point.
  const numbers = new Intl.NumberFormat(language, { useGrouping: false, maximumFractionDigits: 20 });
  return {
    language,
    text: (key, values = {}) => interpolate(report[key] ?? reportTexts[key], values),
    missing(text) {
      for (const { key, pattern } of ofMissing) {
        const found = pattern.exec(text);
        if (found !== null) {
          return interpolate(translated[key] ?? phrases[key], { ...found.groups });
        }
      }
      return text;
    },
    number: (value) => numbers.format(value),
    size: (bytes) => formatBytes(bytes, language),
  };
}
