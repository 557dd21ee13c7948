import { DimensionerError } from "../errors/dimensioner-error.ts";
import { phrase, verbatim, type Phrase } from "../errors/interpolation.ts";

/** A timer of Node.js holds no more; a longer one would fire at once. */
const longestMs = 2 ** 31 - 1;

interface Numbers {
  readonly timeoutMs?: number | undefined;
  readonly queueLimit?: number | undefined;
  readonly maxWaitMs?: number | undefined;
  readonly waitMs?: number | undefined;
}

/**
 * Throws ERR_CONFIG for a number that cannot be one: a time that is not a number would never pass, or at once. Those who
 * use the clients without the compiler are the ones to hear of it.
 */
export function checkNumbers(what: "cloud" | "device", given: Numbers): void {
  for (const name of ["timeoutMs", "maxWaitMs", "waitMs"] as const) {
    const value = given[name];
    const least = name === "timeoutMs" ? 1 : 0;
    if (value !== undefined && !(typeof value === "number" && value >= least && value <= longestMs)) {
      throw unusable(what, name, phrase("milliseconds", { least, most: longestMs }));
    }
  }
  const { queueLimit } = given;
  if (queueLimit !== undefined && !(Number.isSafeInteger(queueLimit) && queueLimit >= 0)) {
    throw unusable(what, "queueLimit", phrase("wholeNumber"));
  }
}

/** Throws ERR_CONFIG where a setting is none of what there is. */
export function checkChoice(
  what: "cloud" | "device",
  name: string,
  value: string,
  choices: readonly string[],
): void {
  if (!choices.includes(value)) {
    throw unusable(what, name, phrase("oneOf", { choices }));
  }
}

function unusable(what: "cloud" | "device", name: string, problem: Phrase): DimensionerError {
  return new DimensionerError(
    "configInvalid",
    { surface: "config", operation: "settings" },
    { what: phrase(what), field: verbatim(name), problem },
  );
}
