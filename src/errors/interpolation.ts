import { phrases, type fields } from "./phrases.ts";

/** Below which keys the catalogs have a phrase. */
type PhraseKey = `phrases.${keyof typeof phrases}` | `fields.${FieldName}`;

export type FieldName = (typeof fields)[number];

/** What this package itself says, for whoever shows it to say in the reader's language. */
export interface Phrase {
  readonly phrase: PhraseKey;
  readonly values?: Values;
}

/** What a system, a machine or a person said, or a name of the API: shown as it is, in any language. */
interface Verbatim {
  readonly verbatim: string;
}

export type Problem = Phrase | Verbatim;

export type Value = string | number | Problem | readonly Value[];

/**
 * What fills the marks of sentences and phrases, by their names. Only what always comes from outside is text: of what
 * could be this package's own words the compiler wants to know whose they are.
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
  /** As the API calls them. */
  readonly choices?: readonly string[];
  readonly missing?: readonly Problem[];
};

const longestVerbatim = 200;

export function phrase(key: keyof typeof phrases, values?: Values): Phrase {
  return values === undefined ? { phrase: `phrases.${key}` } : { phrase: `phrases.${key}`, values };
}

/** A property as the forms call it. */
export function field(name: FieldName): Phrase {
  return { phrase: `fields.${name}` };
}

export function verbatim(text: string): Verbatim {
  return { verbatim: text };
}

/** An error that a sentence is still to be made of. */
export class ProblemError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem, options?: ErrorOptions) {
    super(inEnglish(problem), options);
    this.problem = problem;
  }
}

/** What went wrong, as a sentence goes on with it. */
export function problemOf(error: unknown): Problem {
  if (error instanceof ProblemError) {
    return error.problem;
  }
  // Cut first: over a text of megabytes the pattern would take hours.
  const text = beginning(error instanceof Error ? error.message : String(error)).replace(/[.\s]+$/, "");
  return text === "" ? phrase("unknownCause") : verbatim(text);
}

/** Fills the `__name__` marks in English; a mark without a value stays, so that a slip is seen. */
export function interpolate(text: string, values: Readonly<Record<string, Value | undefined>>): string {
  return text.replace(/__(\w+?)__/g, (mark, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    return value === undefined ? mark : inEnglish(value);
  });
}

export function inEnglish(value: Value): string {
  return render(value, {
    number: String,
    phrase: ({ phrase: key, values = {} }) => interpolate(englishOf(key), values),
  });
}

/** How a language says what is not text already. */
interface Language {
  readonly number: (value: number) => string;
  readonly phrase: (value: Phrase) => string;
}

/** A value as text. */
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
 * Text from outside as a log, a status or a sentence shows it: no control character forges a line or a colour, and no
 * direction mark turns around what stands behind it.
 */
export function onOneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").replace(/\p{Bidi_Control}/gu, "");
}

/** As much of what a system or a machine says as a sentence has room for. */
export function beginning(text: string): string {
  return text.length > longestVerbatim ? `${text.slice(0, longestVerbatim).toWellFormed()}…` : text;
}

function englishOf(key: PhraseKey): string {
  const [group, name] = key.split(".") as ["phrases", keyof typeof phrases] | ["fields", FieldName];
  return group === "phrases" ? phrases[name] : name;
}
