import { problem, type Problem } from "./problem.ts";

const deepestPath = 32;

/** What is wrong with a name below a folder, sub-folders included; null for one that can be used. */
export function fileNameProblem(name: string): Problem | null {
  if (name.includes("\0")) {
    return problem("nameNul");
  }
  const way = leadsOut(name);
  if (way !== null) {
    return way;
  }
  const parts = partsOf(name);
  if (parts.length === 0) {
    return problem("namesNothing");
  }
  return parts.length > deepestPath ? problem("tooManyParts", { most: deepestPath }) : null;
}

/** The parts of a name: sub-folders first, the file's own last. */
export function partsOf(name: string): string[] {
  return name
    .split(/[/\\]/)
    .map((part) => part.trim())
    .filter((part) => part !== "" && part !== ".");
}

function leadsOut(name: string): Problem | null {
  if (/^\s*(?:[/\\]|[a-z]:)/i.test(name)) {
    return problem("notRelative");
  }
  return name.split(/[/\\]/).some((part) => part.trim() === "..") ? problem("outOfFolder") : null;
}

const layoutTokens = ["date", "reference", "transactionId", "device"].map((name) => `{${name}}`);

/** What is wrong with the layout of an archive's packages; null for one that can be used. */
export function layoutProblem(layout: string): Problem | null {
  const unknown = layout.match(/\{[^{}]*\}/g)?.find((token) => !layoutTokens.includes(token));
  if (unknown !== undefined) {
    return problem("noneOf", { value: unknown, choices: layoutTokens });
  }
  if (layout.split(/[/\\]/).every((part) => part.trim() === "")) {
    return problem("empty");
  }
  return leadsOut(layout);
}

/** The parts of a list that is separated by commas. */
export function commaSeparated(list: string): string[] {
  return list
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

/** Reads the path of a webhook as people write it, or returns what is wrong with it. */
export function readPath(given: string): { readonly base: string } | { readonly problem: Problem } {
  const base = trimSlashes(given);
  if (base === "") {
    return { problem: problem("empty") };
  }
  const parts = base.split("/");
  return parts.some((part) => !/^[a-z0-9._~-]+$/i.test(part) || /^\.+$/.test(part))
    ? { problem: problem("pathCharacters") }
    : { base };
}

/** A path without spaces and slashes around it. */
export function trimSlashes(path: string): string {
  return path.trim().replace(/^\/+|\/+$/g, "");
}

/** The name of a header is a token (RFC 9110, 5.6.2). */
export function headerNameProblem(name: string): Problem | null {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(name.trim()) ? null : problem("headerName");
}

/** Eight letters or digits: "8-digit" in the documents, letters in practice. */
export function registrationCodeProblem(code: string): Problem | null {
  return /^[a-z0-9]{8}$/i.test(code) ? null : problem("registrationCode");
}
