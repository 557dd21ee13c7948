import type { Node, NodeAPI, NodeDef } from "node-red";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { type FieldName, type Problem, field, phrase, verbatim } from "../../errors/interpolation.ts";
import type { SentenceKey } from "../../errors/sentences.ts";
import type { References } from "../../model/measurement.ts";
import { bytesOf, decodeText } from "../../scan/read-code.ts";
import { afterLimit } from "../../time/after-limit.ts";
import { isKnown, migrate } from "../../properties/migrations.ts";
import {
  type Operation,
  errorBeforeSending,
  show,
  type Message,
  expressionProblem,
  readMessageProperty,
} from "../messages.ts";

/** A value and its type: the pair `x` + `xType` of a node's properties. */
export interface TypedValue {
  readonly field: FieldName;
  readonly value: string;
  readonly type: string;
}

/** Reads the values of one message that can come from it. */
export class ValueReader {
  readonly #RED: NodeAPI;
  readonly #node: Node;
  readonly #msg: Message;
  readonly #operation: Operation;

  constructor(RED: NodeAPI, node: Node, msg: Message, operation: Operation) {
    this.#RED = RED;
    this.#node = node;
    this.#msg = msg;
    this.#operation = operation;
  }

  /** Reads a value as text; undefined if it is missing, an object or "". */
  optional(given: TypedValue): string | undefined | Promise<string | undefined> {
    return this.read(given, (value) => asText(this.#exact(field(given.field), value)));
  }

  /**
   * Reads a value `as` what is needed. Throws ERR_INPUT for an invalid expression. It returns a promise only if Node-RED
   * has to evaluate the value, so that the two usual cases need no extra turn.
   */
  read<T>({ field: name, value, type }: TypedValue, as: (value: unknown) => T): T | Promise<T> {
    if (type === "str" || value === "") {
      return as(value);
    }
    if (type !== "msg") {
      return this.#evaluate(name, value, type, as);
    }
    try {
      return as(readMessageProperty(this.#RED, this.#msg, value));
    } catch (error) {
      throw this.#badExpression(name, error);
    }
  }

  /** The same for a value that is required. */
  async required(given: TypedValue): Promise<string> {
    return this.present(given.field, await this.optional(given));
  }

  /** The same for a value that was read before; `sentence` is the error if it is missing. */
  present(name: FieldName, text: string | undefined, sentence: SentenceKey = "inputMissing"): string {
    if (text === undefined) {
      throw errorBeforeSending(this.#operation, sentence, { field: field(name) });
    }
    return text;
  }

  /** Reads a reference. Throws ERR_INPUT for a number that is rounded. */
  reference(name: Problem, value: unknown): string | undefined {
    return asReference(this.#exact(name, value));
  }

  /** A number that is rounded would be the reference or the ID of something else. */
  #exact(name: Problem, value: unknown): unknown {
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
      const values = { field: name, value: show(value), problem: phrase("numberInexact") };
      throw errorBeforeSending(this.#operation, "inputValue", values);
    }
    return value;
  }

  async #evaluate<T>(name: FieldName, value: string, type: string, as: (value: unknown) => T): Promise<T> {
    let found: unknown;
    try {
      found = await evaluateProperty(this.#RED, this.#node, this.#msg, value, type);
    } catch (error) {
      throw this.#badExpression(name, error);
    }
    if (found === notAnswered) {
      const values = { field: field(name), seconds: contextMs / 1_000 };
      throw errorBeforeSending(this.#operation, "inputContextSilent", values);
    }
    return as(found);
  }

  #badExpression(name: FieldName, error: unknown): DimensionerError {
    if (error instanceof DimensionerError) {
      return error;
    }
    return errorBeforeSending(this.#operation, "inputExpression", {
      field: field(name),
      problem: expressionProblem(error),
    });
  }
}

const referenceNames = [
  "transactionReference",
  "customReference1",
  "customReference2",
  "customReference3",
] as const;

type ReferenceName = (typeof referenceNames)[number];

/** The properties of a node that accepts references, each with its type. */
export type ReferenceProperties = Readonly<Record<ReferenceName | `${ReferenceName}Type`, string>>;

export async function readReferences(values: ValueReader, given: ReferenceProperties): Promise<References> {
  const references: Partial<Record<ReferenceName, string>> = {};
  for (const name of referenceNames) {
    const read = values.read({ field: name, value: given[name], type: given[`${name}Type`] }, (value) =>
      values.reference(field(name), value),
    );
    const text = read instanceof Promise ? await read : read;
    if (text !== undefined) {
      references[name] = text;
    }
  }
  return references;
}

/**
 * Reads the references of a parcel. If the message has no transactionReference, the text, number or Buffer of text in msg.payload
 * is the reference, as a scan is; not that of a control code, nor for a node whose reference is set to come from elsewhere.
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
  const isControl = scanOf(msg["control"]) !== undefined;
  const transactionReference = isControl
    ? undefined
    : values.reference(verbatim("msg.payload"), typeof msg.payload === "boolean" ? undefined : msg.payload);
  return transactionReference === undefined ? references : { ...references, transactionReference };
}

/** Returns the reference of a parcel for which one is required. Throws ERR_INPUT if there is none. */
export function demandReference(
  values: ValueReader,
  given: ReferenceProperties,
  { transactionReference }: References,
): string {
  const sentence = isFromScan(given) ? "inputScanEmpty" : "inputMissing";
  return values.present("transactionReference", transactionReference, sentence);
}

/** Whether the reference is set as it is in a new node. */
function isFromScan(given: ReferenceProperties): boolean {
  return given.transactionReferenceType === "msg" && given.transactionReference === "transactionReference";
}

/** Reads a scan: an object, true and false are none, because the messages of many triggers have them. */
function scanOf(payload: unknown): string | undefined {
  return typeof payload === "boolean" ? undefined : asReference(payload);
}

/** What no label begins or ends with: spaces, line ends, other control characters, and characters that cannot be seen. */
const atEnds = /[\s\p{Cc}\p{Cf}]/u;
/** Control characters that are in no label, as they are in the bytes of a picture; those that divide GS1 codes may be. */
// oxlint-disable-next-line no-control-regex -- They are what it is about.
const notOfText = /[\0-\x03\x05-\x08\x0b\x0c\x0e-\x1b]/;

/** Reads a reference as people mean it; undefined if it is missing, empty, an object, or a Buffer of something other than text. */
export function asReference(value: unknown): string | undefined {
  const bytes = bytesOf(value);
  const text = bytes === undefined ? asText(value) : decodeText(bytes);
  if (text === undefined) {
    return undefined;
  }
  let [start, end] = [0, text.length];
  // No expression with an end does this in a time in proportion to the text's length.
  while (start < end && atEnds.test(text.charAt(start))) {
    start++;
  }
  while (end > start && atEnds.test(text.charAt(end - 1))) {
    end--;
  }
  const reference = text.slice(start, end);
  return reference === "" || (bytes !== undefined && notOfText.test(reference)) ? undefined : reference;
}

export function asText(value: unknown): string | undefined {
  switch (typeof value) {
    case "string":
      return value === "" ? undefined : value;
    case "number":
      return Number.isFinite(value) ? String(value) : undefined;
    case "bigint":
    case "boolean":
      return String(value);
    default:
      return undefined;
  }
}

/** How long a context store may take; one that is not in this process may never answer. */
const contextMs = 10_000;
const notAnswered = Symbol("not answered");

/**
 * Lets Node-RED evaluate a typed value: JSONata, an environment variable, a value of the flow or global context.
 * Resolves to `notAnswered` if a context store does not answer.
 */
function evaluateProperty(
  RED: NodeAPI,
  node: Node,
  msg: Message,
  value: string,
  type: string,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const stopTimer = afterLimit(contextMs, () => resolve(notAnswered));
    try {
      RED.util.evaluateNodeProperty(value, type, node, msg, (error, found: unknown) => {
        stopTimer();
        if (error) {
          reject(error);
        } else {
          resolve(found);
        }
      });
    } catch (error) {
      stopTimer();
      throw error;
    }
  });
}

/** Reads a setting that is not in a table of properties. Throws ERR_CONFIG if it is none of the choices. */
export function readSetting<const T extends string>(
  operation: Operation,
  name: FieldName,
  given: string,
  choices: readonly T[],
): T {
  const found = choices.find((one) => one === given);
  if (found === undefined) {
    const value = show(given);
    throw errorBeforeSending(operation, "configChoice", { field: field(name), value, choices });
  }
  return found;
}

/**
 * Reads a setting, or the message property of its name if the setting is "msg". Throws ERR_INPUT if that is none of the
 * choices.
 */
export function readChoice<const T extends string>(
  msg: Message,
  operation: Operation,
  name: "action" | "image" | "preset",
  setting: T,
  choices: readonly T[],
): Exclude<T, "msg"> {
  const fixed = choices.filter((one): one is Exclude<T, "msg"> => one !== "msg");
  const given = setting === "msg" ? msg[name] : setting;
  const found = fixed.find((one) => one === given);
  if (found !== undefined) {
    return found;
  }
  const property = verbatim(`msg.${name}`);
  throw given === undefined || given === ""
    ? errorBeforeSending(operation, "inputMissing", { field: property })
    : errorBeforeSending(operation, "inputValue", {
        field: property,
        value: show(given),
        problem: phrase("oneOf", { choices: fixed }),
      });
}

/** Properties with the version with which they were saved. */
export interface Versioned {
  readonly version: number;
}

/** A node's properties, migrated to the present version and with defaults for those that were not saved. */
export function readSaved<P extends Versioned>(defaults: P, config: NodeDef & Partial<P>): P {
  return Object.assign({ ...defaults }, migrate(config.type, { ...config }));
}

/** The same for nodes without a status of their own: throws ERR_CONFIG if a newer version has saved them. */
export function readCurrent<P extends Versioned>(defaults: P, config: NodeDef & Partial<P>): P {
  const properties = readSaved(defaults, config);
  refuseNewer(config.type, properties, { operation: "settings", surface: "config", acts: false });
  return properties;
}

/**
 * Throws ERR_CONFIG if a newer version of the package has saved the node: its properties may mean something else there,
 * and a guess could act on the wrong device or save to the wrong folder.
 */
export function refuseNewer(type: string, { version }: Versioned, operation: Operation): void {
  if (!isKnown(type, { version })) {
    throw errorBeforeSending(operation, "configNewer");
  }
}
