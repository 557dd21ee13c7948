import * as v from "valibot";
import { measureResultSchema, measuredObjectSchema } from "./measure-result.ts";
import {
  cloudDeviceSchema,
  mediaItemSchema,
  terminalSchema,
  transactionRecordSchema,
} from "./transaction-record.ts";
import * as values from "./value-schemas.ts";
import { weightTable, weightTableCarrier, weightTableLimits, weightTableRule } from "./weight-table.ts";
import { described } from "./value-schemas.ts";

// The messages that nodes accept and send, and which node sends which.

const text = v.nullable(v.string());
const idText = v.union([v.string(), v.number()]);
/** Missing, null and "" count as not given. */
const given = v.exactOptional(v.nullable(idText));
const action = v.picklist(["start", "stop", "cancel"]);

/** A message may contain further properties, because a node passes on what it does not own. */
function message<const TEntries extends v.ObjectEntries>(meaning: string, entries: TEntries) {
  return described(meaning, v.looseObject(entries));
}

const measureInput = {
  transactionReference: given,
  payload: v.exactOptional(
    described(
      "A text, a number or a Buffer of text is the reference of a measurement or a start if the message has no transactionReference and no control; anything else is ignored.",
      v.unknown(),
    ),
  ),
  reset: v.exactOptional(
    described(
      "If it is truthy, the messages that wait in the node are cancelled, and nothing else is done.",
      v.unknown(),
    ),
  ),
};

const measureMessage = {
  payload: measureResultSchema,
  transactionReference: described(
    "As the device returned it, without spaces and line ends around it, or else as it was given.",
    text,
  ),
  transactionId: described(
    "For media list, fetch media and archive; null if the result has none, as from a device on the local network.",
    text,
  ),
  imageIdentifier: described(
    "For fetch image; null if there is none, as through the cloud, whose images are found by transactionId.",
    text,
  ),
  rawResponse: described(
    "The response exactly as it was received: the proof of a legal-for-trade measurement.",
    v.string(),
  ),
  measuredBy: values.measuredBy,
  video: v.exactOptional(values.videoCommand),
};

const contentMessage = {
  payload: described("The content.", v.instance(Buffer)),
  contentType: described("By its content, else as announced.", v.string()),
  filename: described(
    "A suggested file name that is valid on every system, with the extension that matches the content.",
    v.string(),
  ),
  recognized: values.unrecognized,
};

const fileMessage = {
  payload: values.savedFile,
  recognized: values.unrecognized,
  filename: described("The file's path.", v.string()),
};

/** The values on messages; each has a type of its name in src/model/shapes.ts. */
export const shapes = {
  MeasureResult: measureResultSchema,
  MeasuredObject: measuredObjectSchema,
  MeasuredBy: values.measuredBy,
  SentReferences: values.sentReferences,
  VideoCommand: values.videoCommand,
  VideoStart: values.videoStart,
  SavedFile: values.savedFile,
  MediaItem: mediaItemSchema,
  TransactionRecord: transactionRecordSchema,
  FleetDevice: values.fleetDevice,
  Terminal: terminalSchema,
  ArchivedPackage: values.archivedPackage,
  ArchivedFile: values.archivedFile,
  HeldUp: values.heldUp,
  EvidencePackage: values.evidencePackage,
  Hold: values.hold,
  AddedNumber: values.addedNumber,
  MissingEvidence: values.missingEvidence,
  VerifyResult: values.verifyResult,
  PruneResult: values.pruneResult,
  TimestampResult: values.timestampResult,
  Correction: values.correction,
  LogCheckpoint: values.logCheckpoint,
  StoreState: values.storeState,
  MessageParts: values.messageParts,
  Scan: values.scan,
  ScanElement: values.scanElement,
  ScanCarrier: values.scanCarrier,
  ScanSeparator: values.scanSeparator,
  ScanKeyboard: values.scanKeyboard,
  LabelDimensions: values.labelDimensions,
  LabelWeight: values.labelWeight,
  BillableWeight: values.billableWeight,
  BillingThreshold: values.billingThreshold,
  LabelDeviation: values.labelDeviation,
  WeightDeviation: values.weightDeviation,
  SideDeviation: values.sideDeviation,
} satisfies Record<string, v.GenericSchema>;

/** The values that only the library takes or returns; they are on no message. */
export const libraryShapes = {
  CloudDevice: cloudDeviceSchema,
  WeightTable: weightTable,
  WeightTableCarrier: weightTableCarrier,
  WeightTableLimits: weightTableLimits,
  WeightTableRule: weightTableRule,
};

/** The parts of an error, whose types are defined with the errors. */
const errorShapes = {
  ErrorCode: values.errorCode,
  ErrorDetails: values.errorDetails,
};

/** The messages that nodes send; each has a type of its name in src/library/messages.ts. */
export const sent = {
  MeasureMessage: message("What measure sends.", measureMessage),
  RemoteMeasureMessage: message("What remote trigger sends after a measure.", measureMessage),
  VideoMessage: message("What video sends, and remote trigger after start, stop and cancel.", {
    video: values.videoCommand,
    transactionReference: v.exactOptional(
      described(
        "After a start and a stop: the reference that was given with the message. After a stop without one: that of the start, if the recording is `own`. Untouched by cancel.",
        text,
      ),
    ),
  }),
  BufferMessage: message("What fetch image and fetch media send with the content in it.", contentMessage),
  FileMessage: message("What fetch image and fetch media send where they save to a file.", fileMessage),
  VideoBufferMessage: message("What fetch video sends with the video in it.", {
    ...contentMessage,
    video: v.exactOptional(values.videoCommand),
  }),
  VideoFileMessage: message("What fetch video sends where it saves to a file.", {
    ...fileMessage,
    video: v.exactOptional(values.videoCommand),
  }),
  MediaListMessage: message("What media list sends as one list.", {
    payload: described("All items.", v.array(mediaItemSchema)),
  }),
  MediaItemMessage: message("What media list sends as one message per item.", {
    payload: mediaItemSchema,
    contentId: described("For fetch media.", v.string()),
    contentType: described("The item's type.", text),
    parts: values.messageParts,
  }),
  ArchiveMessage: message("What archive sends.", {
    payload: values.archivedPackage,
    filename: described("Path of the manifest.", v.string()),
    resumed: v.exactOptional(
      described("True if the job was finished after a restart or a deploy.", v.literal(true)),
    ),
    resumedFrom: v.exactOptional(
      described(
        "The name of the node that had accepted the job, or its ID if it has none: it is disabled or no longer deployed.",
        v.string(),
      ),
    ),
  }),
  HeldUpMessage: message(
    "What archive sends on its second output of a parcel that is not archived yet, beside the message that it ends in.",
    { payload: values.heldUp },
  ),
  EvidenceListMessage: message("What evidence sends after find, hold, release and name.", {
    payload: described("The packages, the newest first.", v.array(values.evidencePackage)),
  }),
  EvidenceMessage: message("What evidence sends after find as one message per package.", {
    payload: values.evidencePackage,
    parts: values.messageParts,
  }),
  EvidenceTableMessage: message("What evidence sends after csv.", {
    payload: described("The packages as CSV, the newest first, 10,000 at most.", v.string()),
    contentType: v.literal("text/csv; charset=utf-8"),
    filename: described("A name for the file.", v.string()),
    more: described("Whether there are more packages.", v.boolean()),
  }),
  MissingListMessage: message("What evidence sends after missing.", {
    payload: described("What has no complete package, the newest first.", v.array(values.missingEvidence)),
  }),
  MissingMessage: message(
    "What evidence sends after missing as one message for each. From output 1, archive takes it as it is; output 2 sends what cannot be archived again.",
    {
      missing: described(
        "What is missing, and why; all of MissingEvidence except `archiveAgain`, whose properties are on the message.",
        v.omit(values.missingShape, ["archiveAgain"]),
      ),
      parts: values.messageParts,
    },
  ),
  VerifyMessage: message("What evidence sends after verify.", { payload: values.verifyResult }),
  ExportFileMessage: message("What evidence sends after an export into a file.", {
    payload: values.savedFile,
    filename: described("Its path.", v.string()),
    verification: values.verifyResult,
  }),
  ExportBufferMessage: message("What evidence sends after an export onto the message.", {
    payload: described("The ZIP.", v.instance(Buffer)),
    contentType: v.literal("application/zip"),
    filename: described("A name for the ZIP that every system accepts.", v.string()),
    verification: values.verifyResult,
  }),
  PruneMessage: message("What evidence sends after prune.", { payload: values.pruneResult }),
  TimestampMessage: message("What evidence sends after timestamp.", { payload: values.timestampResult }),
  CheckpointMessage: message("What evidence sends after checkpoint.", {
    payload: described(
      "The checkpoint as a text of three lines: whose log, how many lines, and their root.",
      v.string(),
    ),
    checkpoint: described("What it says.", values.logCheckpoint),
  }),
  StoreStateMessage: message("What evidence sends after state.", { payload: values.storeState }),
  TransactionMessage: message("What transaction in sends.", {
    payload: transactionRecordSchema,
    transactionId: described("For media list, fetch media and archive.", v.string()),
    transactionReference: described("As in the record, without spaces and line ends around it.", text),
    barcodeReference: described("As in the record, without spaces and line ends around it.", text),
    corrects: v.exactOptional(
      described(
        "If another record of this transaction came before with another content, such as other figures: the last of them.",
        values.correction,
      ),
    ),
    resumed: v.exactOptional(
      described("True if an earlier run of Node-RED had received the record.", v.literal(true)),
    ),
  }),
  DeviceListMessage: message("What device list sends as one list.", {
    payload: described("All devices.", v.array(values.fleetDevice)),
    clockAhead: values.clockAhead,
  }),
  DeviceMessage: message("What device list sends as one message per device.", {
    payload: values.fleetDevice,
    clockAhead: values.clockAhead,
    parts: values.messageParts,
  }),
  ScanMessage: message("What scan sends for a parcel, on its first output.", {
    payload: described(
      "The scan as text, exactly as the scanner sent it, but without the addressee of a carrier's 2D label.",
      v.string(),
    ),
    transactionReference: described("What the node was told to take as the reference.", v.string()),
    scan: values.scan,
  }),
  ControlMessage: message("What scan sends for a control code, on its second output.", {
    payload: described("The scan as text, exactly as the scanner sent it.", v.string()),
    control: described(
      "The control code as the node's settings write it, such as VIDEO_START; NO_READ for what identifies no parcel.",
      v.string(),
    ),
  }),
  BillableMessage: message("What billable weight sends; the payload stays as it was.", {
    payload: v.union([measureResultSchema, transactionRecordSchema]),
    billable: values.billableWeight,
  }),
  ErrorMessage: message("What a Catch node sends for an error in one of the nodes.", {
    error: values.errorObject,
    rawResponse: v.exactOptional(
      described(
        "Of a command: the response exactly as it was received, if one came; of one that cannot be used at most the first 64 kB, and never the token.",
        v.string(),
      ),
    ),
  }),
} satisfies Record<string, v.GenericSchema>;

/** The messages that nodes accept with the defaults of their dialogs. */
export const taken = {
  MeasureInput: message("What measure takes.", {
    ...measureInput,
    tag: v.exactOptional(
      described(
        "If the dialog says which custom reference the tag is put into: a new ID for each measurement, of at least 16 hexadecimal digits, such as a UUID. Without it, the node makes one. What is sent on does not have it.",
        v.string(),
      ),
    ),
  }),
  VideoInput: message("What video and remote trigger take if the dialog leaves the choice to the message.", {
    ...measureInput,
    action: v.exactOptional(action),
  }),
  FetchImageInput: message("What fetch image takes.", {
    imageIdentifier: given,
    image: v.exactOptional(
      described(
        "If the dialog leaves the choice to the message.",
        v.picklist(["annotated", "color", "depth"]),
      ),
    ),
  }),
  TransactionInput: message("What media list takes, and archive for a transaction of the cloud.", {
    transactionId: idText,
    transactionReference: given,
  }),
  EvidenceInput: message("What evidence takes.", {
    payload: v.exactOptional(
      described(
        "What is searched for, or a period; not needed for prune, timestamp, checkpoint and state.",
        v.nullable(idText),
      ),
    ),
    action: v.exactOptional(
      described(
        "If the dialog leaves the choice to the message.",
        v.picklist([
          "find",
          "csv",
          "missing",
          "verify",
          "hold",
          "release",
          "name",
          "export",
          "prune",
          "timestamp",
          "checkpoint",
          "state",
        ]),
      ),
    ),
    filter: v.exactOptional(
      described(
        "For find and csv: what else is true of the packages, in place of the node's filters.",
        v.nullable(
          v.object({
            device: v.exactOptional(described("As the packages name it.", v.string())),
            work: v.exactOptional(
              described("What kind of work it was, such as `packing`, `return` or `inspection`.", v.string()),
            ),
            period: v.exactOptional(described("When they were archived, such as `24h`.", v.string())),
            film: v.exactOptional(described("True: they have a video.", v.boolean())),
            onHold: v.exactOptional(
              described("True: they are on hold, as the log of holds says.", v.boolean()),
            ),
            incomplete: v.exactOptional(described("True: media are missing.", v.boolean())),
          }),
        ),
      ),
    ),
    minutes: v.exactOptional(
      described(
        "For verify with all packages: for how long, in place of the node's number; 0: until all were verified.",
        v.nullable(v.pipe(v.number(), v.integer(), v.minValue(0))),
      ),
    ),
    numbers: v.exactOptional(
      described("For name: what is added to the package.", v.nullable(v.union([idText, v.array(idText)]))),
    ),
    claim: v.exactOptional(
      described("For export: the number of the claim that it is for.", v.nullable(idText)),
    ),
    reason: v.exactOptional(described("For hold, release and name.", v.nullable(v.string()))),
    person: v.exactOptional(described("For hold, release and name.", v.nullable(v.string()))),
  }),
  ScanInput: message("What scan takes.", {
    payload: described(
      "A scan, several, or a part of one: text or bytes.",
      v.union([v.string(), v.instance(Buffer)]),
    ),
  }),
  BillableWeightInput: message("What billable weight takes.", {
    payload: v.union([measureResultSchema, transactionRecordSchema]),
    scan: v.exactOptional(values.scan),
    preset: v.exactOptional(
      described("A carrier of the table, if the dialog leaves the choice to the message.", v.string()),
    ),
  }),
  FetchMediaInput: message("What fetch media takes.", {
    transactionId: idText,
    payload: v.looseObject({ contentId: idText }),
  }),
} satisfies Record<string, v.GenericSchema>;

/** Everything with a name of its own in docs/messages.schema.json. */
export const definitions = {
  ...shapes,
  ...errorShapes,
  ErrorObject: values.errorObject,
  ...sent,
  ...taken,
};

export type DefinitionName = keyof typeof definitions;

const fetched = { "into the message": "BufferMessage", "into a file": "FileMessage" } as const;

/** Every kind of message that a node sends, by the folder of the node and by when it does. What is not named in it stays as it was. */
const sentBy: Readonly<Record<string, Readonly<Record<string, DefinitionName>>>> = {
  measure: { always: "MeasureMessage" },
  "fetch-image": fetched,
  "video-control": { always: "VideoMessage" },
  "fetch-video": { "into the message": "VideoBufferMessage", "into a file": "VideoFileMessage" },
  "remote-trigger": { "start, stop, cancel": "VideoMessage", measure: "RemoteMeasureMessage" },
  "media-list": { "as one list": "MediaListMessage", "one message per item": "MediaItemMessage" },
  "fetch-media": fetched,
  archive: { "always, output 1": "ArchiveMessage", "a delay, output 2": "HeldUpMessage" },
  evidence: {
    "find, as one list; hold, release, name": "EvidenceListMessage",
    "find, one message per package": "EvidenceMessage",
    csv: "EvidenceTableMessage",
    "missing, as one list": "MissingListMessage",
    "missing, one each, output 1 or 2": "MissingMessage",
    verify: "VerifyMessage",
    "export, a file": "ExportFileMessage",
    "export, a Buffer": "ExportBufferMessage",
    prune: "PruneMessage",
    timestamp: "TimestampMessage",
    checkpoint: "CheckpointMessage",
    state: "StoreStateMessage",
  },
  "transaction-in": { always: "TransactionMessage" },
  "device-list": { "as one list": "DeviceListMessage", "one message per device": "DeviceMessage" },
  scan: { "a parcel, output 1": "ScanMessage", "a control code, output 2": "ControlMessage" },
  "billable-weight": { always: "BillableMessage" },
};

export const sentMessages = Object.entries(sentBy).flatMap(([node, messages]) =>
  Object.entries(messages).map(([when, schema]) => ({ node, when, schema })),
);
