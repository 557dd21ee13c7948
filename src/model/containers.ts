/** What an object has, by the names of its properties. */
export type Fields = Readonly<Record<string, unknown>>;

/** Whether a value has parts to look at one by one. A Buffer or another view is none: each of its bytes would be a part. */
export function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null && !ArrayBuffer.isView(value);
}

/** The fields of an object; null for any other value. Not copied: a value from a flow may have millions, of which a few are read. */
export function fieldsOf(value: unknown): Fields | null {
  return isFields(value) ? value : null;
}

function isFields(value: unknown): value is Fields {
  return isContainer(value) && !Array.isArray(value);
}
