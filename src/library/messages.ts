/**
 * The messages of the nodes, for those who write Function nodes with a type checker. What a node does not own travels on
 * with the message, so that each of them may hold more.
 */
import type { FleetDevice } from "../cloud/fleet.ts";
import type { ErrorDetails, ErrorCode } from "../errors/dimensioner-error.ts";
import type { SavedFile } from "../media/save-to-file.ts";
import type { ArchivedPackage } from "../model/archived-package.ts";
import type { MediaItem } from "../model/cloud-records.ts";
import type { MeasureResult } from "../model/measure-result.ts";
import type { TransactionRecord } from "../model/transaction-record.ts";

interface Message {
  [property: string]: unknown;
}

/** Text that may come as a number; missing, null and "" count as not given. */
type Given = string | number | null | undefined;

/** `measure` and `video` take, as their dialogs are set at first. */
export interface MeasureInput extends Message {
  transactionReference?: Given;
  /** Truthy: empties what waits in the node, and nothing is measured. */
  reset?: unknown;
}

/** `measure` sends. */
export interface MeasureMessage extends Message {
  payload: MeasureResult;
  /** As the device returned it, else as it was given. */
  transactionReference: string | null;
  /** For `fetch image`. */
  imageIdentifier: string | null;
  /** The answer exactly as it came: legal-for-trade data must stay provable. */
  rawResponse: string;
}

/** `remote trigger` sends after a measure. */
export interface RemoteMeasureMessage extends MeasureMessage {
  /** For `media list`, `fetch media` and `archive`. */
  transactionId: string | null;
}

/** `fetch image` takes. */
export interface FetchImageInput extends Message {
  imageIdentifier?: Given;
  /** Where the dialog leaves the choice to the message. */
  image?: "annotated" | "color" | "depth";
}

/** `fetch image`, `fetch video` and `fetch media` send where they save to the message. */
export interface BufferMessage extends Message {
  payload: Buffer;
  contentType: string;
  /** A name to save it under: safe, with the extension that fits. */
  filename: string;
}

/** The same where they save to a file. */
export interface FileMessage extends Message {
  payload: SavedFile;
  /** The file's path. */
  filename: string;
}

/** `video` and `remote trigger` take where the dialog leaves the choice to the message. */
export interface VideoInput extends MeasureInput {
  action?: "start" | "stop" | "cancel";
}

/** What was done with the video. */
export interface VideoCommand {
  action: "start" | "stop" | "cancel";
  /** When the answer was there, by this computer's clock (ISO 8601, UTC). */
  at: string;
  transactionReference: string | null;
}

/** `video` sends, and `remote trigger` after start, stop and cancel. */
export interface VideoMessage extends Message {
  video: VideoCommand;
}

/** `media list` takes, and `archive` where the media come from the cloud. */
export interface TransactionInput extends Message {
  transactionId: string | number;
  transactionReference?: Given;
}

/** `media list` sends as one list. */
export interface MediaListMessage extends Message {
  payload: MediaItem[];
}

/** Lets Join put together what was one list. */
export interface MessageParts {
  /** The same in all messages of one list. */
  id: string;
  /** Counts from 0. */
  index: number;
  count: number;
  type: "array";
}

/** `media list` sends as one message per item. */
export interface MediaItemMessage extends Message {
  payload: MediaItem;
  contentId: string;
  contentType: string | null;
  parts: MessageParts;
}

/** `fetch media` takes. */
export interface FetchMediaInput extends Message {
  transactionId: string | number;
  payload: { contentId: string | number };
}

/** `archive` sends. */
export interface ArchiveMessage extends Message {
  payload: ArchivedPackage;
  /** Path of the manifest. */
  filename: string;
  /** Where the job was finished after a restart or a deploy. */
  resumed?: true;
}

/** `transaction in` sends. */
export interface TransactionMessage extends Message {
  payload: TransactionRecord;
  transactionId: string;
  transactionReference: string | null;
  barcodeReference: string | null;
}

/** `device list` sends as one list. */
export interface DeviceListMessage extends Message {
  payload: FleetDevice[];
}

/** `device list` sends as one message per device. */
export interface DeviceMessage extends Message {
  payload: FleetDevice;
  parts: MessageParts;
}

/** What a Catch node hands on of a failure in one of the nodes. */
export interface ErrorMessage extends Message {
  error: {
    /** Decide by this one. */
    code: ErrorCode;
    /** What happened and what to do, in the language of the Node-RED server. */
    message: string;
    cause: ErrorDetails;
    [property: string]: unknown;
  };
}
