import * as v from "valibot";
import { phrase, ProblemError } from "../fill-in.ts";

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

/** Text or a number. Not a union of two schemas: that would write down what was wrong with it as text for each number. */
export const textOrNumber = v.custom<string | number>(
  (value) => typeof value === "string" || (typeof value === "number" && Number.isFinite(value)),
);

/** Text that some surfaces send as a number; absent is null. */
export const text = v.optional(v.nullable(v.pipe(textOrNumber, v.transform(String))), null);

export const number = v.optional(v.nullable(v.number()), null);

export const flag = v.optional(v.nullable(v.boolean()), null);

const decimalForm = /^[+-]?(?:\d*\.)?\d+$/;

/** A number that some surfaces send as text ("0.5"). */
export const decimal = v.optional(
  v.nullable(
    v.pipe(
      textOrNumber,
      v.check((value) => typeof value === "number" || decimalForm.test(value.trim())),
      v.transform(Number),
    ),
  ),
  null,
);

/** An id: opaque text, also where it is sent as an integer. */
export const id = v.pipe(textOrNumber, v.transform(String), v.nonEmpty());
