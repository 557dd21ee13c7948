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
  const isMissing = issue.received === "undefined";
  throw new ShapeError(phrase(isMissing ? "fieldMissing" : "fieldForm", { name }));
}

// Schemas of fields in data from the network. Each has a description and, as the last schema of its pipe, the type of
// the value once it was read: types and documentation are generated from there (tools/write-docs).

const nullableText = v.nullable(v.string());
const nullableNumber = v.nullable(v.number());
const nullableFlag = v.nullable(v.boolean());

const wireText = v.optional(v.nullable(v.pipe(v.union([v.string(), v.number()]), v.transform(String))), null);
/** This schema comes first, so that the error describes it in words. */
const numberInWords = v.pipe(v.string(), v.trim(), v.decimal(), v.transform(Number));
const wireDecimal = v.optional(v.nullable(v.union([numberInWords, v.number()])), null);
const wireId = v.pipe(v.union([v.string(), v.number()]), v.transform(String), v.nonEmpty());

/** A text that some surfaces send as a number; null if it is missing. */
export const text = (meaning: string) => v.pipe(wireText, nullableText, v.description(meaning));

export const number = (meaning: string) =>
  v.pipe(v.optional(nullableNumber, null), nullableNumber, v.description(meaning));

export const flag = (meaning: string) =>
  v.pipe(v.optional(nullableFlag, null), nullableFlag, v.description(meaning));

/** A number that some surfaces send as text ("0.5"). */
export const decimal = (meaning: string) => v.pipe(wireDecimal, nullableNumber, v.description(meaning));

/** An id: opaque text, also where it is sent as an integer. */
export const id = (meaning: string) => v.pipe(wireId, v.string(), v.description(meaning));
