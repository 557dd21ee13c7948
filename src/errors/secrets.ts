/** Takes secrets out of a text. */
export type Hide = (text: string) => string;

/** Whatever is shorter would be found in texts that have nothing to do with it. */
const shortestSecret = 8;
/** The same of a password in what a database says: that has a sentence only. */
export const shortestPassword = 3;

/**
 * Creates a function that replaces these secrets in texts of whoever they were sent to: plain, as JSON, HTML or a URL writes them, in
 * hexadecimal, and wherever they are in something encoded as base64. Undefined if there is none.
 */
export function hider(secrets: readonly string[], shortest: number = shortestSecret): Hide | undefined {
  // The longest first, so that nothing of it is left.
  const long = secrets.filter(({ length }) => length >= shortest);
  const sorted = long.toSorted((one, other) => other.length - one.length);
  if (sorted.length === 0) {
    return undefined;
  }
  const pattern = new RegExp(sorted.flatMap(spellingsOf).join("|"), "gi");
  return (text) => text.replace(pattern, "…");
}

/** A value from JSON with all of its texts and names without the secrets. */
export function hideIn(value: unknown, hide: Hide): unknown {
  if (typeof value === "string") {
    return hide(value);
  }
  if (Array.isArray(value)) {
    return value.map((one) => hideIn(one, hide));
  }
  return typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, one]) => [hide(name), hideIn(one, hide)]))
    : value;
}

/** Patterns of how a secret may be written. */
function spellingsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString("hex");
  const base64 = [0, 1, 2].flatMap((offset) => base64Inside(bytes, offset));
  return [
    (secret.match(/\\+|[^\\]/gu) ?? []).map(escapedOrNot).join(""),
    hex,
    hex.replace(/../g, "%$&"),
    ...base64.filter(({ length }) => length >= shortestPassword).map((one) => one.replace(/\W/g, "\\$&")),
  ];
}

/**
 * Any of these may be escaped, each by itself, as languages differ in which they escape; letters and digits are not. Of backslashes, all
 * that follow each other are taken together: otherwise there would be many ways to share those of a text between them.
 */
function escapedOrNot(character: string): string {
  if (/[a-z\d]/i.test(character)) {
    return character;
  }
  if (character.startsWith("\\")) {
    const { length } = character;
    return `(?:\\\\{${length},${8 * length}}|(?:%(?:25)*5c){${length}})`;
  }
  const code = character.codePointAt(0) ?? 0;
  const inUrl = Buffer.from(character).toString("hex").replace(/../g, "%(?:25)*$&");
  const inJson = character.replace(
    /[^]/g,
    (unit) => `\\\\{1,8}u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  const inHtml = `&(?:amp;)*(?:#0*${code}|#x0*${code.toString(16)}|${namesInHtml[character] ?? "#"});`;
  const plain = `\\\\{0,8}${/[\w\s]/.test(character) ? character : character.replace(/[!-~]/, "\\$&")}`;
  return `(?:${[plain, inUrl, inJson, inHtml, ...(character === " " ? ["\\+"] : [])].join("|")})`;
}

const namesInHtml: Readonly<Record<string, string>> = {
  "&": "amp",
  "<": "lt",
  ">": "gt",
  '"': "quot",
  "'": "apos",
};

/** The part of its base64 encoding that is the same whatever stands around it, by how many bytes stand before. */
function base64Inside(bytes: Buffer, offset: number): string[] {
  const whole = Buffer.concat([Buffer.alloc(offset), bytes]);
  const [first, end] = [Math.ceil((offset * 8) / 6), Math.floor((whole.length * 8) / 6)];
  return (["base64", "base64url"] as const).map((form) => whole.toString(form).slice(first, end));
}
