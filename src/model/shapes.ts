// Written by tools/write-docs.ts from the schemas beside it:
// change those, not this file. Plain interfaces show those who use them fields and what they mean, and need no schema
// library to compile.

/**
 * The result of a measurement, with the same field names for every device: those of the newer generation. Values
 * are as the device sent them. A value that a device does not report is null, never 0 or an empty text. Unknown
 * fields are passed on.
 */
export interface MeasureResult {
  /**
   * Whether there is a measurement to use: errorCode is 0, there is an object, objectCount is their number, and
   * each object's errorCode is 0.
   */
  ok: boolean;
  /**
   * The dimensions and the weight as a text for people, such as “33.5 × 21 × 12.5 cm, 1.27 kg”; null unless
   * exactly one object was measured.
   */
  summary: string | null;
  /** The object's length, in dimsUnitOfMeasure; null unless exactly one object was measured. */
  length: number | null;
  /** The object's width, in dimsUnitOfMeasure; null unless exactly one object was measured. */
  width: number | null;
  /** The object's height, in dimsUnitOfMeasure; null unless exactly one object was measured. */
  height: number | null;
  /**
   * In weightUnitOfMeasure. The device reports one for all that is on the table, however many objects there are.
   */
  weight: number | null;
  /** Unit of length, width and height, such as cm or in. */
  dimsUnitOfMeasure: string | null;
  /** Unit of weight, such as kg or lb. */
  weightUnitOfMeasure: string | null;
  /**
   * Which device measured: the name of its config node, or its address if it has no name; through the cloud, if no
   * config node names its registration code, the name with which it is registered, or that code if it is not
   * known. Null if the library is used without Node-RED.
   */
  device: string | null;
  /** Which API it came from. */
  source: "newer-device" | "earlier-device" | "cloud";
  /** The serial number of the device, as typed into its config node; null if it is not set there. */
  deviceSerialNumber: string | null;
  /**
   * The number of its approval or verification for trade, as typed into its config node; null if it is not set
   * there.
   */
  deviceCertificate: string | null;
  /** For media list, fetch media and archive; null for a local measure. */
  transactionId: string | null;
  /** What the host gave with the measure. */
  transactionReference: string | null;
  /** What the host gave with the measure. */
  customReference1: string | null;
  /** What the host gave with the measure. */
  customReference2: string | null;
  /** What the host gave with the measure. */
  customReference3: string | null;
  /** For fetch image; null if there is none, as through the cloud. */
  imageIdentifier: string | null;
  /** How long the device took, in milliseconds. */
  elapsedMs: number | null;
  /** When it was measured, by the device's clock and time zone (ISO 8601 with offset). */
  dateTimeLocal: string | null;
  /** When it was measured, in UTC (ISO 8601). */
  dateTimeUtc: string | null;
  /** 0: success. Any other is the device's own number. */
  errorCode: number;
  /** A text for people. Base decisions on errorCode. */
  errorMessage: string | null;
  /** How many objects the device counts. */
  objectCount: number | null;
  /** Step of the dimensions, in their unit: 1, 0.5, 0.2. */
  measurementFidelity: number | null;
  /** Whether the device measured in its Legal for Trade mode. */
  legalForTrade: boolean | null;
  /** Often empty. */
  objectId: string | null;
  /** The objects on the table; empty if nothing was found. */
  measuredObjects: MeasuredObject[];
  [field: string]: unknown;
}

/** One object on the table. */
export interface MeasuredObject {
  /** The number by which the device tracks the object; a text if a number cannot represent it exactly. */
  trackId: number | string | null;
  /** 0: this object was measured. */
  errorCode: number | null;
  /** A text for people. Base decisions on errorCode. */
  errorMessage: string | null;
  /** Degrees by which the object is turned on the table. */
  rotationAngle: number | null;
  /** In dimsUnitOfMeasure. */
  length: number | null;
  /** In dimsUnitOfMeasure. */
  width: number | null;
  /** In dimsUnitOfMeasure. */
  height: number | null;
  [field: string]: unknown;
}

/** Which deployed config node measured. */
export interface MeasuredBy {
  /** The config node's ID. */
  id: string;
  /** The config node's name; its address if it has none. */
  name: string;
  /** Which API it uses. */
  surface: "newer-device" | "earlier-device" | "cloud";
  /** The device's registration code if the cloud measured; null for a device on the local network. */
  deviceReference: string | null;
  /** The device's serial number, as typed into its config node; null if it is not set there. */
  serialNumber: string | null;
  /**
   * The number of its approval or verification for trade, as typed into its config node; null if it is not set
   * there.
   */
  certificate: string | null;
  /** When the measure was sent, by this computer's clock (ISO 8601, UTC). */
  sentAt: string;
  /**
   * The same by a clock that nobody sets: its record is found by it where the other clock was set since.
   */
  sentSteady?: {
    /** What it counts from: only times with the same one can be compared. */
    clock: string;
    /** Milliseconds since then. */
    ms: number;
  };
  references: SentReferences;
  /** The unique ID that was put into the custom reference chosen as tag; null if none was. */
  tag: string | null;
  /**
   * After a successful measurement, `video` as it was on its message then: an archive node without a cloud reads
   * it where a flow has removed the other. Absent if there was none.
   */
  video?: {
    /** Which command it was. */
    action: "start" | "stop" | "cancel";
    /** When the response arrived, by this computer's clock (ISO 8601, UTC). */
    at: string;
    /** What the video is for: as given with the message, or with the start of the recording. */
    transactionReference: string | null;
    /**
     * Once the recording has ended: whose it is. `own`: it was started for this reference. `overwritten`: it was,
     * and another start has replaced it; the cloud's video of this transaction, if any, is another parcel's.
     * `cancelled`: it was, and was cancelled. `taken`: it was, and the measurement of another parcel got it, so that
     * this transaction has no video. `waiting`: this measurement has failed, and the next successful one gets it.
     * `other`: it was started for another reference, and `at` and `transactionReference` are those of that start.
     * `unknown`: this Node-RED cannot tell. Absent if this Node-RED has seen no start.
     */
    recording?: "own" | "overwritten" | "cancelled" | "taken" | "waiting" | "other" | "unknown";
    /** The start that replaced it, if it was overwritten. */
    by?: {
      /** What it was started for. */
      transactionReference: string | null;
      /** When the response arrived, by this computer's clock (ISO 8601, UTC). */
      at: string;
    };
    /** After a stop: the device on the local network that keeps the video. */
    device?: {
      /** Of its config node. */
      id: string;
      /** As its config node has it. */
      name: string;
    };
  };
}

/** The references that were sent with a measure; all null for a device that takes none. */
export interface SentReferences {
  /** What it was measured for. */
  transactionReference: string | null;
  /** Your own, or the tag. */
  customReference1: string | null;
  /** Your own, or the tag. */
  customReference2: string | null;
  /** Your own, or the tag. */
  customReference3: string | null;
}

/**
 * A video command that was executed; the payload stays as it was. After a measurement, the start of the
 * recording that it has ended.
 */
export interface VideoCommand {
  /** Which command it was. */
  action: "start" | "stop" | "cancel";
  /** When the response arrived, by this computer's clock (ISO 8601, UTC). */
  at: string;
  /** What the video is for: as given with the message, or with the start of the recording. */
  transactionReference: string | null;
  /**
   * Once the recording has ended: whose it is. `own`: it was started for this reference. `overwritten`: it was,
   * and another start has replaced it; the cloud's video of this transaction, if any, is another parcel's.
   * `cancelled`: it was, and was cancelled. `taken`: it was, and the measurement of another parcel got it, so that
   * this transaction has no video. `waiting`: this measurement has failed, and the next successful one gets it.
   * `other`: it was started for another reference, and `at` and `transactionReference` are those of that start.
   * `unknown`: this Node-RED cannot tell. Absent if this Node-RED has seen no start.
   */
  recording?: "own" | "overwritten" | "cancelled" | "taken" | "waiting" | "other" | "unknown";
  /** The start that replaced it, if it was overwritten. */
  by?: {
    /** What it was started for. */
    transactionReference: string | null;
    /** When the response arrived, by this computer's clock (ISO 8601, UTC). */
    at: string;
  };
  /** After a stop: the device on the local network that keeps the video. */
  device?: {
    /** Of its config node. */
    id: string;
    /** As its config node has it. */
    name: string;
  };
}

/** A start of a recording. */
export interface VideoStart {
  /** What it was started for. */
  transactionReference: string | null;
  /** When the response arrived, by this computer's clock (ISO 8601, UTC). */
  at: string;
}

/** A file that a node has saved. */
export interface SavedFile {
  /** Its path. The file is complete, checked and synced. */
  path: string;
  /** Its length. */
  bytes: number;
  /** Hash of its content, in lower-case hexadecimal. */
  sha256: string;
  /** By its content, else as announced. */
  contentType: string;
  /**
   * Only where the content is of no known format, or a video without its index, which nothing can play: then it
   * counts as neither an image nor a video.
   */
  recognized?: false;
}

/** One image or video of a transaction in the cloud. */
export interface MediaItem {
  /** For fetch media. */
  contentId: string;
  /** MIME type; trust this one, not the description. */
  contentType: string | null;
  /** What it shows, such as AnnotatedColorImageJpeg. */
  description: string | null;
  [field: string]: unknown;
}

/**
 * One measurement as the cloud's webhook reports it. Both versions of the cloud's record are converted to this
 * shape: v1 with an integer ID, v2 with a GUID and the integer as legacyId. A value that a version does not have
 * is null. Unknown fields are passed on.
 */
export interface TransactionRecord {
  /** Whether errorCode is 0. */
  ok: boolean;
  /** Always webhook. */
  source: "webhook";
  /** For media list, fetch media and archive; opaque text. */
  transactionId: string;
  /** The integer beside a GUID (version 2 of the record), as text. */
  legacyId: string | null;
  /** ID of the device in the cloud, as device list has it. */
  deviceClientId: string | null;
  /** 0: success. Any other is the device's own number; null if the record has none. */
  errorCode: number | null;
  /** A text for people. Base decisions on errorCode. */
  errorMessage: string | null;
  /** When it was measured, in UTC (ISO 8601). */
  dateTimeUtc: string | null;
  /** How long the device took, in milliseconds. */
  elapsedMs: number | null;
  /** Whether somebody typed the dimensions in. */
  isManualDimension: boolean | null;
  /** Unit of length, width and height, such as cm or in. */
  dimsUnitOfMeasure: string | null;
  /** Unit of weight, such as kg or lb. */
  weightUnitOfMeasure: string | null;
  /** Step of the dimensions, in their unit. */
  measurementFidelity: number | null;
  /** Degrees by which the parcel was turned. */
  rotationAngle: number | null;
  /** In dimsUnitOfMeasure. */
  length: number | null;
  /** In dimsUnitOfMeasure. */
  width: number | null;
  /** In dimsUnitOfMeasure. */
  height: number | null;
  /** In weightUnitOfMeasure. */
  weight: number | null;
  /** Serial number of the camera. */
  cameraSerialId: string | null;
  /** The barcode that was scanned at the device; also known as primary reference. */
  barcodeReference: string | null;
  /** What the host gave with the measure. */
  customReference1: string | null;
  /** What the host gave with the measure. */
  customReference2: string | null;
  /** What the host gave with the measure. */
  customReference3: string | null;
  /** What the host gave with the measure. */
  transactionReference: string | null;
  /**
   * The name of the config node that names its deviceClientId, or else the name with which it is registered with a
   * deployed cloud; null if neither is known.
   */
  device: string | null;
  /**
   * The serial number of the device, as typed into the config node that names its deviceClientId; null if there is
   * none.
   */
  deviceSerialNumber: string | null;
  /** The number of its approval or verification for trade, from the same config node. */
  deviceCertificate: string | null;
  /** What was posted in the fields that are null because it cannot be used. */
  unreadable?: {
    [field: string]: unknown;
  };
  [field: string]: unknown;
}

/** One device that is registered with the cloud, with the terminal that it belongs to. */
export interface FleetDevice {
  /** Opaque text. */
  id: string;
  /** As in the portal. */
  name: string | null;
  /** What a remote trigger takes as deviceReference. */
  registrationCode: string | null;
  /** Version of the device's software. */
  appVersion: string | null;
  /** The terminal that the device belongs to; null if there is none, or if the cloud does not list it. */
  terminal: Terminal | null;
  /** When the cloud last heard of it, in UTC. */
  lastHeartbeatUtc: string | null;
  /**
   * Seconds since then, by the cloud's clock (the Date of its answer); null if there has been no heartbeat.
   */
  silentFor: number | null;
  /**
   * Only among what has changed: the cloud no longer lists the device, and this is the last that was known of it.
   */
  removed?: true;
}

/** A grouping of devices, such as a site. */
export interface Terminal {
  /** Opaque text. */
  id: string;
  /** As in the portal. */
  name: string | null;
  /** As in the portal. */
  reference: string | null;
  /** As in the portal. */
  addressLine1: string | null;
  /** As in the portal. */
  addressLine2: string | null;
  /** As in the portal. */
  city: string | null;
  /** As in the portal. */
  provinceState: string | null;
  /** As in the portal. */
  country: string | null;
  /** As in the portal. */
  zipPostalCode: string | null;
  [field: string]: unknown;
}

/** A finished package, in a folder or a bucket. */
export interface ArchivedPackage {
  /** The package's ID in the store's database and in its manifest. */
  packageId: string;
  /** The package's folder from the store's folder, with slashes. */
  location: string;
  /** Absolute path of the package; in a bucket its address, `s3://bucket/…`. */
  folder: string;
  /** Absolute path, or address, of its manifest.json. */
  manifest: string;
  /** As given, or as found; null for a local measurement whose transaction is not known. */
  transactionId: string | null;
  /** As given. */
  transactionReference: string | null;
  /** The size and the weight of the parcel, as measured; null without a measurement. */
  measurement: {
    length: number | null;
    width: number | null;
    height: number | null;
    dimsUnitOfMeasure: string | null;
    weight: number | null;
    weightUnitOfMeasure: string | null;
  } | null;
  /** The images and videos; of a package that was there before, also those of the supplements to it. */
  files: ArchivedFile[];
  /** Sum of their lengths. */
  bytes: number;
  /** Whether all that was expected is there, also what the packages were to hold that this one adds to. */
  complete: boolean;
  /** Whether the package was there before this message, with all that the message asks for. */
  alreadyArchived: boolean;
  /**
   * Absolute path, or address, of the manifest of the package that this one completes; null for a package of its
   * own.
   */
  supplements: string | null;
  /**
   * The package on the evidence page: its address, or the path on Node-RED's server if the store has no address
   * for the page; null if there is no page.
   */
  link: string | null;
}

/** One image or video of an archived package. */
export interface ArchivedFile {
  /** Absolute path in the package; in a bucket its address, `s3://bucket/…`. */
  path: string;
  /** Where it came from; null in packages of version 0.1. */
  source: "message" | "device" | "cloud" | null;
  /** As in the cloud; null for what has none. */
  contentId: string | null;
  /** As in the cloud or on the message; of a device's image, which one it is. */
  description: string | null;
  /** By its content, else as announced. */
  contentType: string | null;
  /**
   * Only where the content is of no known format, or a video without its index, which nothing can play: then it
   * counts as neither an image nor a video.
   */
  recognized?: false;
  /** Its length. */
  bytes: number;
  /** Hash of its content, in lower-case hexadecimal. */
  sha256: string;
}

/** A parcel that is not archived yet. Its own message still follows. */
export interface HeldUp {
  /** As given, or as found; null if it is not known yet. */
  transactionId: string | null;
  /** As given. */
  transactionReference: string | null;
  /** Which device measured. */
  device: string | null;
  /** What keeps it from being archived, or what is missing. */
  reason: {
    /** The code of the error in which the message would end. */
    code:
      | "ERR_CONFIG"
      | "ERR_INPUT"
      | "ERR_UNREACHABLE"
      | "ERR_TIMEOUT"
      | "ERR_CONNECTION_LOST"
      | "ERR_UNAUTHORIZED"
      | "ERR_WRONG_MODE"
      | "ERR_BAD_DEVICE_REFERENCE"
      | "ERR_DEVICE_TIMEOUT"
      | "ERR_NO_VIDEO"
      | "ERR_NOT_FOUND"
      | "ERR_HTTP"
      | "ERR_BAD_RESPONSE"
      | "ERR_TOO_LARGE"
      | "ERR_MEASURE_FAILED"
      | "ERR_MEDIA_INCOMPLETE"
      | "ERR_QUEUE_FULL"
      | "ERR_EXPIRED"
      | "ERR_CANCELLED"
      | "ERR_FILE"
      | "ERR_STORE"
      | "ERR_NOT_BILLABLE";
    /** A sentence for people. */
    message: string;
  };
  /** Seconds since its message was accepted. */
  heldUpFor: number;
}

/** A package that was found, as its manifest and its measurement say. */
export interface EvidencePackage {
  /** The package's ID in the store's database and in its manifest. */
  packageId: string;
  /** The package's folder from the store's folder, with slashes. */
  location: string;
  /** Absolute path of the package; in a bucket its address, `s3://bucket/…`. */
  folder: string;
  /** As given, or as found; null if it is not known. */
  transactionId: string | null;
  /** As given. */
  transactionReference: string | null;
  /** As given; null if it is the tag. */
  customReference1: string | null;
  /** As given; null if it is the tag. */
  customReference2: string | null;
  /** As given; null if it is the tag. */
  customReference3: string | null;
  /** As given. */
  barcodeReference: string | null;
  /** The text of the scanned label. */
  scan: string | null;
  /** What was added after it was archived, in this order. */
  numbers: AddedNumber[];
  /** Which device measured. */
  device: string | null;
  /** Who did the work, as `msg.operator` said it. */
  operator: string | null;
  /**
   * What kind of work it was, as `msg.work` said it, and `packing` if it said nothing; null if its manifest is
   * gone.
   */
  work: string | null;
  /** What was noted about the parcel, as `msg.note` said it. */
  note: string | null;
  /** Of the device, as its owner has typed it in. */
  deviceSerialNumber: string | null;
  /** Of the device, as its owner has typed it in. */
  deviceCertificate: string | null;
  /** By the device's clock, as it sent the time. */
  measuredAtUtc: string | null;
  /** By this computer's clock (ISO 8601, UTC). */
  archivedAtUtc: string;
  /**
   * Pairs of times of the package that do not fit together, so that a clock may have been wrong; empty if all do.
   */
  timesInDoubt: {
    /** Which of its times comes first in a package. */
    first:
      | "accepted"
      | "archived"
      | "logged"
      | "measured"
      | "measuredLocal"
      | "recorded"
      | "retained"
      | "stamped";
    /** As the package has it. */
    firstAt: string;
    /** Which one comes after it. */
    second:
      | "accepted"
      | "archived"
      | "logged"
      | "measured"
      | "measuredLocal"
      | "recorded"
      | "retained"
      | "stamped";
    /** As the package has it. */
    secondAt: string;
  }[];
  /** As measured. */
  length: number | null;
  /** As measured. */
  width: number | null;
  /** As measured. */
  height: number | null;
  /** Unit of length, width and height. */
  dimsUnitOfMeasure: string | null;
  /** As measured. */
  weight: number | null;
  /** Unit of the weight. */
  weightUnitOfMeasure: string | null;
  /** What the device says of its result; null if it says nothing. */
  legalForTrade: boolean | null;
  /** The weight that was billed; null if the flow did not calculate one. */
  billable: {
    weight: number;
    unit: string;
  } | null;
  /** Whether all that was expected is there, also what the packages were to hold that this one adds to. */
  complete: boolean;
  /** What was expected and is not there. */
  missing: string[];
  /**
   * Path of the manifest of the package that this one completes, from the store's folder; null for a package of
   * its own.
   */
  supplements: string | null;
  /** Null for a package that is not on hold. */
  hold: Hold | null;
  /** The images and videos. */
  files: ArchivedFile[];
  /**
   * A sentence if the package is in the index, but cannot be read where it was archived, or is `changed`; null
   * otherwise.
   */
  problem: string | null;
  /**
   * Whether the manifest or the measurement is not what was archived; a changed measurement has no values here.
   * Only verifying the package compares its images and videos.
   */
  changed: boolean;
  /** When it was last verified (ISO 8601, UTC), as the database knows it; null if it does not know. */
  verifiedAtUtc: string | null;
  /** The kind of what was found first then, as in docs/archive.md; null if it was as it was archived. */
  damage: string | null;
}

/**
 * Why a package is kept, whatever its age. A file that somebody put into the folder by hand tells no time and no
 * person.
 */
export interface Hold {
  /** ISO 8601, UTC. */
  heldAt: string | null;
  /** Who put it on hold, as given. */
  person: string | null;
  /** As given, or the text of the file. */
  reason: string | null;
}

/**
 * A number that was not known yet when the package was archived, such as that of a label that was bought later.
 */
export interface AddedNumber {
  /** As given. */
  number: string;
  /** By this computer's clock (ISO 8601, UTC). */
  addedAtUtc: string;
  /** Who added it, as given. */
  person: string | null;
  /** Why, or where it comes from, as given. */
  reason: string | null;
}

/** A transaction or a measurement that has no complete package. */
export interface MissingEvidence {
  /**
   * `notArchived`: a webhook record that no archive node has accepted. `open`: the archive job is still running.
   * `failed`: the archive job has ended in an error. `incomplete`: there is a package without all its media.
   */
  reason: "notArchived" | "open" | "failed" | "incomplete";
  /** When the record arrived, the job was accepted or the package was archived (ISO 8601, UTC). */
  at: string;
  /** Null if it is not known. */
  transactionId: string | null;
  /** As given. */
  transactionReference: string | null;
  /** Which device measured. */
  device: string | null;
  /** Code of the error in which the job has ended. */
  errorCode: string | null;
  /** Its sentence. */
  errorMessage: string | null;
  /** The incomplete package, from the store's folder. */
  location: string | null;
  /**
   * The properties of the message with which archive can archive it now; null while the job is running, and if
   * only a message with media is left: send that message again. Not in a message of its own: there they are on the
   * message.
   */
  archiveAgain: {} | null;
}

/** The result of a verification. */
export interface VerifyResult {
  /**
   * `ok`: all is as it was archived. `wrong`: something is not. `unchecked`: what could be checked is, but not all
   * could be.
   */
  verdict: "ok" | "wrong" | "unchecked";
  /** What is not as it was archived; the first ones, up to the limit. */
  findings: {
    /** As in docs/archive.md. */
    kind: string;
    /** From the store's folder, with slashes. */
    path: string;
    /** A sentence for people. */
    problem: string;
  }[];
  /** How many there are. */
  findingCount: number;
  /** What could not be checked. */
  unchecked: {
    /** As in docs/archive.md. */
    kind: string;
    /** From the store's folder, with slashes. */
    path: string;
    /** A sentence for people. */
    problem: string;
  }[];
  /** What is not wrong, but worth knowing. */
  notes: {
    kind: string;
    path: string;
    text: string;
    /** Of a package whose times do not fit together: which. */
    times?: {
      /** Which of its times comes first in a package. */
      first:
        | "accepted"
        | "archived"
        | "logged"
        | "measured"
        | "measuredLocal"
        | "recorded"
        | "retained"
        | "stamped";
      /** As the package has it. */
      firstAt: string;
      /** Which one comes after it. */
      second:
        | "accepted"
        | "archived"
        | "logged"
        | "measured"
        | "measuredLocal"
        | "recorded"
        | "retained"
        | "stamped";
      /** As the package has it. */
      secondAt: string;
    }[];
    /**
     * Of a package that was verified on its own: the earliest valid time stamp that covers it; null if there is
     * none.
     */
    timestamp?: {
      /** When it was signed, by the clock of the time stamp server (ISO 8601, UTC). */
      atUtc: string;
      /** The name in the certificate of the signer. */
      signer: string;
      /** The name of the root certificate that the signer was checked against; null if none was given. */
      root: string | null;
      /** How many lines of the store's log were signed. */
      logSize: number;
    } | null;
  }[];
  /** What the logs that were read say; empty for an export and for single packages. */
  logs: {
    /** The ID of the store. */
    store: string;
    /** How many packages were archived and not deleted since. */
    packages: number;
    /** How many were deleted. */
    pruned: number;
    /** How many are on hold. */
    held: number;
    /** How many of the packages the newest valid time stamp covers. */
    covered: number;
    /** How many it does not cover yet. */
    uncovered: number;
    /** That time stamp; null if there is none. */
    timestamp: {
      /** When it was signed, by the clock of the time stamp server (ISO 8601, UTC). */
      atUtc: string;
      /** The name in the certificate of the signer. */
      signer: string;
      /** The name of the root certificate that the signer was checked against; null if none was given. */
      root: string | null;
      /** How many lines of the store's log were signed. */
      logSize: number;
      /** Its folder in the archive. */
      location: string;
    } | null;
  }[];
  /** How many packages were checked. */
  packages: number;
  /** How many files were checked. */
  files: number;
  /** How many bytes were checked. */
  bytes: number;
  /** How many packages were archived without all their media. */
  incomplete: number;
  /** How many packages the index lists; null if that is not known. */
  expected: number | null;
  /**
   * Only of a verification of a limited time: how much of the store it and those before it have verified; null
   * otherwise.
   */
  part: {
    /**
     * When the package was verified that was not for the longest time (ISO 8601, UTC); null if none ever was.
     */
    oldestAtUtc: string | null;
    /** How many packages were never verified; of more than 10,000, 10,000 are counted. */
    never: number;
  } | null;
  /** When it ended (ISO 8601, UTC). */
  verifiedAtUtc: string;
  /** Name and version of the package that verified. */
  software: string;
}

/** What was deleted because of its age, or because space was needed; in a dry run, what would be. */
export interface PruneResult {
  /** Packages archived before this were old enough (ISO 8601, UTC). */
  before: string;
  /** Whether nothing was deleted. */
  dryRun: boolean;
  /** How many packages were deleted, or would be. */
  deleted: number;
  /** How many are on hold. */
  held: number;
  /** How many were kept for another reason. */
  kept: number;
  /** How many could not be deleted. */
  failed: number;
  /** Of the packages that were deleted, or would be. */
  bytes: number;
  /** How many folders of a bucket were removed, or would be, because they belonged to no package. */
  leftovers: number;
  /** Why what belongs to no package was not searched for to the end; null if it was. */
  leftoversKept: string | null;
  /** What has become of a rule about space; null without one. */
  space: {
    /**
     * The bytes of all packages before, as the index has them: without manifests, which have a few kB each.
     */
    usedBytes: number;
    /** Free on the disk before; null if it does not say, and for a bucket. */
    freeBytes: number | null;
    /** How much more has to be deleted; 0 if there is enough space. */
    missingBytes: number;
    /** Why there is not enough space; null if there is. */
    problem: string | null;
    /**
     * If nothing had to be deleted: in how many days something has to be, at the pace of the last seven days. Null
     * if nothing came in these.
     */
    daysLeft: number | null;
  } | null;
  /** What happened to each package that is old enough; the first ones, up to the limit. */
  packages: {
    what: "deleted" | "held" | "kept" | "failed" | "leftover";
    /** From the store's folder, with slashes. */
    path: string;
    bytes: number;
    /** Why it was kept, or could not be deleted; what a leftover was left of. */
    reason?: string;
  }[];
}

/** A time stamp of a store's log, after it was verified. */
export interface TimestampResult {
  /** Its folder, from the store's folder, with slashes. */
  location: string;
  /** When it was signed, by the clock of the time stamp server (ISO 8601, UTC). */
  atUtc: string;
  /** How much that time may be wrong, in milliseconds; null if the server does not say so. */
  accuracyMs: number | null;
  /** The name in the certificate of the signer. */
  signer: string;
  /** The name of the root certificate that the signer was checked against; null if none was given. */
  root: string | null;
  /** The server's number of the time stamp, hexadecimal. */
  serialNumber: string;
  /** Under which rules the server works, as an object identifier. */
  policy: string;
  /** The address of the server. */
  server: string;
  /** The ID of the store whose log was signed. */
  store: string;
  /** How many lines the log had. */
  logSize: number;
  /** The root of the Merkle tree over these lines (RFC 6962), in base64. */
  logRoot: string;
  /** How many packages it covers that no earlier time stamp does. */
  packages: number;
  /** Whether this time stamp was there already. */
  alreadyStamped: boolean;
}

/** Another record of the same transaction came before, with another content. */
export interface Correction {
  /** The ID of that record. */
  transactionId: string;
  /** When it was received, by this computer's clock (ISO 8601, UTC). */
  receivedAt: string;
  /** The names of the fields that differ, in the alphabet's order. */
  fields: string[];
}

/**
 * A checkpoint of a store's log: whoever keeps it elsewhere notices each later change of what it is of.
 */
export interface LogCheckpoint {
  /** The ID of the store. */
  store: string;
  /** How many lines the log has. */
  logSize: number;
  /** The root of the Merkle tree over these lines (RFC 6962), in base64. */
  logRoot: string;
}

/** How much work a store has left, and how much space. */
export interface StoreState {
  /** How many archive jobs have not ended. */
  openJobs: number;
  /** When the oldest of them was accepted (ISO 8601, UTC); null if none is open. */
  oldestJobAtUtc: string | null;
  /** The seconds since then; null if none is open. */
  oldestJobFor: number | null;
  /** How many webhook records nobody has handled. */
  unhandledRecords: number;
  /** Size of the database's file without its log, or of its tables in PostgreSQL. */
  databaseBytes: number;
  /** Free on the disk of the packages; null if it does not say, and for a bucket. */
  freeBytes: number | null;
  /** Size of that disk; null if it does not say, and for a bucket. */
  totalBytes: number | null;
  /**
   * When the package was verified that was not for the longest time (ISO 8601, UTC); null if none ever was.
   */
  oldestVerificationAtUtc: string | null;
  /** How many packages were never verified; of more than 10,000, 10,000 are counted. */
  neverVerified: number;
  /**
   * How many were not as they were archived when they were last verified; of more than 10,000, 10,000 are counted.
   */
  damaged: number;
}

/** Makes one list of many messages again in a Join node. */
export interface MessageParts {
  /** The same in all messages of one list. */
  id: string;
  /** Counts from 0. */
  index: number;
  /** How many messages the list has become. */
  count: number;
  /** Tells Join to make an array of them. */
  type: "array";
}

/** How a scan was read. */
export interface Scan {
  /**
   * All that the scanner sent for it, control characters included. What a carrier's 2D label says of the addressee
   * is left out here and in text, unless the setting asks for it.
   */
  raw: string;
  /**
   * The content of the code: without what the scanner puts around it, and with the group separator (character 29)
   * between elements.
   */
  text: string;
  /**
   * The tracking number as its carrier prints it, however the scanner is set; or the SSCC, or the text that is no
   * other kind of code. Null if it has no number of a parcel.
   */
  number: string | null;
  /** Kind of symbol; null if the scanner does not say it. */
  symbology: string | null;
  /** The AIM identifier that the scanner sent in front, such as ]C1; null without one. */
  aim: string | null;
  /** What stands in place of the group separator; null if nothing had to be found out. */
  separator: ScanSeparator | null;
  /** Elements in their order; empty if it is neither a GS1 code nor the message of a 2D label. */
  elements: ScanElement[];
  /** Serial shipping container code (00); this and the next four only with a right check digit. */
  sscc: string | null;
  /** Article number with 14 digits (01), or that of what is inside (02). */
  gtin: string | null;
  /** Batch or lot (10). */
  lot: string | null;
  /** Serial number (21). */
  serial: string | null;
  /** Expiry (17, or 7003 with its time): YYYY-MM-DD. */
  expiry: string | null;
  /** What the label says about the size; null if nothing. */
  labelDims: LabelDimensions | null;
  /** What the label says about the weight; null if nothing. */
  labelWeight: LabelWeight | null;
  /** Every carrier's tracking number that it can be, those with the right check digit first. */
  carriers: ScanCarrier[];
  /** The keyboard layout that alone explains the code; null if none has to. */
  keyboard: ScanKeyboard | null;
  /** Always false: duplicates are dropped. */
  duplicate: boolean;
}

/** One element of a GS1 code, or of the message of a 2D label. */
export interface ScanElement {
  /**
   * Its application identifier; null if the value does not show it. An article number from EAN, UPC and ITF-14 is
   * 01.
   */
  ai: string | null;
  /** Its data identifier (ANSI MH10.8.2), in the message of a 2D label. */
  di?: string;
  /** As GS1 or ANSI MH10.8 calls it; null if the identifier is not known. */
  title: string | null;
  /** Its text exactly as in the code; an article number has 14 digits. */
  value: string;
  /**
   * Whether it has the length, the characters and the check digit that it should; null if the identifier is not
   * known.
   */
  checked: boolean | null;
  /** What is wrong, if it does not. */
  problem?: "length" | "characters" | "checkDigit" | "date" | "value";
  /**
   * What the value stands for, if that is not its text: a number with its decimals, or a date (YYYY-MM-DD).
   */
  decoded?: number | string;
}

/** A carrier's tracking number that the scan can be. */
export interface ScanCarrier {
  /** The carrier's name. */
  carrier: string;
  /** The service or the kind of number. */
  service: string;
  /**
   * The tracking number as the carrier prints it, without spaces: a code often has a routing code and more in
   * front.
   */
  number: string;
  /** Whether the check digit is right; null if the number has none that is known. */
  checkDigit: boolean | null;
}

/**
 * What stands in a code in place of the group separator, which the scanner or a driver has turned into something
 * else.
 */
export interface ScanSeparator {
  /** The text in the code, such as | or <GS>. */
  found: string;
  /** What it was read as: the group separator (character 29). */
  as: string;
}

/**
 * Another keyboard layout as the only explanation of a code that is nothing by itself. Nothing is corrected:
 * text and number are as typed.
 */
export interface ScanKeyboard {
  /** The computer's layout, such as QWERTZ: the first that explains it. */
  layout: string;
  /** What the scanner means, as a US keyboard would type it. */
  text: string;
}

/** What the label says about the parcel's size (331n to 333n, 341n to 349n). */
export interface LabelDimensions {
  /** Length; null if it is missing. */
  length: number | null;
  /** Width; null if it is missing. */
  width: number | null;
  /** Height; null if it is missing. */
  height: number | null;
  /** Meters become centimeters; feet and yards become inches. */
  unit: "cm" | "in";
}

/** What the label says about the parcel's gross weight (330n, 340n). */
export interface LabelWeight {
  /** The weight. */
  weight: number;
  /** As in the code. */
  unit: "kg" | "lb";
}

/**
 * The weight that a carrier bills for a parcel. It is computed: the measured values stay where they are,
 * unchanged.
 */
export interface BillableWeight {
  /** The weight to bill. */
  weight: number;
  /** Unit of all weights of this object, except in thresholds and deviation. */
  unit: "kg" | "lb";
  /**
   * Which weight that is: that of the size, the actual one (also where both are rounded up to the same), or the
   * least one that is billed.
   */
  basis: "dimensional" | "actual" | "minimum";
  /**
   * The limit that sets the least weight, where that is billed; null where the rule sets it, or another weight is
   * billed.
   */
  minimumFrom: string | null;
  /**
   * How it was found, such as “12 × 9 × 7 in = 756 in³, ÷ 139 = 5.44, rounded up to 6 lb”. In English with a
   * decimal point, whatever the language of the server, so that records can be compared.
   */
  explanation: string;
  /**
   * The weight of the size, rounded up as the rule says; null if the volume is not above the rule's threshold.
   */
  dimensionalWeight: number | null;
  /** The weight as it was weighed, not rounded up; null if none is used. */
  actualWeight: number | null;
  /**
   * Where the actual weight comes from: the measurement, the label, or another scale. Null if none is used.
   */
  weightFrom: "measured" | "label" | "given" | null;
  /** Length, width and height as the rule rounds them, in dimsUnit. */
  sides: number[];
  /** Unit of the sides. */
  dimsUnit: "cm" | "in";
  /** Product of the sides, in cubes of dimsUnit. */
  volume: number;
  /** What the volume is divided by. */
  divisor: number;
  /** Which rule of the table; `own` for a custom rule. */
  ruleId: string;
  /**
   * The day since which the rule applies (YYYY-MM-DD). Null if that day is not known, so that the rule may not
   * have applied on the day of the measurement, and for a custom rule.
   */
  ruleDate: string | null;
  /** Where the rule was found; null for a custom rule. */
  source: string | null;
  /**
   * False if a part of the rule was found in one secondary source only; null for a custom rule and for one of a
   * table file.
   */
  ruleVerified: boolean | null;
  /** The day on which the rule was last compared with its source (YYYY-MM-DD); null for a custom rule. */
  ruleChecked: string | null;
  /**
   * Whether the parcel is over any of the thresholds. Null if nothing was compared, or if it is over none of those
   * that could be compared, and one could not be: without a weight, or where the table has the carrier's limits of
   * later days only.
   */
  over: boolean | null;
  /**
   * The day since which the carrier's limits apply (YYYY-MM-DD); null if the table has none for the day of the
   * measurement.
   */
  limitsDate: string | null;
  /** The limits of the carrier on that day, and those of the node's settings. */
  thresholds: BillingThreshold[];
  /**
   * Where the step of a measurement in another unit than the rule's may cost a whole unit of a side, and what
   * would be billed otherwise: a sentence in English. Null where it does not.
   */
  roundingNote: string | null;
  /**
   * Where the clocks of the device and of this computer are more than a day apart and that matters, or the
   * device's was never set: a sentence in English that says which day's rule was used, and what the other one
   * would bill. Otherwise null.
   */
  note: string | null;
  /** The measurement against the label; null if `msg.scan` contains neither the size nor the weight. */
  deviation: LabelDeviation | null;
  /**
   * Whether what is billed was measured legal for trade, as the device says. `unknown` if it is not known, and
   * false for dimensions that were typed in.
   */
  legalForTrade: boolean | "unknown";
  /** Always true: none of this is a measured value. */
  computed: true;
}

/** A parcel compared with a limit of a carrier, or with one from the node's settings. */
export interface BillingThreshold {
  /** What the limit is for, such as additional handling or oversize. */
  name: string;
  /** Whether the parcel is over it; exactly at a limit it is not. Null if the weight is not known. */
  over: boolean | null;
  /**
   * What is limited. `longest`, `second`, `shortest`: a side. `girth`: the longest side plus twice the two others.
   */
  quantity: "volume" | "longest" | "second" | "shortest" | "girth" | "weight";
  /** The value of the parcel, from the sides as the rule rounds them; null if the weight is not known. */
  value: number | null;
  /** The limit. */
  limit: number;
  /** Unit of limit and value, such as in³, cm or lb. */
  unit: string;
}

/** How far a measurement is from what the label of the parcel says. */
export interface LabelDeviation {
  /** The weight; null if the label or the scale has none. */
  weight: WeightDeviation | null;
  /** The three sides, the longest first; null if the label does not have all of them. */
  sides: SideDeviation[] | null;
}

/** The measured weight against that of the label. */
export interface WeightDeviation {
  /** What the label says. */
  label: number;
  /** What was measured, in the same unit. */
  measured: number;
  /** How much more was measured than the label says. */
  difference: number;
  /** The same as a percentage of what the label says; null if that is 0. */
  percent: number | null;
  /** As on the label. */
  unit: "kg" | "g" | "lb" | "oz";
}

/** A measured side against that of the label. */
export interface SideDeviation {
  /** What the label says. */
  label: number;
  /** What was measured, in the same unit. */
  measured: number;
  /** How much more was measured than the label says. */
  difference: number;
  /** The same as a percentage of what the label says; null if that is 0. */
  percent: number | null;
  /** As on the label. */
  unit: "cm" | "in";
}

/** A device that is registered with the cloud. */
export interface CloudDevice {
  /** Opaque text. */
  id: string;
  /** As in the portal. */
  name: string | null;
  /** Version of the device's software. */
  appVersion: string | null;
  /** ID of the terminal that it belongs to; null if there is none. */
  terminalId: string | null;
  /** When the cloud last heard of it, in UTC. */
  lastHeartbeatUtc: string | null;
  /** What a remote trigger takes as deviceReference. */
  registrationCode: string | null;
  [field: string]: unknown;
}

/** A table of carriers' rules in place of the one of this package. */
export interface WeightTable {
  /** Where editors find the schema. */
  $schema?: string;
  /**
   * The day on which all of it was last compared with its sources (YYYY-MM-DD); a year later the node warns.
   */
  checked: string;
  /** The carriers. */
  carriers: WeightTableCarrier[];
}

/** The rules and limits of one carrier. */
export interface WeightTableCarrier {
  /** The name by which the node, or a message, selects it. */
  name: string;
  /** In any order; the one of the day of the measurement is used. */
  rules: WeightTableRule[];
  /** Limits for surcharges; none if left out. */
  surcharges?: WeightTableLimits[];
}

/** A carrier's limits from one day on. */
export interface WeightTableLimits {
  /** The first day on which it applies (YYYY-MM-DD); null or left out if that is not known. */
  since?: string | null;
  /** The last day on which it applies; null or left out if no newer one is known. */
  validUntil?: string | null;
  /** Where it was found, such as the number of a contract. */
  source: string;
  /** Each as in the node: `oversize: longest > 96 in, at least 90 lb`. */
  limits: string[];
}

/** How the billed weight is calculated from one day on. */
export interface WeightTableRule {
  /** The rule's name, which is `ruleId` in the result. */
  id: string;
  /** The first day on which it applies (YYYY-MM-DD); null or left out if that is not known. */
  since?: string | null;
  /** The last day on which it applies; null or left out if no newer one is known. */
  validUntil?: string | null;
  /** Where it was found, such as the number of a contract. */
  source: string;
  /** Cubic centimeters for a kilogram, or cubic inches for a pound. */
  unit: "cm-kg" | "in-lb";
  /** What the volume is divided by. */
  divisor: number | string;
  /** How each side is rounded to a whole inch or centimeter; `none` if left out. */
  sideRounding?: "none" | "up" | "nearest";
  /** The weight is rounded up to a multiple of it; to the thousandth if it is 0 or left out. */
  productRounding?: number | string;
  /** Only a volume above it counts; 0 if left out. */
  threshold?: number | string;
  /** The least weight that is billed; 0 if left out. */
  minimum?: number | string;
}
