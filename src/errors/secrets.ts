/** Takes secrets out of a text. */
export type Hide = (text: string) => string;

/** Whatever is shorter would be found in texts that have nothing to do with it. */
const shortestSecret = 8;

/**
 * Creates a function that replaces these secrets in texts of whoever they were sent to: plain, as JSON, HTML or a URL writes them, in
 * hexadecimal, and wherever they are in something encoded as base64. Undefined if there is none.
 */
export function hider(secrets: readonly string[]): Hide | undefined {
  const spellings = secrets.filter(({ length }) => length >= shortestSecret).flatMap(spellingsOf);
  if (spellings.length === 0) {
    return undefined;
  }
  // The longest first, so that nothing of it is left.
  const sorted = [...new Set(spellings)].toSorted((one, other) => other.length - one.length);
  const pattern = new RegExp(sorted.map((one) => one.replace(/[^\w\s]/g, "\\$&")).join("|"), "gi");
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

function spellingsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const [hex, url] = [bytes.toString("hex"), encodeURIComponent(secret)];
  const quoted = JSON.stringify(secret).slice(1, -1);
  const entities = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  const inHtml = Object.entries(entities).reduce((text, [from, to]) => text.replaceAll(from, to), secret);
  return [
    secret,
    quoted,
    JSON.stringify(quoted).slice(1, -1),
    // What many other languages escape besides.
    quoted.replaceAll("/", "\\/"),
    url,
    encodeURI(secret),
    encodeURIComponent(url),
    hex.replace(/../g, "%$&"),
    inHtml,
    inHtml.replaceAll("'", "&#39;"),
    secret.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`),
    hex,
    ...[0, 1, 2].flatMap((offset) => base64Inside(bytes, offset)),
  ];
}

/** The part of its base64 encoding that is the same whatever stands around it, by how many bytes stand before. */
function base64Inside(bytes: Buffer, offset: number): string[] {
  const whole = Buffer.concat([Buffer.alloc(offset), bytes]);
  const [first, end] = [Math.ceil((offset * 8) / 6), Math.floor((whole.length * 8) / 6)];
  return (["base64", "base64url"] as const).map((form) => whole.toString(form).slice(first, end));
}
