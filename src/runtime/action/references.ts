import type { References } from "../../model/measurement.ts";
import type { Message } from "../messages.ts";
import type { ValueReader } from "./values.ts";

const referenceNames = [
  "transactionReference",
  "customReference1",
  "customReference2",
  "customReference3",
] as const;

type ReferenceName = (typeof referenceNames)[number];

/** The properties of a node that takes references: each value and where it comes from. */
export type ReferenceProperties = Readonly<Record<ReferenceName | `${ReferenceName}Type`, string>>;

export async function readReferences(values: ValueReader, given: ReferenceProperties): Promise<References> {
  const references: Partial<Record<ReferenceName, string>> = {};
  for (const field of referenceNames) {
    const read = values.optional({ field, value: given[field], type: given[`${field}Type`] });
    const text = read instanceof Promise ? await read : read;
    if (text !== undefined) {
      references[field] = text;
    }
  }
  return references;
}

/**
 * The references of a parcel. Where the message has no transactionReference, the scan that started it is the reference:
 * a text or a number in msg.payload. A node that takes the reference from elsewhere leaves the payload alone.
 */
export async function readParcel(
  values: ValueReader,
  msg: Message,
  given: ReferenceProperties,
): Promise<References> {
  const references = await readReferences(values, given);
  if (references.transactionReference !== undefined || !isFromScan(given)) {
    return references;
  }
  const transactionReference = scanOf(msg.payload);
  return transactionReference === undefined ? references : { ...references, transactionReference };
}

/** The reference of a parcel that has to have one. Throws ERR_INPUT. */
export function demandReference(
  values: ValueReader,
  given: ReferenceProperties,
  { transactionReference }: References,
): string {
  const sentence = isFromScan(given) ? "inputScanEmpty" : "inputMissing";
  return values.present("transactionReference", transactionReference, sentence);
}

/** Whether the node is set as it comes from the palette. */
function isFromScan(given: ReferenceProperties): boolean {
  return given.transactionReferenceType === "msg" && given.transactionReference === "transactionReference";
}

/** Without the line end that scanners send after a code. An object, a Buffer and an empty text are no scan. */
function scanOf(payload: unknown): string | undefined {
  if (typeof payload === "number" && Number.isFinite(payload)) {
    return String(payload);
  }
  const text = typeof payload === "string" ? payload.trim() : "";
  return text === "" ? undefined : text;
}
