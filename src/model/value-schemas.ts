import * as v from "valibot";
import { errorCodes } from "../errors/codes.ts";
import type { ErrorDetails } from "../errors/dimensioner-error.ts";
import { packageTimes } from "./archive-reports.ts";
import { terminalSchema } from "./transaction-record.ts";

// The values on messages that this package creates and never reads: with the schemas of values from the network, which lie beside
// the code that decodes them, the one source of their types, of docs/messages.md and of docs/messages.schema.json.

const text = v.nullable(v.string());
const number = v.nullable(v.number());
const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));

/** A schema with its description. */
export function described<const TSchema extends v.GenericSchema>(meaning: string, schema: TSchema) {
  return v.pipe(schema, v.description(meaning));
}

export const fleetDevice = described(
  "One device that is registered with the cloud, with the terminal that it belongs to.",
  v.object({
    id: described("Opaque text.", v.string()),
    name: described("As in the portal.", text),
    registrationCode: described("What a remote trigger takes as deviceReference.", text),
    appVersion: described("Version of the device's software.", text),
    terminal: described(
      "The terminal that the device belongs to; null if there is none, or if the cloud does not list it.",
      v.nullable(terminalSchema),
    ),
    lastHeartbeatUtc: described("When the cloud last heard of it, in UTC.", text),
    silentFor: described(
      "Seconds since then, by the cloud's clock (the Date of its answer); null if there has been no heartbeat.",
      v.nullable(v.number()),
    ),
    removed: v.exactOptional(
      described(
        "Only among what has changed: the cloud no longer lists the device, and this is the last that was known of it.",
        v.literal(true),
      ),
    ),
  }),
);

/** Only where nobody knows the format, or a film has no index. */
export const unrecognized = v.exactOptional(
  described(
    "Only where the content is of no known format, or a video without its index, which nothing can play: then it counts as neither an image nor a video.",
    v.literal(false),
  ),
);

export const savedFile = described(
  "A file that a node has saved.",
  v.object({
    path: described("Its path. The file is complete, checked and synced.", v.string()),
    bytes: described("Its length.", count),
    sha256: described("Hash of its content, in lower-case hexadecimal.", sha256),
    contentType: described("By its content, else as announced.", v.string()),
    recognized: unrecognized,
  }),
);

export const archivedFile = described(
  "One image or video of an archived package.",
  v.object({
    path: described("Absolute path in the package; in a bucket its address, `s3://bucket/…`.", v.string()),
    source: described(
      "Where it came from; null in packages of version 0.1.",
      v.nullable(v.picklist(["message", "device", "cloud"])),
    ),
    contentId: described("As in the cloud; null for what has none.", text),
    description: described("As in the cloud or on the message; of a device's image, which one it is.", text),
    contentType: described("By its content, else as announced.", text),
    recognized: unrecognized,
    bytes: described("Its length.", count),
    sha256: described("Hash of its content, in lower-case hexadecimal.", sha256),
  }),
);

export const archivedPackage = described(
  "A finished package, in a folder or a bucket.",
  v.object({
    packageId: described("The package's ID in the store's database and in its manifest.", v.string()),
    location: described("The package's folder from the store's folder, with slashes.", v.string()),
    folder: described("Absolute path of the package; in a bucket its address, `s3://bucket/…`.", v.string()),
    manifest: described("Absolute path, or address, of its manifest.json.", v.string()),
    transactionId: described(
      "As given, or as found; null for a local measurement whose transaction is not known.",
      text,
    ),
    transactionReference: described("As given.", text),
    measurement: described(
      "The size and the weight of the parcel, as measured; null without a measurement.",
      v.nullable(
        v.object({
          length: number,
          width: number,
          height: number,
          dimsUnitOfMeasure: text,
          weight: number,
          weightUnitOfMeasure: text,
        }),
      ),
    ),
    files: described(
      "The images and videos; of a package that was there before, also those of the supplements to it.",
      v.array(archivedFile),
    ),
    bytes: described("Sum of their lengths.", count),
    complete: described(
      "Whether all that was expected is there, also what the packages were to hold that this one adds to.",
      v.boolean(),
    ),
    alreadyArchived: described(
      "Whether the package was there before this message, with all that the message asks for.",
      v.boolean(),
    ),
    supplements: described(
      "Absolute path, or address, of the manifest of the package that this one completes; null for a package of its own.",
      text,
    ),
    link: described(
      "The package on the evidence page: its address, or the path on Node-RED's server if the store has no address for the page; null if there is no page.",
      text,
    ),
  }),
);

export const heldUp = described(
  "A parcel that is not archived yet. Its own message still follows.",
  v.object({
    transactionId: described("As given, or as found; null if it is not known yet.", text),
    transactionReference: described("As given.", text),
    device: described("Which device measured.", text),
    reason: described(
      "What keeps it from being archived, or what is missing.",
      v.object({
        code: described("The code of the error in which the message would end.", v.picklist(errorCodes)),
        message: described("A sentence for people.", v.string()),
      }),
    ),
    heldUpFor: described("Seconds since its message was accepted.", v.number()),
  }),
);

const at = described("When the response arrived, by this computer's clock (ISO 8601, UTC).", v.string());

export const videoStart = described(
  "A start of a recording.",
  v.object({ transactionReference: described("What it was started for.", text), at }),
);

export const videoCommand = described(
  "A video command that was executed; the payload stays as it was. After a measurement, the start of the recording that it has ended.",
  v.object({
    action: described("Which command it was.", v.picklist(["start", "stop", "cancel"])),
    at,
    transactionReference: described(
      "What the video is for: as given with the message, or with the start of the recording.",
      text,
    ),
    recording: v.exactOptional(
      described(
        "Once the recording has ended: whose it is. `own`: it was started for this reference. `overwritten`: it was, and another start has replaced it; the cloud's video of this transaction, if any, is another parcel's. `cancelled`: it was, and was cancelled. `taken`: it was, and the measurement of another parcel got it, so that this transaction has no video. `waiting`: this measurement has failed, and the next successful one gets it. `other`: it was started for another reference, and `at` and `transactionReference` are those of that start. `unknown`: this Node-RED cannot tell. Absent if this Node-RED has seen no start.",
        v.picklist(["own", "overwritten", "cancelled", "taken", "waiting", "other", "unknown"]),
      ),
    ),
    by: v.exactOptional(described("The start that replaced it, if it was overwritten.", videoStart)),
    device: v.exactOptional(
      described(
        "After a stop: the device on the local network that keeps the video.",
        v.object({
          id: described("Of its config node.", v.string()),
          name: described("As its config node has it.", v.string()),
        }),
      ),
    ),
  }),
);

export const sentReferences = described(
  "The references that were sent with a measure; all null for a device that takes none.",
  v.object({
    transactionReference: described("What it was measured for.", text),
    customReference1: described("Your own, or the tag.", text),
    customReference2: described("Your own, or the tag.", text),
    customReference3: described("Your own, or the tag.", text),
  }),
);

export const measuredBy = described(
  "Which deployed config node measured.",
  v.object({
    id: described("The config node's ID.", v.string()),
    name: described("The config node's name; its address if it has none.", v.string()),
    surface: described("Which API it uses.", v.picklist(["newer-device", "earlier-device", "cloud"])),
    deviceReference: described(
      "The device's registration code if the cloud measured; null for a device on the local network.",
      text,
    ),
    serialNumber: described(
      "The device's serial number, as typed into its config node; null if it is not set there.",
      text,
    ),
    certificate: described(
      "The number of its approval or verification for trade, as typed into its config node; null if it is not set there.",
      text,
    ),
    sentAt: described("When the measure was sent, by this computer's clock (ISO 8601, UTC).", v.string()),
    sentSteady: v.exactOptional(
      described(
        "The same by a clock that nobody sets: its record is found by it where the other clock was set since.",
        v.object({
          clock: described("What it counts from: only times with the same one can be compared.", v.string()),
          ms: described("Milliseconds since then.", v.number()),
        }),
      ),
    ),
    references: sentReferences,
    tag: described(
      "The unique ID that was put into the custom reference chosen as tag; null if none was.",
      text,
    ),
    video: v.exactOptional(
      described(
        "After a successful measurement, `video` as it was on its message then: an archive node without a cloud reads it where a flow has removed the other. Absent if there was none.",
        videoCommand,
      ),
    ),
  }),
);

export const messageParts = described(
  "Makes one list of many messages again in a Join node.",
  v.object({
    id: described("The same in all messages of one list.", v.string()),
    index: described("Counts from 0.", count),
    count: described("How many messages the list has become.", count),
    type: described("Tells Join to make an array of them.", v.literal("array")),
  }),
);

export const hold = described(
  "Why a package is kept, whatever its age. A file that somebody put into the folder by hand tells no time and no person.",
  v.object({
    heldAt: described("ISO 8601, UTC.", text),
    person: described("Who put it on hold, as given.", text),
    reason: described("As given, or the text of the file.", text),
  }),
);

export const addedNumber = described(
  "A number that was not known yet when the package was archived, such as that of a label that was bought later.",
  v.object({
    number: described("As given.", v.string()),
    addedAtUtc: described("By this computer's clock (ISO 8601, UTC).", v.string()),
    person: described("Who added it, as given.", text),
    reason: described("Why, or where it comes from, as given.", text),
  }),
);

export const clockAhead = described(
  "By how many seconds the cloud's clock is ahead of this computer's, as the Date of its answers tells it: 0 if both agree, negative if it is behind, null if it has told no time.",
  number,
);

const timesInDoubt = v.array(
  v.object({
    first: described("Which of its times comes first in a package.", v.picklist(packageTimes)),
    firstAt: described("As the package has it.", v.string()),
    second: described("Which one comes after it.", v.picklist(packageTimes)),
    secondAt: described("As the package has it.", v.string()),
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
    customReference1: described("As given; null if it is the tag.", text),
    customReference2: described("As given; null if it is the tag.", text),
    customReference3: described("As given; null if it is the tag.", text),
    barcodeReference: described("As given.", text),
    scan: described("The text of the scanned label.", text),
    numbers: described("What was added after it was archived, in this order.", v.array(addedNumber)),
    device: described("Which device measured.", text),
    operator: described("Who did the work, as `msg.operator` said it.", text),
    work: described(
      "What kind of work it was, as `msg.work` said it, and `packing` if it said nothing; null if its manifest is gone.",
      text,
    ),
    note: described("What was noted about the parcel, as `msg.note` said it.", text),
    deviceSerialNumber: described("Of the device, as its owner has typed it in.", text),
    deviceCertificate: described("Of the device, as its owner has typed it in.", text),
    measuredAtUtc: described("By the device's clock, as it sent the time.", text),
    archivedAtUtc: described("By this computer's clock (ISO 8601, UTC).", v.string()),
    timesInDoubt: described(
      "Pairs of times of the package that do not fit together, so that a clock may have been wrong; empty if all do.",
      timesInDoubt,
    ),
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
    verifiedAtUtc: described(
      "When it was last verified (ISO 8601, UTC), as the database knows it; null if it does not know.",
      text,
    ),
    damage: described(
      "The kind of what was found first then, as in docs/archive.md; null if it was as it was archived.",
      text,
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

const coveringTimestamp = v.object({
  atUtc: described("When it was signed, by the clock of the time stamp server (ISO 8601, UTC).", v.string()),
  signer: described("The name in the certificate of the signer.", v.string()),
  root: described(
    "The name of the root certificate that the signer was checked against; null if none was given.",
    text,
  ),
  logSize: described("How many lines of the store's log were signed.", count),
});

const note = v.object({
  kind: v.string(),
  path: v.string(),
  text: v.string(),
  times: v.exactOptional(described("Of a package whose times do not fit together: which.", timesInDoubt)),
  timestamp: v.exactOptional(
    described(
      "Of a package that was verified on its own: the earliest valid time stamp that covers it; null if there is none.",
      v.nullable(coveringTimestamp),
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
    logs: described(
      "What the logs that were read say; empty for an export and for single packages.",
      v.array(
        v.object({
          store: described("The ID of the store.", v.string()),
          packages: described("How many packages were archived and not deleted since.", count),
          pruned: described("How many were deleted.", count),
          held: described("How many are on hold.", count),
          covered: described("How many of the packages the newest valid time stamp covers.", count),
          uncovered: described("How many it does not cover yet.", count),
          timestamp: described(
            "That time stamp; null if there is none.",
            v.nullable(
              v.object({
                ...coveringTimestamp.entries,
                location: described("Its folder in the archive.", v.string()),
              }),
            ),
          ),
        }),
      ),
    ),
    packages: described("How many packages were checked.", count),
    files: described("How many files were checked.", count),
    bytes: described("How many bytes were checked.", count),
    incomplete: described("How many packages were archived without all their media.", count),
    expected: described("How many packages the index lists; null if that is not known.", number),
    part: described(
      "Only of a verification of a limited time: how much of the store it and those before it have verified; null otherwise.",
      v.nullable(
        v.object({
          oldestAtUtc: described(
            "When the package was verified that was not for the longest time (ISO 8601, UTC); null if none ever was.",
            text,
          ),
          never: described(
            "How many packages were never verified; of more than 10,000, 10,000 are counted.",
            count,
          ),
        }),
      ),
    ),
    verifiedAtUtc: described("When it ended (ISO 8601, UTC).", v.string()),
    software: described("Name and version of the package that verified.", v.string()),
  }),
);

export const pruneResult = described(
  "What was deleted because of its age, or because space was needed; in a dry run, what would be.",
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
    space: described(
      "What has become of a rule about space; null without one.",
      v.nullable(
        v.object({
          usedBytes: described(
            "The bytes of all packages before, as the index has them: without manifests, which have a few kB each.",
            count,
          ),
          freeBytes: described(
            "Free on the disk before; null if it does not say, and for a bucket.",
            v.nullable(count),
          ),
          missingBytes: described("How much more has to be deleted; 0 if there is enough space.", count),
          problem: described("Why there is not enough space; null if there is.", text),
          daysLeft: described(
            "If nothing had to be deleted: in how many days something has to be, at the pace of the last seven days. Null if nothing came in these.",
            v.nullable(count),
          ),
        }),
      ),
    ),
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
  "A time stamp of a store's log, after it was verified.",
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
    store: described("The ID of the store whose log was signed.", v.string()),
    logSize: described("How many lines the log had.", count),
    logRoot: described("The root of the Merkle tree over these lines (RFC 6962), in base64.", v.string()),
    packages: described("How many packages it covers that no earlier time stamp does.", count),
    alreadyStamped: described("Whether this time stamp was there already.", v.boolean()),
  }),
);

export const correction = described(
  "Another record of the same transaction came before, with another content.",
  v.object({
    transactionId: described("The ID of that record.", v.string()),
    receivedAt: described("When it was received, by this computer's clock (ISO 8601, UTC).", v.string()),
    fields: described("The names of the fields that differ, in the alphabet's order.", v.array(v.string())),
  }),
);

export const logCheckpoint = described(
  "A checkpoint of a store's log: whoever keeps it elsewhere notices each later change of what it is of.",
  v.object({
    store: described("The ID of the store.", v.string()),
    logSize: described("How many lines the log has.", count),
    logRoot: described("The root of the Merkle tree over these lines (RFC 6962), in base64.", v.string()),
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
    oldestVerificationAtUtc: described(
      "When the package was verified that was not for the longest time (ISO 8601, UTC); null if none ever was.",
      text,
    ),
    neverVerified: described(
      "How many packages were never verified; of more than 10,000, 10,000 are counted.",
      count,
    ),
    damaged: described(
      "How many were not as they were archived when they were last verified; of more than 10,000, 10,000 are counted.",
      count,
    ),
  }),
);

export const scanElement = described(
  "One element of a GS1 code, or of the message of a 2D label.",
  v.object({
    ai: described(
      "Its application identifier; null if the value does not show it. An article number from EAN, UPC and ITF-14 is 01.",
      text,
    ),
    di: v.exactOptional(
      described("Its data identifier (ANSI MH10.8.2), in the message of a 2D label.", v.string()),
    ),
    title: described("As GS1 or ANSI MH10.8 calls it; null if the identifier is not known.", text),
    value: described("Its text exactly as in the code; an article number has 14 digits.", v.string()),
    checked: described(
      "Whether it has the length, the characters and the check digit that it should; null if the identifier is not known.",
      v.nullable(v.boolean()),
    ),
    problem: v.exactOptional(
      described(
        "What is wrong, if it does not.",
        v.picklist(["length", "characters", "checkDigit", "date", "value"]),
      ),
    ),
    decoded: v.exactOptional(
      described(
        "What the value stands for, if that is not its text: a number with its decimals, or a date (YYYY-MM-DD).",
        v.union([v.number(), v.string()]),
      ),
    ),
  }),
);

export const scanCarrier = described(
  "A carrier's tracking number that the scan can be.",
  v.object({
    carrier: described("The carrier's name.", v.string()),
    service: described("The service or the kind of number.", v.string()),
    number: described(
      "The tracking number as the carrier prints it, without spaces: a code often has a routing code and more in front.",
      v.string(),
    ),
    checkDigit: described(
      "Whether the check digit is right; null if the number has none that is known.",
      v.nullable(v.boolean()),
    ),
  }),
);

export const labelDimensions = described(
  "What the label says about the parcel's size (331n to 333n, 341n to 349n).",
  v.object({
    length: described("Length; null if it is missing.", v.nullable(v.number())),
    width: described("Width; null if it is missing.", v.nullable(v.number())),
    height: described("Height; null if it is missing.", v.nullable(v.number())),
    unit: described("Meters become centimeters; feet and yards become inches.", v.picklist(["cm", "in"])),
  }),
);

export const labelWeight = described(
  "What the label says about the parcel's gross weight (330n, 340n).",
  v.object({
    weight: described("The weight.", v.number()),
    unit: described("As in the code.", v.picklist(["kg", "lb"])),
  }),
);

export const scanSeparator = described(
  "What stands in a code in place of the group separator, which the scanner or a driver has turned into something else.",
  v.object({
    found: described("The text in the code, such as | or <GS>.", v.string()),
    as: described("What it was read as: the group separator (character 29).", v.string()),
  }),
);

export const scanKeyboard = described(
  "Another keyboard layout as the only explanation of a code that is nothing by itself. Nothing is corrected: text and number are as typed.",
  v.object({
    layout: described("The computer's layout, such as QWERTZ: the first that explains it.", v.string()),
    text: described("What the scanner means, as a US keyboard would type it.", v.string()),
  }),
);

export const scan = described(
  "How a scan was read.",
  v.object({
    raw: described(
      "All that the scanner sent for it, control characters included. What a carrier's 2D label says of the addressee is left out here and in text, unless the setting asks for it.",
      v.string(),
    ),
    text: described(
      "The content of the code: without what the scanner puts around it, and with the group separator (character 29) between elements.",
      v.string(),
    ),
    number: described(
      "The tracking number as its carrier prints it, however the scanner is set; or the SSCC, or the text that is no other kind of code. Null if it has no number of a parcel.",
      text,
    ),
    symbology: described("Kind of symbol; null if the scanner does not say it.", text),
    aim: described("The AIM identifier that the scanner sent in front, such as ]C1; null without one.", text),
    separator: described(
      "What stands in place of the group separator; null if nothing had to be found out.",
      v.nullable(scanSeparator),
    ),
    elements: described(
      "Elements in their order; empty if it is neither a GS1 code nor the message of a 2D label.",
      v.array(scanElement),
    ),
    sscc: described(
      "Serial shipping container code (00); this and the next four only with a right check digit.",
      text,
    ),
    gtin: described("Article number with 14 digits (01), or that of what is inside (02).", text),
    lot: described("Batch or lot (10).", text),
    serial: described("Serial number (21).", text),
    expiry: described("Expiry (17, or 7003 with its time): YYYY-MM-DD.", text),
    labelDims: described("What the label says about the size; null if nothing.", v.nullable(labelDimensions)),
    labelWeight: described("What the label says about the weight; null if nothing.", v.nullable(labelWeight)),
    carriers: described(
      "Every carrier's tracking number that it can be, those with the right check digit first.",
      v.array(scanCarrier),
    ),
    keyboard: described(
      "The keyboard layout that alone explains the code; null if none has to.",
      v.nullable(scanKeyboard),
    ),
    duplicate: described("Always false: duplicates are dropped.", v.boolean()),
  }),
);

export const billingThreshold = described(
  "A parcel compared with a limit of a carrier, or with one from the node's settings.",
  v.object({
    name: described("What the limit is for, such as additional handling or oversize.", v.string()),
    over: described(
      "Whether the parcel is over it; exactly at a limit it is not. Null if the weight is not known.",
      v.nullable(v.boolean()),
    ),
    quantity: described(
      "What is limited. `longest`, `second`, `shortest`: a side. `girth`: the longest side plus twice the two others.",
      v.picklist(["volume", "longest", "second", "shortest", "girth", "weight"]),
    ),
    value: described(
      "The value of the parcel, from the sides as the rule rounds them; null if the weight is not known.",
      v.nullable(v.number()),
    ),
    limit: described("The limit.", v.number()),
    unit: described("Unit of limit and value, such as in³, cm or lb.", v.string()),
  }),
);

const compared = {
  label: described("What the label says.", v.number()),
  measured: described("What was measured, in the same unit.", v.number()),
  difference: described("How much more was measured than the label says.", v.number()),
  percent: described(
    "The same as a percentage of what the label says; null if that is 0.",
    v.nullable(v.number()),
  ),
};

export const weightDeviation = described(
  "The measured weight against that of the label.",
  v.object({ ...compared, unit: described("As on the label.", v.picklist(["kg", "g", "lb", "oz"])) }),
);

export const sideDeviation = described(
  "A measured side against that of the label.",
  v.object({ ...compared, unit: described("As on the label.", v.picklist(["cm", "in"])) }),
);

export const labelDeviation = described(
  "How far a measurement is from what the label of the parcel says.",
  v.object({
    weight: described("The weight; null if the label or the scale has none.", v.nullable(weightDeviation)),
    sides: described(
      "The three sides, the longest first; null if the label does not have all of them.",
      v.nullable(v.array(sideDeviation)),
    ),
  }),
);

export const billableWeight = described(
  "The weight that a carrier bills for a parcel. It is computed: the measured values stay where they are, unchanged.",
  v.object({
    weight: described("The weight to bill.", v.number()),
    unit: described(
      "Unit of all weights of this object, except in thresholds and deviation.",
      v.picklist(["kg", "lb"]),
    ),
    basis: described(
      "Which weight that is: that of the size, the actual one (also where both are rounded up to the same), or the least one that is billed.",
      v.picklist(["dimensional", "actual", "minimum"]),
    ),
    minimumFrom: described(
      "The limit that sets the least weight, where that is billed; null where the rule sets it, or another weight is billed.",
      text,
    ),
    explanation: described(
      "How it was found, such as “12 × 9 × 7 in = 756 in³, ÷ 139 = 5.44, rounded up to 6 lb”. In English with a decimal point, whatever the language of the server, so that records can be compared.",
      v.string(),
    ),
    dimensionalWeight: described(
      "The weight of the size, rounded up as the rule says; null if the volume is not above the rule's threshold.",
      v.nullable(v.number()),
    ),
    actualWeight: described(
      "The weight as it was weighed, not rounded up; null if none is used.",
      v.nullable(v.number()),
    ),
    weightFrom: described(
      "Where the actual weight comes from: the measurement, the label, or another scale. Null if none is used.",
      v.nullable(v.picklist(["measured", "label", "given"])),
    ),
    sides: described("Length, width and height as the rule rounds them, in dimsUnit.", v.array(v.number())),
    dimsUnit: described("Unit of the sides.", v.picklist(["cm", "in"])),
    volume: described("Product of the sides, in cubes of dimsUnit.", v.number()),
    divisor: described("What the volume is divided by.", v.number()),
    ruleId: described("Which rule of the table; `own` for a custom rule.", v.string()),
    ruleDate: described(
      "The day since which the rule applies (YYYY-MM-DD). Null if that day is not known, so that the rule may not have applied on the day of the measurement, and for a custom rule.",
      text,
    ),
    source: described("Where the rule was found; null for a custom rule.", text),
    ruleVerified: described(
      "False if a part of the rule was found in one secondary source only; null for a custom rule and for one of a table file.",
      v.nullable(v.boolean()),
    ),
    ruleChecked: described(
      "The day on which the rule was last compared with its source (YYYY-MM-DD); null for a custom rule.",
      text,
    ),
    over: described(
      "Whether the parcel is over any of the thresholds. Null if nothing was compared, or if it is over none of those that could be compared, and one could not be: without a weight, or where the table has the carrier's limits of later days only.",
      v.nullable(v.boolean()),
    ),
    limitsDate: described(
      "The day since which the carrier's limits apply (YYYY-MM-DD); null if the table has none for the day of the measurement.",
      text,
    ),
    thresholds: described(
      "The limits of the carrier on that day, and those of the node's settings.",
      v.array(billingThreshold),
    ),
    roundingNote: described(
      "Where the step of a measurement in another unit than the rule's may cost a whole unit of a side, and what would be billed otherwise: a sentence in English. Null where it does not.",
      text,
    ),
    note: described(
      "Where the clocks of the device and of this computer are more than a day apart and that matters, or the device's was never set: a sentence in English that says which day's rule was used, and what the other one would bill. Otherwise null.",
      text,
    ),
    deviation: described(
      "The measurement against the label; null if `msg.scan` contains neither the size nor the weight.",
      v.nullable(labelDeviation),
    ),
    legalForTrade: described(
      "Whether what is billed was measured legal for trade, as the device says. `unknown` if it is not known, and false for dimensions that were typed in.",
      v.union([v.boolean(), v.literal("unknown")]),
    ),
    computed: described("Always true: none of this is a measured value.", v.literal(true)),
  }),
);

export const errorCode = v.picklist(errorCodes);

/** The type is defined with the errors, which do not use the schema library: a difference does not compile. */
export const errorDetails = described(
  "What went wrong, for a flow to decide by.",
  v.object({
    surface: described(
      "Where it went wrong.",
      v.picklist(["newer-device", "earlier-device", "cloud", "timestamp-server", "disk", "store", "config"]),
    ),
    operation: described("What was asked for, such as “measure”, “video start” or “media list”.", v.string()),
    outcome: described(
      "What a command did; null for what only reads or saves.",
      v.nullable(v.picklist(["not-sent", "refused", "failed", "unknown"])),
    ),
    retryable: described("Whether sending the same message again is safe and may help.", v.boolean()),
    statusCode: v.exactOptional(described("The HTTP status, where there was one.", v.number())),
    errorCode: v.exactOptional(
      described(
        "The own error code of the device or the cloud: of a failed measurement, or of an answer that reports a failure.",
        v.number(),
      ),
    ),
    device: v.exactOptional(
      described(
        "The device by the name of its config node, or by its address if it has no name; through the cloud, if no config node names its registration code, by the name with which it is registered, by that code, or by the cloud's name. Absent if none was chosen, and in the library.",
        v.string(),
      ),
    ),
    hint: described("One more thing to know or to try.", v.string()),
    url: v.exactOptional(
      described("Origin and path of the request; never a query, never a token.", v.string()),
    ),
  } satisfies Record<keyof ErrorDetails, v.GenericSchema>),
) satisfies v.GenericSchema<unknown, ErrorDetails>;

export const errorObject = described(
  "What a Catch node finds on `msg.error`, beside `source`, by which Node-RED says which node failed. [errors.md](errors.md) has every code.",
  v.looseObject({
    code: errorCode,
    message: described("What happened and what to do, in the language of the Node-RED server.", v.string()),
    cause: errorDetails,
  }),
);
