/**
 * Returns those of the wanted names that are not there as often, in any letter case: a name that is given twice is wanted twice. Both lists
 * can be from outside, so their lengths must not multiply.
 */
export function lackingNames(wanted: readonly string[], there: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const name of there.map((one) => one.toLowerCase())) {
    left.set(name, (left.get(name) ?? 0) + 1);
  }
  return wanted.filter((one) => {
    const name = one.toLowerCase();
    const count = left.get(name) ?? 0;
    left.set(name, count - 1);
    return count <= 0;
  });
}
