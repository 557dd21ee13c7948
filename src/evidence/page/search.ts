import { isDimensionerError } from "../../errors/dimensioner-error.ts";
import type { EvidencePackage } from "../../model/shapes.ts";
import type { PackageFilter } from "../../model/archive-reports.ts";
import { readPeriod } from "../../rules/periods.ts";
import { codeKinds } from "../../rules/scans.ts";
import { partOfWord, wordsOf } from "../../rules/search-words.ts";
import { writeElementString } from "../../scan/gs1/element-string.ts";
import { allFrames } from "../../scan/read-code.ts";
import { readFrame } from "../../scan/read-scans.ts";
import { chooseReference } from "../../scan/reference.ts";
import { type EvidenceSource, type Sought, filterOf, findPackages } from "../packages.ts";
import { readSize, suggestTexts } from "../search.ts";
import { mostRows } from "../table.ts";

const mostResults = 24;
export const longestText = 200;

export interface SearchResults {
  readonly packages: readonly EvidencePackage[];
  /** Whether there are more. */
  readonly more: boolean;
  /** Whether a word was looked for only where a reference or number begins with it, because it is so short. */
  readonly onlyBeginnings: boolean;
  /** Where nothing is found: parts of the text with which something is. */
  readonly suggestions: readonly string[];
}

/** What somebody has typed and, if that is a period, the same in the time zone of the browser as two times in ISO 8601. */
export interface SearchGiven {
  readonly text: string;
  readonly period: string;
  readonly filter: PackageFilter;
}

/**
 * Finds the newest packages by the words of a text, a label, a period or a size; all of them for a blank text. Throws ERR_INPUT for a
 * filter that is none.
 */
export async function search(
  source: EvidenceSource,
  given: SearchGiven,
  signal: AbortSignal,
): Promise<SearchResults> {
  const { text } = given;
  // One more than are shown says that there are more.
  const found = await find(source, { ...given, limit: mostResults + 1 }, signal);
  const words = wordsOf(text);
  return {
    packages: found.slice(0, mostResults),
    more: found.length > mostResults,
    onlyBeginnings: words.some((word) => partOfWord(word) !== word),
    suggestions:
      found.length === 0 && words.length > 0
        ? await suggestTexts(source.database, text, await filterOf(source, given.filter))
        : [],
  };
}

/** The same for a table: as many as it can have. */
export async function searchForTable(
  source: EvidenceSource,
  given: SearchGiven,
  signal: AbortSignal,
): Promise<Pick<SearchResults, "packages" | "more">> {
  const text = given.text.trim().slice(0, longestText);
  const found = await find(source, { ...given, text, limit: mostRows + 1 }, signal);
  return { packages: found.slice(0, mostRows), more: found.length > mostRows };
}

interface Limited extends SearchGiven {
  readonly limit: number;
}

async function find(
  source: EvidenceSource,
  given: Limited,
  signal: AbortSignal,
): Promise<readonly EvidencePackage[]> {
  const { text, period, filter, limit } = given;
  if (text === "") {
    return findPackages(source, { by: "all", filter, limit }, signal);
  }
  const found = await findText(source, given, signal);
  const other = otherMeaning(text, period);
  if (other === undefined || found.length === limit) {
    return found;
  }
  const known = new Set(found.map(({ packageId }) => packageId));
  const others = await findPackages(source, { ...other, filter, limit }, signal);
  return [...found, ...others.filter(({ packageId }) => !known.has(packageId))];
}

function otherMeaning(text: string, period: string): Omit<Sought, "limit"> | undefined {
  const value = [period, text].find((one) => readPeriod(one, new Date()) !== undefined);
  if (value !== undefined) {
    return { by: "period", value };
  }
  return readSize(text) === undefined ? undefined : { by: "size", value: text };
}

/**
 * Finds what has the text in it or, if nothing has, what it says as a scan of a label, and without the spaces that are printed in a
 * number to make it readable.
 */
async function findText(
  source: EvidenceSource,
  { text, filter, limit }: Limited,
  signal: AbortSignal,
): Promise<readonly EvidencePackage[]> {
  const label = readLabel(text);
  for (const value of new Set([text, ...label.texts, text.replaceAll(/\s+/g, "")])) {
    const found = await findPackages(source, { by: "text", value, filter, limit }, signal);
    if (found.length > 0) {
      return found;
    }
  }
  const { reference, isOfParcel } = label;
  if (reference === null) {
    return [];
  }
  for (const by of ["reference", "barcode"] as const) {
    const found = await findPackages(source, { by, value: reference, filter, limit }, signal);
    // Many labels may have the number of an order or an article. A package with a scan has that of another label then.
    const ofLabel = isOfParcel ? found : found.filter(({ scan }) => scan === null);
    if (ofLabel.length > 0) {
      return ofLabel;
    }
  }
  return [];
}

/** What the index may have of a label that the scan node has read. */
interface Label {
  /**
   * Its text, which this node stores without the AIM identifier and with group separators, and the same from another form of the
   * code.
   */
  readonly texts: readonly string[];
  /** Null if there is none. */
  readonly reference: string | null;
  /** Whether no other parcel has this reference. */
  readonly isOfParcel: boolean;
}

const noLabel: Label = { texts: [], reference: null, isOfParcel: false };

function readLabel(text: string): Label {
  const [frame, ...others] = allFrames(text);
  if (frame === undefined || others.length > 0) {
    return noLabel;
  }
  try {
    const reading = readFrame(frame, {});
    const { scan, kind } = reading;
    const rules = { rule: { which: "auto" }, kinds: codeKinds, mayBeWrong: true } as const;
    const elements = kind === "gs1" || kind === "digitalLink" ? [writeElementString(scan.elements)] : [];
    const texts = [scan.text, ...elements].filter((value) => value.trim() !== "");
    const reference = chooseReference(reading, rules);
    const isSscc = scan.elements.some(({ ai, value }) => ai === "00" && value === reference);
    return { texts, reference, isOfParcel: isSscc || scan.carriers.length > 0 };
  } catch (error) {
    if (isDimensionerError(error)) {
      return noLabel;
    }
    throw error;
  }
}
