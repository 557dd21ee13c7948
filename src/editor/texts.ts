const packageName = "@dimflow/node-red-dimensioner";

export type Texts = (key: string, values?: Record<string, string | number>) => string;

/** The texts of one node type's own catalog. */
export function textsOf(type: string): Texts {
  return (key, values) => RED._(`${packageName}/${type}:${key}`, values);
}

const deviceTexts = textsOf("dimensioner-device");

/** The texts that all types share; they live in the catalog of the device config node. */
export const shared: Texts = (key, values) => deviceTexts(`common.${key}`, values);

/** A sentence that the runtime names by its key: what can go wrong in a flow too, or what a test has shown. */
export function sharedSentence(from: "errors" | "test", key: string, values: Record<string, string>): string {
  return from === "errors" ? deviceTexts(`errors.${key}`, values) : shared(`test.${key}`, values);
}
