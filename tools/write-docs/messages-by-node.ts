import type { DefinitionName } from "./messages.ts";

/** A message that a node sends. What is not named in it stays as it was. */
interface SentMessage {
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
  ...(
    [
      ["into the message", "VideoBufferMessage"],
      ["into a file", "VideoFileMessage"],
    ] as const
  ).map(([when, schema]) => ({ type: "dimensioner-fetch-video", node: "fetch video", when, schema })),
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
  { type: "dimensioner-archive", node: "archive", when: "always, output 1", schema: "ArchiveMessage" },
  { type: "dimensioner-archive", node: "archive", when: "a delay, output 2", schema: "HeldUpMessage" },
  ...(
    [
      ["find, as one list; hold, release", "EvidenceListMessage"],
      ["find, one message per package", "EvidenceMessage"],
      ["missing, as one list", "MissingListMessage"],
      ["missing, one each, output 1 or 2", "MissingMessage"],
      ["verify", "VerifyMessage"],
      ["export, a file", "ExportFileMessage"],
      ["export, a Buffer", "ExportBufferMessage"],
      ["prune", "PruneMessage"],
      ["timestamp", "TimestampMessage"],
      ["state", "StoreStateMessage"],
    ] as const
  ).map(([when, schema]) => ({ type: "dimensioner-evidence", node: "evidence", when, schema })),
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
  { type: "dimensioner-scan", node: "scan", when: "a parcel, output 1", schema: "ScanMessage" },
  { type: "dimensioner-scan", node: "scan", when: "a control code, output 2", schema: "ControlMessage" },
  {
    type: "dimensioner-billable-weight",
    node: "billable weight",
    when: "always",
    schema: "BillableMessage",
  },
];
