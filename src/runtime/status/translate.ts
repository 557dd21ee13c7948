import type { NodeAPI } from "node-red";
import type { DimensionerError, ErrorCode } from "../../errors/dimensioner-error.ts";
import { interpolate, inEnglish, spell, type Value } from "../../errors/interpolation.ts";
import { NodeError } from "./node-error.ts";
import { failedTexts, statusTexts, type StatusKey } from "./status-texts.ts";

type Values = Readonly<Record<string, Value | undefined>>;

/** The texts that all nodes share stand in the catalog of the device node. */
const catalog = "@dimflow/node-red-dimensioner/dimensioner-device";

export function translateStatus(RED: NodeAPI, key: StatusKey, values: Values = {}): string {
  return translate(RED, `status.${key}`, values) ?? interpolate(englishStatus(key), values);
}

/** The error as flows get it: in the runtime's language. */
export function translateError(RED: NodeAPI, error: DimensionerError): NodeError {
  const message = translate(RED, `errors.${error.sentence}`, error.values) ?? error.message;
  const hint = translate(RED, `hints.${error.sentence}`, error.values) ?? error.details.hint;
  return new NodeError(error, message, { ...error.details, hint });
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
