import * as v from "valibot";
import { errorCodes } from "../../src/errors/codes.ts";
import type { ErrorDetails } from "../../src/errors/dimensioner-error.ts";
import { terminalSchema } from "../../src/model/cloud-records.ts";

// Values that this package creates and never reads. The schemas of values from the network are in src/model, with the
// code that decodes them.

const text = v.nullable(v.string());
const bytes = v.pipe(v.number(), v.integer(), v.minValue(0));
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
      "Seconds since then, by this computer's clock; null if there has been no heartbeat.",
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

export const savedFile = described(
  "A file that a node has saved.",
  v.object({
    path: described("Its path. The file is complete, checked and synced.", v.string()),
    bytes: described("Its length.", bytes),
    sha256: described("Hash of its content, in lower-case hexadecimal.", sha256),
    contentType: described(
      "As the device or the cloud announces it, or else as the content shows.",
      v.string(),
    ),
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
    bytes: described("Its length.", bytes),
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
    files: described(
      "The images and videos; of a package that was there before, also those of the supplements to it.",
      v.array(archivedFile),
    ),
    bytes: described("Sum of their lengths.", bytes),
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
    references: sentReferences,
    tag: described(
      "The unique ID that was put into the custom reference chosen as tag; null if none was.",
      text,
    ),
  }),
);

export const messageParts = described(
  "Makes one list of many messages again in a Join node.",
  v.object({
    id: described("The same in all messages of one list.", v.string()),
    index: described("Counts from 0.", bytes),
    count: described("How many messages the list has become.", bytes),
    type: described("Tells Join to make an array of them.", v.literal("array")),
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
      described("The device's own error code, of a failed measurement.", v.number()),
    ),
    device: v.exactOptional(
      described(
        "The device by the name of its config node, or by its address if it has no name; through the cloud the registration code if no config node names that, or the cloud's name. Absent if none was chosen, and in the library.",
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
