/** What joins or changes characters of other scripts and emoji, and does nothing behind Latin letters, digits and their like. */
const joining = String.raw`[\p{Join_Control}\p{Variation_Selector}\u{E0000}-\u{E0FFF}]`;
const idle = new RegExp(String.raw`(?<=^|[\p{ASCII}\p{Script=Latin}])${joining}+(?!\u20E3)`, "gu");
const unseen = new RegExp(
  String.raw`(?!${joining})[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Cc}\p{Cs}\p{Zl}\p{Zp}\uFEFF\uFFF9-\uFFFB]`,
  "gu",
);

/**
 * Shows what nobody sees, or what changes the direction of the text after it, by its number: `⟨U+202E⟩`. Otherwise a name could look
 * like another one.
 */
export function visibleText(text: string): string {
  return text.replace(idle, (all) => Array.from(all, numberOf).join("")).replace(unseen, numberOf);
}

function numberOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}
