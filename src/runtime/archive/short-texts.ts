import { phrase, verbatim } from "../../errors/interpolation.ts";
import { errorBeforeSending, show, type Operation } from "../failure.ts";

/** As long as the text of a scan may be; real ones have a few dozen characters. */
const longestText = 10_000;

/**
 * Throws ERR_INPUT for a text that is too long to be in a manifest: one of megabytes would make it too large to be read. The error names
 * it by its place in `values`.
 */
export function demandShortTexts(values: object, operation: Operation): void {
  for (const [name, text] of textsIn(values)) {
    if (text.length > longestText) {
      throw errorBeforeSending(operation, "inputValue", {
        field: verbatim(name),
        value: show(text),
        problem: phrase("tooLong", { most: longestText }),
      });
    }
  }
}

function* textsIn(values: object, outer = ""): Generator<readonly [name: string, text: string]> {
  for (const [key, value] of Object.entries<unknown>({ ...values })) {
    const name = `${outer}${key}`;
    if (typeof value === "string") {
      yield [name, value];
    } else if (typeof value === "object" && value !== null) {
      yield* textsIn(value, `${name}.`);
    }
  }
}
