/** The kinds of work that have a name in each language; a shop may have more. The first is meant where nobody says which. */
export const works = ["packing", "return", "inspection"] as const;

export const usualWork = works[0];

/** Returns the name of a kind of work; what a shop calls its own stays as it is. */
export function nameOfWork(work: string, say: (key: (typeof works)[number]) => string): string {
  const known = works.find((one) => one === work);
  return known === undefined ? work : say(known);
}
