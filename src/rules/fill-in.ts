/** Replaces the `__name__` placeholders of a text, each once; one without a value stays, so that the mistake is seen. */
export function fillIn(text: string, valueOf: (name: string) => string | undefined): string {
  return text.replace(/__(\w+?)__/g, (mark, name: string) => valueOf(name) ?? mark);
}
