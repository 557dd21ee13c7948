import * as v from "valibot";
import { phrase, ProblemError } from "../errors/interpolation.ts";

/**
 * A value from the network does not have the type that the API promises. The message names the field and never quotes
 * its value, which may be long or contain the token.
 */
export class ShapeError extends ProblemError {}

export function decode<const TSchema extends v.GenericSchema>(
  schema: TSchema,
  value: unknown,
): v.InferOutput<TSchema> {
  const result = v.safeParse(schema, value, { abortEarly: true });
  if (result.success) {
    return result.output;
  }
  const [issue] = result.issues;
  const name = v.getDotPath(issue);
  if (name === null) {
    throw new ShapeError(phrase("otherForm"));
  }
  if (typeof issue.input === "string" && /^\s*-?\d+,\d+\s*$/.test(issue.input)) {
    throw new ShapeError(phrase("decimalComma", { name }));
  }
  if (issue.type === "gt_value" || issue.type === "min_value") {
    throw new ShapeError(phrase(issue.type === "gt_value" ? "notAboveZero" : "negative", { name }));
  }
  if (issue.type === "max_length" && typeof issue.requirement === "number") {
    throw new ShapeError(phrase("textLong", { name, most: issue.requirement }));
  }
  const isMissing = issue.received === "undefined";
  throw new ShapeError(phrase(isMissing ? "fieldMissing" : "fieldForm", { name }));
}

// Schemas of fields in data from the network. Each has a description and, as the last schema of its pipe, the type of
// the value once it was read: types and documentation are generated from there (tools/write-docs). What is missing or
// cannot be used is null: one odd field must not cost a whole record.

const nullableText = v.nullable(v.string());
const nullableNumber = v.nullable(v.number());
const nullableInteger = v.nullable(v.pipe(v.number(), v.integer()));
const nullableFlag = v.nullable(v.boolean());

/** A longer text of an answer or a record cannot be used: no reference and no sentence has as many characters. */
const longestText = 10_000;
/** The same of a unit, which stands in every summary. */
const longestUnit = 300;

const textUpTo = (most: number) =>
  v.optional(
    v.nullable(v.pipe(v.union([v.string(), v.number()]), v.transform(String), v.maxLength(most))),
    null,
  );
const wireText = textUpTo(longestText);
const wireUnit = textUpTo(longestUnit);
const emptyText = v.pipe(
  v.string(),
  v.trim(),
  v.empty(),
  v.transform(() => null),
);
const numberInWords = v.pipe(v.string(), v.trim(), v.maxLength(30), v.decimal(), v.transform(Number));
const finite = v.pipe(v.number(), v.finite());
const wireDecimal = v.optional(v.nullable(v.union([finite, emptyText, numberInWords])), null);
const integerInWords = v.pipe(v.string(), v.trim(), v.regex(/^-?\d{1,9}$/), v.transform(Number));
const wireCode = v.pipe(v.union([v.number(), integerInWords]), v.integer());
const wireId = v.pipe(
  v.union([v.string(), v.number()]),
  v.transform(String),
  v.regex(/\S/),
  v.maxLength(longestText),
);

/** A text that some surfaces send as a number. */
export const text = (meaning: string) =>
  v.pipe(v.fallback(wireText, null), nullableText, v.description(meaning));

/** A unit of measure. */
export const unit = (meaning: string) =>
  v.pipe(v.fallback(wireUnit, null), nullableText, v.description(meaning));

/** A unit that is not left out: figures mean nothing with another one. */
export const unitOfFigures = wireUnit;

export const flag = (meaning: string) =>
  v.pipe(v.fallback(v.optional(nullableFlag, null), null), nullableFlag, v.description(meaning));

/** A number that some surfaces send as text ("0.5"). */
export const decimal = (meaning: string) =>
  v.pipe(v.fallback(wireDecimal, null), nullableNumber, v.description(meaning));

/** A number that is not guessed: a text that is no number is refused. */
export const figure = wireDecimal;

/** The same of what has a size. */
export const sizeFigure = v.pipe(wireDecimal, v.nullable(v.pipe(v.number(), v.gtValue(0))));

/** The same of a weight, which is 0 where nothing was weighed. */
export const weightFigure = v.pipe(wireDecimal, v.nullable(v.pipe(v.number(), v.minValue(0))));

/** The number of an error, which some surfaces send as text. */
export const code = (meaning: string) =>
  v.pipe(v.fallback(v.nullish(wireCode, null), null), nullableInteger, v.description(meaning));

/** The number of an error, without which nothing can be said about the rest. */
export const requiredCode = (meaning: string) =>
  v.pipe(wireCode, v.number(), v.integer(), v.description(meaning));

/** An id: opaque text, also where it is sent as an integer. */
export const id = (meaning: string) => v.pipe(wireId, v.string(), v.description(meaning));
