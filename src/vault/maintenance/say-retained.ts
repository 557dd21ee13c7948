/** Why an object is not deleted that its object store protects until a time: infinite for a legal hold. */
export function sayRetained(untilMs: number): string {
  return untilMs === Infinity
    ? "the object store protects it from being deleted: a legal hold"
    : `the object store protects it from being deleted until ${new Date(untilMs).toISOString()} (Object Lock)`;
}
