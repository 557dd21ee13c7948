/** HTML that is safe to put into other HTML. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | number | string | null | readonly Html[];

/** Writes HTML; every text in it is escaped. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.reduce((all, piece, index) => all + textOf(parts[index - 1] ?? null) + piece));
}

function textOf(part: Part): string {
  if (part === null) {
    return "";
  }
  if (part instanceof Html) {
    return part.text;
  }
  return typeof part === "object" ? part.map(({ text }) => text).join("") : escape(String(part));
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Characters that nobody sees, or that change the direction of what follows, are shown by their number. */
function escape(text: string): string {
  return text
    .replace(/[&<>"']/g, (character) => entities[character] ?? "")
    .replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\u200B\uFEFF]/gu, (character) => {
      const code = character.codePointAt(0) ?? 0;
      return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
    });
}

/** A relative address of a file beside the page, from its name with slashes. */
export function addressOf(name: string): string {
  return name
    .split("/")
    .map((part) => encodeURIComponent(part))
    .join("/");
}
