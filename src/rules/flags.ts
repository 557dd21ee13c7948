/** What stands for a check box in text, as environment variables have it. */
export const flagTexts = ["true", "false"] as const;

/** Reads a check box as dialogs, flows and environment variables have it; null if it is blank, undefined if it is neither. */
export function readFlag(given: unknown): boolean | null | undefined {
  if (typeof given === "boolean") {
    return given;
  }
  const text = typeof given === "string" ? given.trim() : given;
  if (text === undefined || text === null || text === "") {
    return null;
  }
  return text === "true" ? true : text === "false" ? false : undefined;
}
