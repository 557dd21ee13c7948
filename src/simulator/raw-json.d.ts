/** In Node.js since 21, and not yet in the compiler's library: a number whose text `JSON.stringify` keeps as it is. */
interface JSON {
  rawJSON(text: string): object;
  isRawJSON(value: unknown): boolean;
}
