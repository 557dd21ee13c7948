import * as v from "valibot";
import { archivedFile, described } from "./payloads.ts";

const text = v.nullable(v.string());
const number = v.nullable(v.number());
const count = v.pipe(v.number(), v.integer(), v.minValue(0));

export const hold = described(
  "Why a package is kept, whatever its age. A file that somebody put into the folder by hand tells no time and no person.",
  v.object({
    heldAt: described("ISO 8601, UTC.", text),
    person: described("Who put it on hold, as given.", text),
    reason: described("As given, or the text of the file.", text),
  }),
);

export const evidencePackage = described(
  "A package that was found, as its manifest and its measurement say.",
  v.object({
    packageId: described("The package's ID in the store's database and in its manifest.", v.string()),
    location: described("The package's folder from the store's folder, with slashes.", v.string()),
    folder: described("Absolute path of the package; in a bucket its address, `s3://bucket/…`.", v.string()),
    transactionId: described("As given, or as found; null if it is not known.", text),
    transactionReference: described("As given.", text),
    customReference1: described("As given.", text),
    customReference2: described("As given.", text),
    customReference3: described("As given.", text),
    barcodeReference: described("As given.", text),
    scan: described("The text of the scanned label.", text),
    device: described("Which device measured.", text),
    deviceSerialNumber: described("Of the device, as its owner has typed it in.", text),
    deviceCertificate: described("Of the device, as its owner has typed it in.", text),
    measuredAtUtc: described("By the device's clock, as it sent the time.", text),
    archivedAtUtc: described("By this computer's clock (ISO 8601, UTC).", v.string()),
    length: described("As measured.", number),
    width: described("As measured.", number),
    height: described("As measured.", number),
    dimsUnitOfMeasure: described("Unit of length, width and height.", text),
    weight: described("As measured.", number),
    weightUnitOfMeasure: described("Unit of the weight.", text),
    legalForTrade: described(
      "What the device says of its result; null if it says nothing.",
      v.nullable(v.boolean()),
    ),
    billable: described(
      "The weight that was billed; null if the flow did not calculate one.",
      v.nullable(v.object({ weight: v.number(), unit: v.string() })),
    ),
    complete: described(
      "Whether all that was expected is there, also what the packages were to hold that this one adds to.",
      v.boolean(),
    ),
    missing: described("What was expected and is not there.", v.array(v.string())),
    supplements: described(
      "Path of the manifest of the package that this one completes, from the store's folder; null for a package of its own.",
      text,
    ),
    hold: described("Null for a package that is not on hold.", v.nullable(hold)),
    files: described("The images and videos.", v.array(archivedFile)),
    problem: described(
      "A sentence if the package is in the index, but cannot be read where it was archived, or is `changed`; null otherwise.",
      text,
    ),
    changed: described(
      "Whether the manifest or the measurement is not what was archived; a changed measurement has no values here. Only verifying the package compares its images and videos.",
      v.boolean(),
    ),
  }),
);

export const missingShape = v.object({
  reason: described(
    "`notArchived`: a webhook record that no archive node has accepted. `open`: the archive job is still running. `failed`: the archive job has ended in an error. `incomplete`: there is a package without all its media.",
    v.picklist(["notArchived", "open", "failed", "incomplete"]),
  ),
  at: described(
    "When the record arrived, the job was accepted or the package was archived (ISO 8601, UTC).",
    v.string(),
  ),
  transactionId: described("Null if it is not known.", text),
  transactionReference: described("As given.", text),
  device: described("Which device measured.", text),
  errorCode: described("Code of the error in which the job has ended.", text),
  errorMessage: described("Its sentence.", text),
  location: described("The incomplete package, from the store's folder.", text),
  archiveAgain: described(
    "The properties of the message with which archive can archive it now; null while the job is running, and if only a message with media is left: send that message again. Not in a message of its own: there they are on the message.",
    v.nullable(v.record(v.string(), v.unknown())),
  ),
});

export const missingEvidence = described(
  "A transaction or a measurement that has no complete package.",
  missingShape,
);

const finding = v.object({
  kind: described("As in docs/archive.md.", v.string()),
  path: described("From the store's folder, with slashes.", v.string()),
  problem: described("A sentence for people.", v.string()),
});

const note = v.object({
  kind: v.string(),
  path: v.string(),
  text: v.string(),
  timestamp: v.exactOptional(
    described(
      "Of a package that was verified on its own: the earliest valid time stamp that covers it; null if there is none.",
      v.nullable(
        v.object({
          atUtc: described(
            "When it was signed, by the clock of the time stamp server (ISO 8601, UTC).",
            v.string(),
          ),
          signer: described("The name in the certificate of the signer.", v.string()),
          root: described(
            "The name of the root certificate that the signer was checked against; null if none was given.",
            text,
          ),
          links: described(
            "How many manifests lead from the one that was signed to this package; 0: it is this package's own.",
            count,
          ),
        }),
      ),
    ),
  ),
});

export const verifyResult = described(
  "The result of a verification.",
  v.object({
    verdict: described(
      "`ok`: all is as it was archived. `wrong`: something is not. `unchecked`: what could be checked is, but not all could be.",
      v.picklist(["ok", "wrong", "unchecked"]),
    ),
    findings: described("What is not as it was archived; the first ones, up to the limit.", v.array(finding)),
    findingCount: described("How many there are.", count),
    unchecked: described("What could not be checked.", v.array(finding)),
    notes: described("What is not wrong, but worth knowing.", v.array(note)),
    packages: described("How many packages were checked.", count),
    files: described("How many files were checked.", count),
    bytes: described("How many bytes were checked.", count),
    incomplete: described("How many packages were archived without all their media.", count),
    expected: described("How many packages the index lists; null if that is not known.", number),
    verifiedAtUtc: described("When it ended (ISO 8601, UTC).", v.string()),
    software: described("Name and version of the package that verified.", v.string()),
  }),
);

export const pruneResult = described(
  "What was deleted because of its age or, in a dry run, would be.",
  v.object({
    before: described("Packages archived before this were old enough (ISO 8601, UTC).", v.string()),
    dryRun: described("Whether nothing was deleted.", v.boolean()),
    deleted: described("How many packages were deleted, or would be.", count),
    held: described("How many are on hold.", count),
    kept: described("How many were kept for another reason.", count),
    failed: described("How many could not be deleted.", count),
    bytes: described("Of the packages that were deleted, or would be.", count),
    leftovers: described(
      "How many folders of a bucket were removed, or would be, because they belonged to no package.",
      count,
    ),
    leftoversKept: described(
      "Why what belongs to no package was not searched for to the end; null if it was.",
      text,
    ),
    rowsRemoved: described("How many rows were removed from the index; null in a dry run.", number),
    rowsKept: described("Why rows stay in the index; null if none has to.", text),
    packages: described(
      "What happened to each package that is old enough; the first ones, up to the limit.",
      v.array(
        v.object({
          what: v.picklist(["deleted", "held", "kept", "failed", "leftover"]),
          path: described("From the store's folder, with slashes.", v.string()),
          bytes: count,
          reason: v.exactOptional(
            described("Why it was kept, or could not be deleted; what a leftover was left of.", v.string()),
          ),
        }),
      ),
    ),
  }),
);

export const timestampResult = described(
  "A time stamp of the newest manifest, after it was verified.",
  v.object({
    location: described("Its folder, from the store's folder, with slashes.", v.string()),
    atUtc: described(
      "When it was signed, by the clock of the time stamp server (ISO 8601, UTC).",
      v.string(),
    ),
    accuracyMs: described(
      "How much that time may be wrong, in milliseconds; null if the server does not say so.",
      number,
    ),
    signer: described("The name in the certificate of the signer.", v.string()),
    root: described(
      "The name of the root certificate that the signer was checked against; null if none was given.",
      text,
    ),
    serialNumber: described("The server's number of the time stamp, hexadecimal.", v.string()),
    policy: described("Under which rules the server works, as an object identifier.", v.string()),
    server: described("The address of the server.", v.string()),
    package: described("The newest package, from the store's folder, with slashes.", v.string()),
    manifestSha256: described("SHA-256 of its manifest: what was signed.", v.string()),
    archivedAtUtc: described("When that package was archived, by this computer's clock.", v.string()),
    alreadyStamped: described("Whether this time stamp was there already.", v.boolean()),
  }),
);

export const storeState = described(
  "How much work a store has left, and how much space.",
  v.object({
    openJobs: described("How many archive jobs have not ended.", count),
    oldestJobAtUtc: described(
      "When the oldest of them was accepted (ISO 8601, UTC); null if none is open.",
      text,
    ),
    oldestJobFor: described("The seconds since then; null if none is open.", v.nullable(count)),
    unhandledRecords: described("How many webhook records nobody has handled.", count),
    databaseBytes: described(
      "Size of the database's file without its log, or of its tables in PostgreSQL.",
      count,
    ),
    freeBytes: described(
      "Free on the disk of the packages; null if it does not say, and for a bucket.",
      v.nullable(count),
    ),
    totalBytes: described("Size of that disk; null if it does not say, and for a bucket.", v.nullable(count)),
  }),
);
