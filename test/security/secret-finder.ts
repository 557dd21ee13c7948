import { stripVTControlCharacters } from "node:util";

/** Every way in which a secret could stand in a text: plain, escaped, encoded, in the middle of something encoded. */
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

/** What stays of it in base64 wherever it stands in what is encoded. */
function base64Inside(bytes: Buffer, offset: number): string[] {
  const whole = Buffer.concat([Buffer.alloc(offset), bytes]);
  const [first, last] = [Math.ceil((offset * 8) / 6), Math.floor((whole.length * 8) / 6)];
  return (["base64", "base64url"] as const).map((form) => whole.toString(form).slice(first, last));
}

/** Looks for secrets in texts; a secret that is split over lines is found too. */
export class SecretFinder {
  readonly #spellings: readonly string[];

  constructor(secrets: readonly string[]) {
    this.#spellings = secrets.flatMap(spellingsOf).map(plain);
  }

  /** The spelling of a secret that stands in the text; undefined where none does. */
  find(text: string): string | undefined {
    const searched = plain(text);
    return this.#spellings.find((spelling) => searched.includes(spelling));
  }
}

/** Without white space and line ends, escaped or not, and with the colours of a terminal taken out; case makes no difference. */
function plain(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/\s+|(?<!\\)\\[rnt]|'\s*\+\s*'/g, "")
    .toLowerCase();
}
