/** The list without what is there again by its key, such as the file of media that share it. */
export function firstOfEach<T>(list: readonly T[], keyOf: (one: T) => string): T[] {
  const seen = new Set<string>();
  return list.filter((one) => {
    const key = keyOf(one);
    const isFirst = !seen.has(key);
    seen.add(key);
    return isFirst;
  });
}
