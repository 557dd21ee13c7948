import { DimensionerError, type FailureFacts } from "./dimensioner-error.ts";
import { field, onOneLine, phrase, verbatim, type Phrase, type Problem } from "./interpolation.ts";
import { fields } from "./phrases.ts";

/**
 * Checks options and arguments of the public functions. TypeScript's compiler knows their types too; these checks are
 * for callers without it, and for values from outside: they get a documented error, never a TypeError from inside the
 * library.
 */

/** A part of a value that is not valid: its path, the part itself, and why it is not valid. */
interface Fault {
  readonly path: readonly string[];
  readonly value: unknown;
  readonly problem: Problem;
}

/** Returns undefined if the value is valid. */
export type Rule = (value: unknown) => Fault | undefined;

/** The longest time of a Node.js timer; with a longer one it would fire at once. */
const longestMs = 2 ** 31 - 1;

function rule(isRight: (value: unknown) => boolean, problem: Phrase): Rule {
  return (value) => (isRight(value) ? undefined : { path: [], value, problem });
}

export const aText = rule((value) => typeof value === "string", phrase("text"));
export const trueOrFalse = rule((value) => typeof value === "boolean", phrase("trueOrFalse"));
export const aFunction = rule((value) => typeof value === "function", phrase("aFunction"));
export const aWholeNumber = rule(
  (value) => typeof value === "number" && Number.isSafeInteger(value) && value >= 0,
  phrase("wholeNumber"),
);
export const atLeastOne = rule(
  (value) => typeof value === "number" && Number.isSafeInteger(value) && value >= 1,
  phrase("oneOrMore"),
);
export const aListOfTexts = rule(
  (value) => Array.isArray(value) && value.every((one) => typeof one === "string"),
  phrase("texts"),
);
export const aTextOrTexts: Rule = (value) => (typeof value === "string" ? undefined : aListOfTexts(value));
export const aDate = rule(
  (value) => value instanceof Date && !Number.isNaN(value.getTime()),
  phrase("instance", { name: "Date" }),
);
/** Recognized by its methods, since a signal may come from another realm. */
export const aSignal = rule(
  (value) =>
    typeof value === "object" &&
    value !== null &&
    "aborted" in value &&
    typeof value.aborted === "boolean" &&
    "addEventListener" in value &&
    typeof value.addEventListener === "function",
  phrase("instance", { name: "AbortSignal" }),
);
export const aProxyUrl = rule(
  (value) => typeof value === "string" && (value === "" || isHttpUrl(value)),
  phrase("proxyAddress"),
);

export function milliseconds(least: 0 | 1): Rule {
  return rule(
    (value) => typeof value === "number" && value >= least && value <= longestMs,
    phrase("milliseconds", { least, most: longestMs }),
  );
}

export function oneOf(choices: readonly string[]): Rule {
  return rule((value) => choices.some((one) => one === value), phrase("oneOf", { choices }));
}

export function anInstance(type: abstract new (...given: never[]) => unknown): Rule {
  return rule((value) => value instanceof type, phrase("instance", { name: type.name }));
}

/**
 * An object with these properties. A property that is not required may be missing or undefined; other properties are
 * ignored.
 */
export function anObject(rules: Readonly<Record<string, Rule>>, required: readonly string[] = []): Rule {
  const checks = Object.entries(rules);
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return { path: [], value, problem: phrase("object") };
    }
    for (const [name, check] of checks) {
      const given: unknown = Reflect.get(value, name);
      const fault = given === undefined && !required.includes(name) ? undefined : check(given);
      if (fault !== undefined) {
        return { ...fault, path: [name, ...fault.path] };
      }
    }
    return undefined;
  };
}

/** The options of every call. */
export const callOptions = anObject({
  signal: aSignal,
  waitSignal: aSignal,
  onWaiting: aFunction,
  onTurn: aFunction,
  onProgress: aFunction,
  onNoTerminals: aFunction,
  waitMs: milliseconds(0),
  contentType: aText,
  expect: aListOfTexts,
});

/** Four of them in any script are in a request whose first line every server reads: 8 kB, with 9 characters for each of theirs. */
const longestReference = 200;
const isShort = rule(
  (value) => typeof value === "string" && value.length <= longestReference,
  phrase("tooLong", { most: longestReference }),
);
export const aReference: Rule = (value) => aText(value) ?? isShort(value);

export const references = anObject({
  transactionReference: aReference,
  customReference1: aReference,
  customReference2: aReference,
  customReference3: aReference,
});

/** Throws ERR_CONFIG if the options of a client are not valid. The error shows no value, because it may be a token. */
export function checkOptions(what: "cloud" | "device", options: unknown, check: Rule): void {
  const fault = check(options);
  if (fault !== undefined) {
    throw new DimensionerError(
      "configInvalid",
      { surface: "config", operation: "settings" },
      {
        what: phrase(what),
        field: nameOf(fault.path.length === 0 ? ["options"] : fault.path),
        problem: fault.problem,
      },
    );
  }
}

/** Throws ERR_INPUT if an argument is not valid, before anything is sent. */
export function checkArguments(
  facts: FailureFacts,
  given: Readonly<Record<string, unknown>>,
  rules: Readonly<Record<string, Rule>>,
): void {
  const fault = anObject(rules, Object.keys(given))(given);
  if (fault === undefined) {
    return;
  }
  const name = nameOf(fault.path);
  throw fault.value === undefined || fault.value === null
    ? new DimensionerError("inputMissing", facts, { field: name })
    : new DimensionerError("inputValue", facts, {
        field: name,
        value: describe(fault.value),
        problem: fault.problem,
      });
}

/** A property that the dialogs have too is named as they name it when a node reports the error. */
function nameOf(path: readonly string[]): Problem {
  const known = fields.find((name) => name === path.at(-1));
  return known === undefined ? verbatim(path.join(".")) : field(known);
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

/** A value for a sentence. An object may not even have a `toString()`. */
function describe(value: unknown): string {
  switch (typeof value) {
    case "string":
    case "number":
    case "bigint":
    case "boolean":
      return onOneLine(String(value)).slice(0, 60).toWellFormed();
    case "object":
      return Array.isArray(value) ? "[…]" : "{…}";
    default:
      return typeof value;
  }
}
