// Written by tools/write-docs.ts from the schemas in src/model/message-schemas.ts:
// change those, not this file. Plain interfaces show those who use them fields and what they mean, and need no schema
// library to compile.
import type { ErrorCode, ErrorDetails } from "../errors/dimensioner-error.ts";
import type {
  MeasureResult,
  MeasuredBy,
  VideoCommand,
  SavedFile,
  MediaItem,
  TransactionRecord,
  FleetDevice,
  ArchivedPackage,
  HeldUp,
  EvidencePackage,
  MissingEvidence,
  VerifyResult,
  PruneResult,
  TimestampResult,
  StoreState,
  MessageParts,
  Scan,
  BillableWeight,
} from "../model/shapes.ts";

/** What measure takes. */
export interface MeasureInput {
  transactionReference?: string | number | null;
  /**
   * A text, a number or a Buffer of text is the reference of a measurement or a start if the message has no
   * transactionReference and no control; anything else is ignored.
   */
  payload?: unknown;
  /** If it is truthy, the messages that wait in the node are cancelled, and nothing else is done. */
  reset?: unknown;
  /**
   * If the dialog says which custom reference the tag is put into: a new ID for each measurement, of at least 16
   * hexadecimal digits, such as a UUID. Without it, the node makes one. What is sent on does not have it.
   */
  tag?: string;
  [field: string]: unknown;
}

/** What video and remote trigger take if the dialog leaves the choice to the message. */
export interface VideoInput {
  transactionReference?: string | number | null;
  /**
   * A text, a number or a Buffer of text is the reference of a measurement or a start if the message has no
   * transactionReference and no control; anything else is ignored.
   */
  payload?: unknown;
  /** If it is truthy, the messages that wait in the node are cancelled, and nothing else is done. */
  reset?: unknown;
  action?: "start" | "stop" | "cancel";
  [field: string]: unknown;
}

/** What fetch image takes. */
export interface FetchImageInput {
  imageIdentifier?: string | number | null;
  /** If the dialog leaves the choice to the message. */
  image?: "annotated" | "color" | "depth";
  [field: string]: unknown;
}

/** What media list takes, and archive for a transaction of the cloud. */
export interface TransactionInput {
  transactionId: string | number;
  transactionReference?: string | number | null;
  [field: string]: unknown;
}

/** What evidence takes. */
export interface EvidenceInput {
  /** What is searched for, or a period; not needed for prune, timestamp, checkpoint and state. */
  payload?: string | number | null;
  /** If the dialog leaves the choice to the message. */
  action?:
    | "find"
    | "csv"
    | "missing"
    | "verify"
    | "hold"
    | "release"
    | "name"
    | "export"
    | "prune"
    | "timestamp"
    | "checkpoint"
    | "state";
  /** For find and csv: what else is true of the packages, in place of the node's filters. */
  filter?: {
    /** As the packages name it. */
    device?: string;
    /** What kind of work it was, such as `packing`, `return` or `inspection`. */
    work?: string;
    /** When they were archived, such as `24h`. */
    period?: string;
    /** True: they have a video. */
    film?: boolean;
    /** True: they are on hold, as the log of holds says. */
    onHold?: boolean;
    /** True: media are missing. */
    incomplete?: boolean;
  } | null;
  /**
   * For verify with all packages: for how long, in place of the node's number; 0: until all were verified.
   */
  minutes?: number | null;
  /** For name: what is added to the package. */
  numbers?: string | number | (string | number)[] | null;
  /** For export: the number of the claim that it is for. */
  claim?: string | number | null;
  /** For hold, release and name. */
  reason?: string | null;
  /** For hold, release and name. */
  person?: string | null;
  [field: string]: unknown;
}

/** What scan takes. */
export interface ScanInput {
  /** A scan, several, or a part of one: text or bytes. */
  payload: string | Buffer;
  [field: string]: unknown;
}

/** What billable weight takes. */
export interface BillableWeightInput {
  payload: MeasureResult | TransactionRecord;
  scan?: Scan;
  /** A carrier of the table, if the dialog leaves the choice to the message. */
  preset?: string;
  [field: string]: unknown;
}

/** What fetch media takes. */
export interface FetchMediaInput {
  transactionId: string | number;
  payload: {
    contentId: string | number;
    [field: string]: unknown;
  };
  [field: string]: unknown;
}

/** What measure sends. */
export interface MeasureMessage {
  payload: MeasureResult;
  /** As the device returned it, without spaces and line ends around it, or else as it was given. */
  transactionReference: string | null;
  /**
   * For media list, fetch media and archive; null if the result has none, as from a device on the local network.
   */
  transactionId: string | null;
  /**
   * For fetch image; null if there is none, as through the cloud, whose images are found by transactionId.
   */
  imageIdentifier: string | null;
  /** The response exactly as it was received: the proof of a legal-for-trade measurement. */
  rawResponse: string;
  measuredBy: MeasuredBy;
  video?: VideoCommand;
  [field: string]: unknown;
}

/** What remote trigger sends after a measure. */
export interface RemoteMeasureMessage {
  payload: MeasureResult;
  /** As the device returned it, without spaces and line ends around it, or else as it was given. */
  transactionReference: string | null;
  /**
   * For media list, fetch media and archive; null if the result has none, as from a device on the local network.
   */
  transactionId: string | null;
  /**
   * For fetch image; null if there is none, as through the cloud, whose images are found by transactionId.
   */
  imageIdentifier: string | null;
  /** The response exactly as it was received: the proof of a legal-for-trade measurement. */
  rawResponse: string;
  measuredBy: MeasuredBy;
  video?: VideoCommand;
  [field: string]: unknown;
}

/** What video sends, and remote trigger after start, stop and cancel. */
export interface VideoMessage {
  video: VideoCommand;
  /**
   * After a start and a stop: the reference that was given with the message. After a stop without one: that of the
   * start, if the recording is `own`. Untouched by cancel.
   */
  transactionReference?: string | null;
  [field: string]: unknown;
}

/** What fetch image and fetch media send with the content in it. */
export interface BufferMessage {
  /** The content. */
  payload: Buffer;
  /** By its content, else as announced. */
  contentType: string;
  /** A suggested file name that is valid on every system, with the extension that matches the content. */
  filename: string;
  /**
   * Only where the content is of no known format, or a video without its index, which nothing can play: then it
   * counts as neither an image nor a video.
   */
  recognized?: false;
  [field: string]: unknown;
}

/** What fetch image and fetch media send where they save to a file. */
export interface FileMessage {
  payload: SavedFile;
  /**
   * Only where the content is of no known format, or a video without its index, which nothing can play: then it
   * counts as neither an image nor a video.
   */
  recognized?: false;
  /** The file's path. */
  filename: string;
  [field: string]: unknown;
}

/** What fetch video sends with the video in it. */
export interface VideoBufferMessage {
  /** The content. */
  payload: Buffer;
  /** By its content, else as announced. */
  contentType: string;
  /** A suggested file name that is valid on every system, with the extension that matches the content. */
  filename: string;
  /**
   * Only where the content is of no known format, or a video without its index, which nothing can play: then it
   * counts as neither an image nor a video.
   */
  recognized?: false;
  video?: VideoCommand;
  [field: string]: unknown;
}

/** What fetch video sends where it saves to a file. */
export interface VideoFileMessage {
  payload: SavedFile;
  /**
   * Only where the content is of no known format, or a video without its index, which nothing can play: then it
   * counts as neither an image nor a video.
   */
  recognized?: false;
  /** The file's path. */
  filename: string;
  video?: VideoCommand;
  [field: string]: unknown;
}

/** What media list sends as one list. */
export interface MediaListMessage {
  /** All items. */
  payload: MediaItem[];
  [field: string]: unknown;
}

/** What media list sends as one message per item. */
export interface MediaItemMessage {
  payload: MediaItem;
  /** For fetch media. */
  contentId: string;
  /** The item's type. */
  contentType: string | null;
  parts: MessageParts;
  [field: string]: unknown;
}

/** What archive sends. */
export interface ArchiveMessage {
  payload: ArchivedPackage;
  /** Path of the manifest. */
  filename: string;
  /** True if the job was finished after a restart or a deploy. */
  resumed?: true;
  /**
   * The name of the node that had accepted the job, or its ID if it has none: it is disabled or no longer
   * deployed.
   */
  resumedFrom?: string;
  [field: string]: unknown;
}

/**
 * What archive sends on its second output of a parcel that is not archived yet, beside the message that it ends
 * in.
 */
export interface HeldUpMessage {
  payload: HeldUp;
  [field: string]: unknown;
}

/** What evidence sends after find, hold, release and name. */
export interface EvidenceListMessage {
  /** The packages, the newest first. */
  payload: EvidencePackage[];
  [field: string]: unknown;
}

/** What evidence sends after find as one message per package. */
export interface EvidenceMessage {
  payload: EvidencePackage;
  parts: MessageParts;
  [field: string]: unknown;
}

/** What evidence sends after csv. */
export interface EvidenceTableMessage {
  /** The packages as CSV, the newest first, 10,000 at most. */
  payload: string;
  contentType: "text/csv; charset=utf-8";
  /** A name for the file. */
  filename: string;
  /** Whether there are more packages. */
  more: boolean;
  [field: string]: unknown;
}

/** What evidence sends after missing. */
export interface MissingListMessage {
  /** What has no complete package, the newest first. */
  payload: MissingEvidence[];
  [field: string]: unknown;
}

/**
 * What evidence sends after missing as one message for each. From output 1, archive takes it as it is; output 2
 * sends what cannot be archived again.
 */
export interface MissingMessage {
  /**
   * What is missing, and why; all of MissingEvidence except `archiveAgain`, whose properties are on the message.
   */
  missing: {
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
  };
  parts: MessageParts;
  [field: string]: unknown;
}

/** What evidence sends after verify. */
export interface VerifyMessage {
  payload: VerifyResult;
  [field: string]: unknown;
}

/** What evidence sends after an export into a file. */
export interface ExportFileMessage {
  payload: SavedFile;
  /** Its path. */
  filename: string;
  verification: VerifyResult;
  [field: string]: unknown;
}

/** What evidence sends after an export onto the message. */
export interface ExportBufferMessage {
  /** The ZIP. */
  payload: Buffer;
  contentType: "application/zip";
  /** A name for the ZIP that every system accepts. */
  filename: string;
  verification: VerifyResult;
  [field: string]: unknown;
}

/** What evidence sends after prune. */
export interface PruneMessage {
  payload: PruneResult;
  [field: string]: unknown;
}

/** What evidence sends after timestamp. */
export interface TimestampMessage {
  payload: TimestampResult;
  [field: string]: unknown;
}

/** What evidence sends after checkpoint. */
export interface CheckpointMessage {
  /** The checkpoint as a text of three lines: whose log, how many lines, and their root. */
  payload: string;
  /** What it says. */
  checkpoint: {
    /** The ID of the store. */
    store: string;
    /** How many lines the log has. */
    logSize: number;
    /** The root of the Merkle tree over these lines (RFC 6962), in base64. */
    logRoot: string;
  };
  [field: string]: unknown;
}

/** What evidence sends after state. */
export interface StoreStateMessage {
  payload: StoreState;
  [field: string]: unknown;
}

/** What transaction in sends. */
export interface TransactionMessage {
  payload: TransactionRecord;
  /** For media list, fetch media and archive. */
  transactionId: string;
  /** As in the record, without spaces and line ends around it. */
  transactionReference: string | null;
  /** As in the record, without spaces and line ends around it. */
  barcodeReference: string | null;
  /**
   * If another record of this transaction came before with another content, such as other figures: the last of
   * them.
   */
  corrects?: {
    /** The ID of that record. */
    transactionId: string;
    /** When it was received, by this computer's clock (ISO 8601, UTC). */
    receivedAt: string;
    /** The names of the fields that differ, in the alphabet's order. */
    fields: string[];
  };
  /** True if an earlier run of Node-RED had received the record. */
  resumed?: true;
  [field: string]: unknown;
}

/** What device list sends as one list. */
export interface DeviceListMessage {
  /** All devices. */
  payload: FleetDevice[];
  /**
   * By how many seconds the cloud's clock is ahead of this computer's, as the Date of its answers tells it: 0 if
   * both agree, negative if it is behind, null if it has told no time.
   */
  clockAhead: number | null;
  [field: string]: unknown;
}

/** What device list sends as one message per device. */
export interface DeviceMessage {
  payload: FleetDevice;
  /**
   * By how many seconds the cloud's clock is ahead of this computer's, as the Date of its answers tells it: 0 if
   * both agree, negative if it is behind, null if it has told no time.
   */
  clockAhead: number | null;
  parts: MessageParts;
  [field: string]: unknown;
}

/** What scan sends for a parcel, on its first output. */
export interface ScanMessage {
  /**
   * The scan as text, exactly as the scanner sent it, but without the addressee of a carrier's 2D label.
   */
  payload: string;
  /** What the node was told to take as the reference. */
  transactionReference: string;
  scan: Scan;
  [field: string]: unknown;
}

/** What scan sends for a control code, on its second output. */
export interface ControlMessage {
  /** The scan as text, exactly as the scanner sent it. */
  payload: string;
  /**
   * The control code as the node's settings write it, such as VIDEO_START; NO_READ for what identifies no parcel.
   */
  control: string;
  [field: string]: unknown;
}

/** What billable weight sends; the payload stays as it was. */
export interface BillableMessage {
  payload: MeasureResult | TransactionRecord;
  billable: BillableWeight;
  [field: string]: unknown;
}

/** What a Catch node sends for an error in one of the nodes. */
export interface ErrorMessage {
  error: {
    code: ErrorCode;
    /** What happened and what to do, in the language of the Node-RED server. */
    message: string;
    cause: ErrorDetails;
    [field: string]: unknown;
  };
  /**
   * Of a command: the response exactly as it was received, if one came; of one that cannot be used at most the
   * first 64 kB, and never the token.
   */
  rawResponse?: string;
  [field: string]: unknown;
}
