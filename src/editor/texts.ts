import { formatBytes } from "../rules/bytes.ts";
import { fillIn } from "../rules/fill-in.ts";
import type { Problem } from "../rules/problem.ts";
import { ago } from "./times.ts";

const packageName = "@dimflow/node-red-dimensioner";
const sharedCatalog = "dimensioner-device";

export type Texts = (key: string, values?: Record<string, string | number>) => string;

/**
 * The texts of one node type's catalog; a key with the prefix `shared:` is looked up in the catalog that all types
 * share.
 */
export function textsOf(type: string): Texts {
  return (key, values = {}) => {
    const [catalog, name] = key.startsWith("shared:") ? [sharedCatalog, key.slice(7)] : [type, key];
    // Filled here: the library of the editor would look in the values for references to other texts.
    return fillIn(RED._(`${packageName}/${catalog}:${name}`), values, String);
  };
}

const deviceTexts = textsOf(sharedCatalog);

/** The catalog that all types share is that of the device config node. */
export const shared: Texts = (key, values) => deviceTexts(`common.${key}`, values);

/** The problem that a rule has found, as a sentence of its own; the runtime puts the same text behind a colon. */
export function sayProblem(problem: Problem): string {
  const said = say(problem);
  return said.charAt(0).toLocaleUpperCase() + said.slice(1);
}

/**
 * The values for the placeholders of a sentence: phrases by their keys, plain text, sizes and times; see
 * src/errors/interpolation.ts.
 */
function say(value: unknown): string {
  if (Array.isArray(value)) {
    return value.map(say).join(", ");
  }
  if (typeof value !== "object" || value === null) {
    return String(value);
  }
  const { phrase, values, verbatim, bytes, time } = value as Readonly<Record<string, unknown>>;
  if (typeof bytes === "number") {
    return formatBytes(bytes, RED.i18n.lang());
  }
  if (typeof time === "string") {
    return ago(time) ?? time;
  }
  if (typeof phrase !== "string") {
    return String(verbatim);
  }
  return deviceTexts(phrase, sayEach(typeof values === "object" && values !== null ? values : {}));
}

function sayEach(values: object): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, say(value)]));
}

/** A sentence that the runtime names by its key: an error of a flow, or a result of a test. */
export function sharedSentence(
  from: "errors" | "test",
  key: string,
  values: Readonly<Record<string, unknown>>,
): string {
  const said = sayEach(values);
  return from === "errors" ? deviceTexts(`errors.${key}`, said) : shared(`test.${key}`, said);
}
