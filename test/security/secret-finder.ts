import { stripVTControlCharacters } from "node:util";

/** All spellings of a secret in a text: plain, escaped, encoded, or in the middle of something encoded. */
function spellingsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const percent = [...bytes].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
  const html = secret.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
  const named = secret
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
  const quoted = JSON.stringify(secret).slice(1, -1);
  return [
    secret,
    quoted,
    JSON.stringify(quoted).slice(1, -1),
    secret.replaceAll("\\", "\\\\"),
    secret.replaceAll("\\", "\\\\").replaceAll("'", "\\'"),
    encodeURIComponent(secret),
    encodeURI(secret),
    encodeURIComponent(encodeURIComponent(secret)),
    percent,
    html,
    named,
    bytes.toString("hex"),
    bytes.toString("utf16le").length > 0 ? [...secret].reverse().join("") : "",
    ...[0, 1, 2].flatMap((offset) => base64Inside(bytes, offset)),
  ];
}

/** The part of its base64 encoding that is the same wherever it is in the encoded text. */
function base64Inside(bytes: Buffer, offset: number): string[] {
  const whole = Buffer.concat([Buffer.alloc(offset), bytes]);
  const [first, last] = [Math.ceil((offset * 8) / 6), Math.floor((whole.length * 8) / 6)];
  return (["base64", "base64url"] as const).map((form) => whole.toString(form).slice(first, last));
}

/** Finds secrets in texts; a secret that is split over lines is found too. */
export class SecretFinder {
  readonly #spellings: readonly string[];

  constructor(secrets: readonly string[]) {
    this.#spellings = secrets.flatMap(spellingsOf).map(plain);
  }

  /** The spelling of a secret in the text; undefined if there is none. */
  find(text: string): string | undefined {
    const searched = plain(text);
    return this.#spellings.find((spelling) => searched.includes(spelling));
  }
}

/** Normalizes a text: without white space, line ends (escaped or not) and terminal colours, in lower case. */
function plain(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/\s+|(?<!\\)\\[rnt]|'\s*\+\s*'/g, "")
    .toLowerCase();
}
