import type { NodeAPI } from "node-red";
import type { DimensionerError, ErrorCode } from "../../errors/dimensioner-error.ts";
import { inEnglish, interpolate, render, type Value } from "../../errors/interpolation.ts";
import { nodeWordings } from "../../errors/sentences.ts";
import { NodeError } from "./node-error.ts";
import { formatBytes } from "../../rules/bytes.ts";
import { fillIn } from "../../rules/fill-in.ts";
import { failedTexts, statusTexts, type StatusKey } from "./status-texts.ts";

type Values = Readonly<Record<string, Value | undefined>>;

/** The catalog that all nodes share is that of the device node. */
const catalog = "@dimflow/node-red-dimensioner/dimensioner-device";

/** A size in a status, shown in a suitable unit and in the format of the language. */
interface Size {
  readonly bytes: number;
}

export type StatusValues = Readonly<Record<string, string | number | Size>>;

export function translateStatus(RED: NodeAPI, key: StatusKey, given: StatusValues = {}): string {
  const values = formatSizes(RED, given);
  return translate(RED, `status.${key}`, values) ?? interpolate(englishStatus(key), values);
}

/** The same values, with sizes converted to text. */
export function formatSizes(RED: NodeAPI, given: StatusValues): Record<string, string | number> {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      typeof value === "object" ? formatBytes(value.bytes, languageOf(RED)) : value,
    ]),
  );
}

/** The language of the catalog in use, as `Intl` names it. */
export function languageOf(RED: NodeAPI): string {
  return lookUp(RED, `${catalog}:format.language`) ?? "en-US";
}

/** Converts an error to the one that flows get: in the runtime's language, with the name of the device or cloud. */
export function translateError(RED: NodeAPI, error: DimensionerError, device?: string): NodeError {
  const { textKey, values, details } = error;
  // If no catalog was loaded, the text is English.
  const { text = error.message, hint: englishHint = details.hint } = nodeWordings.get(textKey) ?? {};
  const message = translate(RED, `errors.${textKey}`, values) ?? interpolate(text, values);
  const hint = translate(RED, `hints.${textKey}`, values) ?? interpolate(englishHint, values);
  return new NodeError(error, message, { ...details, ...(device === undefined ? {} : { device }), hint });
}

/** Converts a value for a sentence in the runtime's language. */
export function translateValue(RED: NodeAPI, value: Value): string {
  return render(value, {
    // Without grouping, because most numbers in sentences are codes and statuses.
    number: (number) => new Intl.NumberFormat(languageOf(RED), { useGrouping: false }).format(number),
    phrase: (phrase) => translate(RED, phrase.phrase, phrase.values ?? {}) ?? inEnglish(phrase),
  });
}

function translate(RED: NodeAPI, key: string, values: Values): string | undefined {
  const text = lookUp(RED, `${catalog}:${key}`);
  return text === undefined ? undefined : fillIn(text, values, (value) => translateValue(RED, value));
}

/**
 * Returns a text with its placeholders; undefined if the catalog has no such key: Node-RED returns the key itself then. Node-RED does not
 * get the values: its library would look in them for references to other texts, and search for hours behind an open "$t(".
 */
export function lookUp(RED: NodeAPI, key: string): string | undefined {
  const text: unknown = RED._(key);
  return typeof text === "string" && !text.endsWith(key.slice(key.indexOf(":") + 1)) ? text : undefined;
}

function englishStatus(key: StatusKey): string {
  return key.startsWith("failed.")
    ? failedTexts[key.slice("failed.".length) as ErrorCode]
    : statusTexts[key as keyof typeof statusTexts];
}
