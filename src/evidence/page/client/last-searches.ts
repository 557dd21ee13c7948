import * as v from "valibot";

/** The texts with which somebody has found a package, the last one first. They never leave the browser. */

const mostKept = 8;
const saved = v.array(v.string());
const keyOf = (person: string): string => `dimensioner-searches:${person}`;

/** None where the browser keeps nothing, or somebody else has changed it. */
export function lastSearches(person: string): readonly string[] {
  try {
    return v.parse(saved, JSON.parse(localStorage.getItem(keyOf(person)) ?? "[]")).slice(0, mostKept);
  } catch {
    return [];
  }
}

export function rememberSearch(person: string, text: string): void {
  const texts = [text, ...lastSearches(person).filter((one) => one !== text)].slice(0, mostKept);
  try {
    localStorage.setItem(keyOf(person), JSON.stringify(texts));
  } catch {
    // A browser may keep nothing for a page, which then has no last searches.
  }
}

export function forgetSearches(person: string): void {
  try {
    localStorage.removeItem(keyOf(person));
  } catch {
    // There are none then.
  }
}
