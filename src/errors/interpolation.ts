import { fillIn } from "../rules/fill-in.ts";
import { fields, phrases } from "./phrases.ts";

/** The keys of the phrases in the catalogs. */
type PhraseKey = `phrases.${keyof typeof phrases}` | `fields.${FieldName}`;

export type FieldName = (typeof fields)[number];

/** A text of this package, which can be shown in the reader's language. */
export interface Phrase {
  readonly phrase: PhraseKey;
  readonly values?: Values;
}

/**
 * A text from outside, such as from a system, a device or a person, or a name of the API: shown unchanged in every
 * language.
 */
interface Verbatim {
  readonly verbatim: string;
}

export type Problem = Phrase | Verbatim;

export type Value = string | number | Problem | readonly Value[];

/**
 * The values for the placeholders of sentences and phrases, by name. Only values that always come from outside can be
 * plain text: for all others the compiler requires a decision between `phrase` and `verbatim`.
 */
export type Values = {
  readonly [name in "address" | "computer" | "host" | "name" | "origin" | "path"]?: string;
} & {
  readonly [name in "reference" | "value" | "words"]?: string;
} & {
  readonly [name in "bytes" | "count" | "described" | "least" | "most" | "process"]?: number;
} & {
  readonly [name in "seconds" | "statusCode" | "total"]?: number;
} & {
  readonly [name in "code" | "limit"]?: number | Phrase;
} & {
  readonly [name in "feature" | "generation" | "holder" | "what"]?: Phrase;
} & {
  readonly [name in "field" | "problem"]?: Problem;
} & {
  /** The names of the API. */
  readonly choices?: readonly string[];
  readonly missing?: readonly Problem[];
};

const longestVerbatim = 200;

export function phrase(key: keyof typeof phrases, values?: Values): Phrase {
  return values === undefined ? { phrase: `phrases.${key}` } : { phrase: `phrases.${key}`, values };
}

/** A property by its name in the dialogs. */
export function field(name: FieldName): Phrase {
  return { phrase: `fields.${name}` };
}

/** Whether a property has a name in the dialogs that sentences can use. */
export function isField(name: string): name is FieldName {
  return fields.some((one) => one === name);
}

export function verbatim(text: string): Verbatim {
  return { verbatim: text };
}

/** An error that is to become the value of a sentence. */
export class ProblemError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem, options?: ErrorOptions) {
    super(inEnglish(problem), options);
    this.problem = problem;
  }
}

/** The text of whatever was thrown; empty if it has none. */
export function textOfThrown(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    // An object whose toString is no function, such as one from JSON.
    return "";
  }
}

/** An error as the value of a sentence. */
export function problemOf(error: unknown): Problem {
  if (error instanceof ProblemError) {
    return error.problem;
  }
  // Cut before it is searched: in a text of megabytes the pattern would take hours.
  const text = beginning(textOfThrown(error)).replace(/[.\s]+$/, "");
  return text === "" ? phrase("unknownCause") : verbatim(text);
}

/** Fills the placeholders of a text in English. */
export function interpolate(text: string, values: Readonly<Record<string, Value | undefined>>): string {
  return fillIn(text, values, inEnglish);
}

export function inEnglish(value: Value): string {
  return render(value, {
    number: String,
    phrase: ({ phrase: key, values = {} }) => interpolate(englishOf(key), values),
  });
}

/** How a language shows phrases, sizes and numbers. */
interface Language {
  readonly number: (value: number) => string;
  readonly phrase: (value: Phrase) => string;
}

/** Converts a value to text. */
export function render(value: Value, language: Language): string {
  if (typeof value === "number") {
    return language.number(value);
  }
  if (typeof value === "string") {
    return onOneLine(value);
  }
  if ("phrase" in value) {
    return language.phrase(value);
  }
  return "verbatim" in value
    ? beginning(onOneLine(value.verbatim))
    : value.map((one) => render(one, language)).join(", ");
}

/**
 * Text from outside as a log, a status or a sentence may show it: control characters cannot forge a line or a colour,
 * and direction marks cannot reverse the text behind them.
 */
export function onOneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").replace(/\p{Bidi_Control}/gu, "");
}

/** The beginning of a text from outside, as much as fits into a sentence. */
export function beginning(text: string): string {
  return text.length > longestVerbatim ? `${text.slice(0, longestVerbatim).toWellFormed()}…` : text;
}

function englishOf(key: PhraseKey): string {
  const [group, name] = key.split(".") as ["phrases", keyof typeof phrases] | ["fields", FieldName];
  return group === "phrases" ? phrases[name] : name;
}
