/**
 * Shows what nobody sees, or what changes the direction of the text after it, by its number: `⟨U+202E⟩`. Otherwise a name could look
 * like another one.
 */
export function visibleText(text: string): string {
  return text.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\u200B\uFEFF]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}
