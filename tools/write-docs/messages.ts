import * as v from "valibot";
import * as payloads from "./payloads.ts";

const text = v.nullable(v.string());

/** A Buffer is no JSON: its place is described, and nothing is checked there. */
const buffer = v.pipe(v.unknown(), v.description("A Buffer with the content."));

function message<const TEntries extends v.ObjectEntries>(entries: TEntries) {
  return v.looseObject(entries);
}

function described<const TSchema extends v.GenericSchema>(meaning: string, schema: TSchema) {
  return v.pipe(schema, v.description(meaning));
}

/** Everything that has a name of its own in docs/messages.schema.json. */
export const definitions = {
  MeasureResult: payloads.measureResult,
  MeasuredObject: payloads.measuredObject,
  MediaItem: payloads.mediaItem,
  TransactionRecord: payloads.transactionRecord,
  DeviceListItem: payloads.deviceListItem,
  Terminal: payloads.terminal,
  SavedFile: payloads.savedFile,
  ArchivedPackage: payloads.archivedPackage,
  VideoCommand: payloads.videoCommand,
  MessageParts: payloads.messageParts,
  ErrorObject: payloads.errorObject,
  ErrorDetails: payloads.errorDetails,
  MeasureMessage: message({
    payload: payloads.measureResult,
    transactionReference: described("As the machine returned it, else as it was given.", text),
    imageIdentifier: described("For fetch image; null where there is none.", text),
    rawResponse: described("The answer exactly as it came.", v.string()),
  }),
  RemoteMeasureMessage: message({
    payload: payloads.measureResult,
    transactionId: described("For media list, fetch media and archive.", text),
    transactionReference: described("As the machine returned it, else as it was given.", text),
    imageIdentifier: described(
      "Null where the cloud sends none: its pictures are found by transactionId.",
      text,
    ),
    rawResponse: described("The answer exactly as it came.", v.string()),
  }),
  VideoMessage: message({ video: payloads.videoCommand }),
  BufferMessage: message({
    payload: buffer,
    contentType: described("As the other side says; by its content where it says nothing.", v.string()),
    filename: described("A name to save it under: safe, with the extension that fits.", v.string()),
  }),
  FileMessage: message({
    payload: payloads.savedFile,
    filename: described("The file's path.", v.string()),
  }),
  MediaListMessage: message({ payload: described("All items.", v.array(payloads.mediaItem)) }),
  MediaItemMessage: message({
    payload: payloads.mediaItem,
    contentId: described("For fetch media.", v.string()),
    contentType: described("The item's type.", text),
    parts: payloads.messageParts,
  }),
  ArchiveMessage: message({
    payload: payloads.archivedPackage,
    filename: described("Path of the manifest.", v.string()),
    resumed: v.exactOptional(
      described("True where the job was finished after a restart or a deploy.", v.literal(true)),
    ),
  }),
  TransactionMessage: message({
    payload: payloads.transactionRecord,
    transactionId: described("For media list, fetch media and archive.", v.string()),
    transactionReference: described("As in the record.", text),
    barcodeReference: described("As in the record.", text),
  }),
  DeviceListMessage: message({ payload: described("All devices.", v.array(payloads.deviceListItem)) }),
  DeviceMessage: message({ payload: payloads.deviceListItem, parts: payloads.messageParts }),
} satisfies Record<string, v.GenericSchema>;

export type DefinitionName = keyof typeof definitions;

/** A message that a node sends. What is not named in it stays as it was. */
export interface SentMessage {
  readonly type: string;
  /** As in the palette. */
  readonly node: string;
  readonly when: string;
  readonly schema: DefinitionName;
}

const fetched = (type: string, node: string): SentMessage[] => [
  { type, node, when: "into the message", schema: "BufferMessage" },
  { type, node, when: "into a file", schema: "FileMessage" },
];

/** Every kind of message that a node of this package sends. */
export const sentMessages: readonly SentMessage[] = [
  { type: "dimensioner-measure", node: "measure", when: "always", schema: "MeasureMessage" },
  ...fetched("dimensioner-fetch-image", "fetch image"),
  { type: "dimensioner-video-control", node: "video", when: "always", schema: "VideoMessage" },
  ...fetched("dimensioner-fetch-video", "fetch video"),
  {
    type: "dimensioner-remote-trigger",
    node: "remote trigger",
    when: "start, stop, cancel",
    schema: "VideoMessage",
  },
  {
    type: "dimensioner-remote-trigger",
    node: "remote trigger",
    when: "measure",
    schema: "RemoteMeasureMessage",
  },
  { type: "dimensioner-media-list", node: "media list", when: "as one list", schema: "MediaListMessage" },
  {
    type: "dimensioner-media-list",
    node: "media list",
    when: "one message per item",
    schema: "MediaItemMessage",
  },
  ...fetched("dimensioner-fetch-media", "fetch media"),
  { type: "dimensioner-archive", node: "archive", when: "always", schema: "ArchiveMessage" },
  {
    type: "dimensioner-transaction-in",
    node: "transaction in",
    when: "always",
    schema: "TransactionMessage",
  },
  { type: "dimensioner-device-list", node: "device list", when: "as one list", schema: "DeviceListMessage" },
  {
    type: "dimensioner-device-list",
    node: "device list",
    when: "one message per device",
    schema: "DeviceMessage",
  },
];
