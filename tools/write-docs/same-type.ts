import type * as v from "valibot";

/** A type without what makes no difference on a message: index signatures and `readonly`, at any depth. */
type Plain<T> = T extends readonly (infer Item)[]
  ? Plain<Item>[]
  : T extends object
    ? { -readonly [K in keyof T as string extends K ? never : number extends K ? never : K]: Plain<T[K]> }
    : T;

type Same<A, B> = [A] extends [B]
  ? [B] extends [A]
    ? [keyof A] extends [keyof B]
      ? [keyof B] extends [keyof A]
        ? true
        : false
      : false
    : false
  : false;

/**
 * Hands a schema on that describes exactly the type `T` of the sources; any other does not compile. So a field that is
 * added to, or taken from, the code has to be written down here before anything builds.
 */
export function describes<T>() {
  return <TSchema extends v.GenericSchema>(
    schema: Same<Plain<v.InferOutput<TSchema>>, Plain<T>> extends true ? TSchema : never,
  ): TSchema => schema;
}
