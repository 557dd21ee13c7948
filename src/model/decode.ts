import * as v from "valibot";
import { phrase, ProblemError } from "../errors/interpolation.ts";

/**
 * A value from the wire that does not have the shape the API promises. The message names the field and never quotes its
 * value, which may be long or an echo of the token.
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

/** Text that some surfaces send as a number; absent is null. */
export const text = v.optional(
  v.nullable(v.pipe(v.union([v.string(), v.number()]), v.transform(String))),
  null,
);

export const number = v.optional(v.nullable(v.number()), null);

export const flag = v.optional(v.nullable(v.boolean()), null);

/** A number that some surfaces send as text ("0.5"): that first, since what does not fit is written down in words. */
export const decimal = v.optional(
  v.nullable(v.union([v.pipe(v.string(), v.trim(), v.decimal(), v.transform(Number)), v.number()])),
  null,
);

/** An id: opaque text, also where it is sent as an integer. */
export const id = v.pipe(v.union([v.string(), v.number()]), v.transform(String), v.nonEmpty());
