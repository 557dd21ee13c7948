import type { NodeAPI } from "node-red";
import type { GivenMedium } from "../../jobs/accept/given-media.ts";
import { packageFolder } from "../../vault/packages/layout.ts";
import { pictures, type Intent, type Picture } from "../../vault/packages/intent.ts";
import { readExpected } from "../../cloud/expected-media.ts";
import { field, verbatim, phrase, type Phrase } from "../../errors/interpolation.ts";
import { encodePart } from "../../http/path-part.ts";
import { layoutProblem, commaSeparated } from "../../rules/names.ts";
import { readKept } from "./kept-properties.ts";
import { readFacts, type MessageFacts } from "./archive-facts.ts";
import type { ArchiveInput } from "./archive-input.ts";
import { longestMeasured, refuseLongMeasurement } from "./long-measurement.ts";
import { demandShortTexts } from "./short-texts.ts";
import { errorBeforeSending, show, type Operation } from "../failure.ts";
import type { Message } from "../messages.ts";
import type { FlagProperty, NumberProperty } from "../../properties/property-table.ts";
import { readNamedProperty } from "../config/property-setting.ts";
import { SettingsReader } from "../config/settings.ts";
import { readSetting } from "../action/message-choice.ts";
import type { ValueReader } from "../action/values.ts";

/** The properties of an archive node that define its jobs. */
export interface IntentProperties {
  readonly cloudFrom: string;
  readonly layout: string;
  readonly images: string;
  readonly deviceVideo: string | boolean;
  readonly transactionId: string;
  readonly transactionIdType: string;
  readonly media: string;
  readonly contentType: string;
  readonly contentTypeType: string;
  readonly expect: string;
  readonly expectType: string;
  readonly settle: string | number;
  readonly wait: string | number;
  readonly onIncomplete: string;
  readonly giveUp: string | number;
  readonly keep: string;
}

/** What the intent of one message is made from. */
export interface IntentReader {
  readonly RED: NodeAPI;
  readonly msg: Message;
  readonly values: ValueReader;
  readonly operation: Operation;
  readonly properties: IntentProperties;
  /** The table of these properties. */
  readonly table: {
    readonly media: { readonly of: readonly Intent["media"][] };
    readonly onIncomplete: { readonly of: readonly ("error" | "keep")[] };
    readonly deviceVideo: FlagProperty;
    readonly settle: NumberProperty;
    readonly wait: NumberProperty;
    readonly giveUp: NumberProperty;
  };
  /** The origin of the cloud that the message or the node chooses; null for none. */
  readonly origin: string | null;
  /** The media that the message brings. */
  readonly brought: readonly GivenMedium[];
  /** What a deployed device can do; throws ERR_CONFIG where it is not deployed. */
  readonly abilitiesOf: (deviceId: string) => {
    readonly hasImages: boolean;
    readonly takesReferences: boolean;
  };
}

/** Such a list has at most 1,000 entries, and real ones fewer than ten. The manifest repeats those that are missing. */
const longestExpected = 2_000;

/** Reads what to archive from a message. Throws ERR_INPUT or ERR_CONFIG, so that nothing is accepted. */
export async function readIntent(reader: IntentReader): Promise<Intent> {
  const { RED, msg, values, operation, properties, table, origin, brought } = reader;
  const hasMedia = brought.length > 0;
  const settings = new SettingsReader("node", operation);
  const media = readSetting(operation, "media", properties.media, table.media.of);
  const onIncomplete = readSetting(operation, "onIncomplete", properties.onIncomplete, table.onIncomplete.of);
  const problem = layoutProblem(properties.layout);
  if (problem !== null) {
    throw settings.invalid("layout", problem);
  }
  const images = readImages(properties.images, settings);
  const mayHaveVideo = settings.flag("deviceVideo", table.deviceVideo.default, properties.deviceVideo);
  const { references, device, local: measured, filmed, recordedBy, ...facts } = readMeasured(reader);
  const kept = mayHaveVideo ? filmed : null;
  const local = measured === null ? kept : { ...measured, videoAt: kept?.videoAt ?? null };
  const transactionId = await readTransactionId(reader, local !== null);
  const contentType = await values.optional({
    field: "contentType",
    value: properties.contentType,
    type: properties.contentTypeType,
  });
  const expect = media === "list" ? await readExpect(reader) : [];
  const sequence = hasMedia ? (readPart(msg)?.id ?? null) : null;
  const items = brought.map(({ content: _content, ...texts }) => texts);
  demandShortTexts({ transactionId, contentType, "parts.id": sequence, items }, operation);
  const isOnlyFilmed = measured === null && kept !== null;
  const isMeasured = facts.measurement !== null || facts.raw !== null;
  if (origin === null && !hasMedia && !isOnlyFilmed && !isMeasured) {
    throw errorBeforeSending(operation, "inputNothing");
  }
  const { hasImages = false, takesReferences = false } = local === null ? {} : reader.abilitiesOf(local.id);
  if (kept !== null) {
    reader.abilitiesOf(kept.id);
  }
  const measuredBy = local === null ? null : { ...local, images: hasImages && !isOnlyFilmed ? images : [] };
  const cloudFrom = { field: "cloudFrom", name: properties.cloudFrom.trim() } as const;
  const cloudName = cloudFrom.name === "" ? undefined : readNamedProperty(RED, msg, cloudFrom, operation);
  // A webhook's record is found by its references. A recording without a measurement has no such record, and some devices
  // take no references: without a transaction ID, the cloud is not asked then.
  const hasNoTransaction = transactionId === null && local !== null && (isOnlyFilmed || !takesReferences);
  return {
    transactionId,
    origin: hasNoTransaction ? null : origin,
    measuredBy,
    recordedBy: isOnlyFilmed ? null : recordedBy,
    media,
    contentType: contentType ?? null,
    expect,
    settleMs: settings.number("settle", table.settle, properties.settle),
    waitMs: settings.number("wait", table.wait, properties.wait),
    giveUpMs: settings.number("giveUp", table.giveUp, properties.giveUp),
    onIncomplete,
    folder: packageFolder(properties.layout, {
      date: new Date().toISOString().slice(0, 10),
      reference: references.transactionReference,
      transactionId: transactionId ?? local?.imageIdentifier ?? "no-transaction",
      device: local?.name ?? device,
    }),
    references,
    device: local?.name ?? device,
    ...facts,
    keep: readKept({ RED, msg, operation, keep: properties.keep }),
    cloudName: typeof cloudName === "string" ? cloudName : null,
    sequence,
  };
}

/** Reads the id of the transaction; null for a local measurement, whose transaction is searched for. */
async function readTransactionId(
  { msg, values, operation, properties, origin }: IntentReader,
  isLocal: boolean,
): Promise<string | null> {
  const given = await values.optional({
    field: "transactionId",
    value: properties.transactionId,
    type: properties.transactionIdType,
  });
  if (given === undefined && isLocal) {
    return null;
  }
  if (given === undefined && isLocalResult(msg)) {
    throw errorBeforeSending(operation, "inputMeasuredBy");
  }
  const transactionId = values.present("transactionId", given);
  if (origin !== null) {
    // Refused before the job is accepted.
    encodePart("cloud", operation.operation, "transactionId", transactionId);
  }
  return transactionId;
}

async function readExpect({ values, operation, properties }: IntentReader): Promise<string[]> {
  const given = { field: "expect", value: properties.expect, type: properties.expectType } as const;
  const list = await values.required(given);
  if (list.length > longestExpected) {
    throw errorBeforeSending(operation, "inputValue", {
      field: field("expect"),
      value: show(list),
      problem: phrase("tooLong", { most: longestExpected }),
    });
  }
  return readExpected(list);
}

function readImages(list: string, settings: SettingsReader): Picture[] {
  return commaSeparated(list).map((name) => {
    const found = pictures.find((one) => one === name);
    if (found === undefined) {
      throw settings.invalid("images", phrase("noneOf", { value: name, choices: pictures }));
    }
    return found;
  });
}

/** Serializes the measurement on the message. Throws ERR_INPUT if that is not possible, or if the message says too much about it. */
function readMeasured({ msg, operation }: IntentReader): MessageFacts {
  const refuse = (problem: Phrase) =>
    errorBeforeSending(operation, "inputValue", { field: verbatim("msg.payload"), value: "…", problem });
  refuseLongMeasurement(msg, operation);
  let facts: MessageFacts;
  try {
    facts = readFacts(msg);
  } catch {
    // It refers to itself, or is nested too deeply.
    throw refuse(phrase("notPlain"));
  }
  if ((facts.measurement?.length ?? 0) + (facts.raw?.length ?? 0) > longestMeasured) {
    throw refuse(phrase("measurementTooLarge"));
  }
  const { measurement: _measurement, raw: _raw, local: measuredBy, filmed: video, ...others } = facts;
  demandShortTexts({ ...others, measuredBy, video }, operation);
  return facts;
}

/**
 * Reads the position of a message in a sequence, as the core Split node and media list set it; null for a message
 * outside any. A count that is none counts as missing: the manifest has it where parts are missing.
 */
export function readPart(msg: ArchiveInput): { id: string; index: number; count: number | null } | null {
  const { parts } = msg;
  if (typeof parts !== "object" || parts === null || !("id" in parts) || !("index" in parts)) {
    return null;
  }
  const { id, index } = parts;
  if (typeof id !== "string" || !isCount(index)) {
    return null;
  }
  const count = "count" in parts && isCount(parts.count) && parts.count > 0 ? parts.count : null;
  return { id, index, count };
}

/** Whether a value is a number of things, or the place of one of them. */
function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/** Whether a device on the local network has measured: it does not know the cloud's transaction. */
function isLocalResult({ payload, imageIdentifier }: ArchiveInput): boolean {
  const source = typeof payload === "object" && payload !== null && "source" in payload ? payload.source : "";
  const hasImages = typeof imageIdentifier === "string" && imageIdentifier !== "";
  return hasImages || source === "newer-device" || source === "earlier-device";
}
