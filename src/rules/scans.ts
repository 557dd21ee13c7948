import { problem, type Problem } from "./problem.ts";

/** What a scan can be read as: a GS1 element string, a GS1 Digital Link, the number of a retail article, any other text. */
export const codeKinds = ["gs1", "digitalLink", "ean", "other"] as const;

export type CodeKind = (typeof codeKinds)[number];

/** What scanners send if they could not read anything, an empty scan, and codes that name only a place or set a scanner. */
export const usualNoReads =
  "NoRead, NR, NOREAD, ERROR, Not Read, Bad Read, No Code, No Barcode, No Data, ?, 0, (), (41), (254), (420), (421), (2L), (setup)";

/** Reads a comma-separated list of kinds, or returns what is wrong with it. */
export function readCodeKinds(
  given: string,
): { readonly kinds: readonly CodeKind[] } | { readonly problem: Problem } {
  const names = given
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const unknown = names.find((name) => !codeKinds.some((kind) => kind === name));
  if (unknown !== undefined) {
    return { problem: problem("noneOf", { value: unknown, choices: codeKinds }) };
  }
  return names.length === 0
    ? { problem: problem("empty") }
    : { kinds: codeKinds.filter((kind) => names.includes(kind)) };
}

/** What is wrong with an application identifier; null for one that can be used. */
export function applicationIdentifierProblem(given: string): Problem | null {
  return /^\d{2,4}$/.test(given.trim()) ? null : problem("applicationIdentifier");
}

const longestPattern = 500;
/** RE2 takes a step for each of these and each character of a scan: up to 8 million, about a second. */
const longestWrittenOut = 1_000;

/**
 * Returns what is wrong with a regular expression that takes the reference from a scan; null if it can be used. It has
 * one capturing group, and nothing that RE2 omits because it cannot be matched in linear time: back-references and
 * look-around.
 */
export function patternProblem(given: string): Problem | null {
  if (given.length > longestPattern) {
    return problem("patternLong", { most: longestPattern });
  }
  let source: string;
  try {
    // Only parsed: what it matches is up to RE2, and already compiling it for a match can take an engine that tries
    // all ways exponential time.
    ({ source } = new RegExp(given, "u"));
  } catch {
    return problem("patternSyntax");
  }
  // Without escaped characters, and what is in square brackets.
  const bare = source.replace(/\\[^1-9k]/gu, "").replace(/\[[^\]]*\]/g, "");
  if (/\\[1-9k]|\(\?<?[=!]/.test(bare)) {
    return problem("patternUnsupported");
  }
  if (lengthWrittenOut(source) > longestWrittenOut) {
    return problem("patternRepeats", { most: longestWrittenOut });
  }
  const groups = bare.match(/\((?!\?)|\(\?</g) ?? [];
  return groups.length === 1 ? null : problem("patternGroup");
}

/** How many characters a valid pattern has when its counted repetitions are written out, as RE2 does it. */
function lengthWrittenOut(source: string): number {
  const simple = source.replace(/\\(?:[pu]\{[^}]*\}|[^])/giu, "_").replace(/\[[^\]]*\]/g, "_");
  // Of each group that is open, the innermost last.
  const lengths = [0];
  let last = 0;
  const add = (length: number): void => {
    lengths.push((lengths.pop() ?? 0) + length);
  };
  for (const [token, least, most] of simple.matchAll(/\{(\d+)(?:,(\d*))?\}|\(\?[^:>]*.|[^]/gu)) {
    if (token.startsWith("(")) {
      lengths.push(0);
    } else if (least !== undefined) {
      const times = Number(most || least);
      add(last * (times - 1));
      last *= times;
    } else {
      last = token === ")" ? (lengths.pop() ?? 0) : 1;
      add(last);
    }
  }
  return lengths[0] ?? 0;
}
