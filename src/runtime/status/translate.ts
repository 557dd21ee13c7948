import type { NodeAPI } from "node-red";
import type { DimensionerError, ErrorCode } from "../../errors.ts";
import { fillIn, inEnglish, spell, type Value } from "../../fill-in.ts";
import { failedTexts, statusTexts, type StatusKey } from "./status-texts.ts";

type Values = Readonly<Record<string, Value | undefined>>;

/** The texts that all nodes share stand in the catalog of the device node. */
const catalog = "@dimflow/node-red-dimensioner/dimensioner-device";

export function translateStatus(RED: NodeAPI, key: StatusKey, values: Values = {}): string {
  return translate(RED, `status.${key}`, values) ?? fillIn(englishStatus(key), values);
}

/**
 * Says the error in the runtime's language, in place: the same object travels on, so that what a sink of it shows and
 * what a Catch node reads never differ.
 */
export function translateError(RED: NodeAPI, error: DimensionerError): DimensionerError {
  const message = translate(RED, `errors.${error.sentence}`, error.values);
  const hint = translate(RED, `hints.${error.sentence}`, error.values);
  if (message !== undefined) {
    error.message = message;
  }
  if (hint !== undefined) {
    error.cause.hint = hint;
  }
  return error;
}

/** What goes into a sentence, in the runtime's language. */
export function translateValue(RED: NodeAPI, value: Value): string {
  return spell(value, (phrase) => translate(RED, phrase.phrase, phrase.values ?? {}) ?? inEnglish(phrase));
}

/** Undefined where the catalog has no such key: Node-RED then answers with the key itself. */
function translate(RED: NodeAPI, key: string, values: Values): string | undefined {
  const said: Record<string, string> = {};
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined) {
      said[name] = translateValue(RED, value);
    }
  }
  const text: unknown = RED._(`${catalog}:${key}`, said);
  return typeof text === "string" && !text.endsWith(key) ? text : undefined;
}

function englishStatus(key: StatusKey): string {
  return key.startsWith("failed.")
    ? failedTexts[key.slice("failed.".length) as ErrorCode]
    : statusTexts[key as keyof typeof statusTexts];
}
