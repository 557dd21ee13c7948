/**
 * Replaces the `__name__` placeholders of a text by what `say` makes of their values, each once; one without a value stays, so that the
 * mistake is seen.
 */
export function fillIn<T>(
  text: string,
  values: Readonly<Record<string, T | undefined>>,
  say: (value: T) => string,
): string {
  // Not looked up in the object itself, which has more than its own properties.
  const own = new Map(Object.entries(values));
  return text.replace(/__(\w+?)__/g, (mark, name: string) => {
    const value = own.get(name);
    return value === undefined ? mark : say(value);
  });
}
