import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { packageFolder } from "../../package/package-files.ts";

interface PageFile {
  readonly type: string;
  readonly content: Buffer;
}

const types: Readonly<Record<string, string>> = {
  "index.html": "text/html; charset=utf-8",
  "page.css": "text/css; charset=utf-8",
  "page.js": "text/javascript; charset=utf-8",
  "icon.svg": "image/svg+xml",
};

/** The languages of the page, with the texts of each in page/texts. */
export const languages = ["en-US", "de", "es-ES", "fr", "ja", "ko", "pt-BR", "ru", "zh-CN", "zh-TW"] as const;
type Language = (typeof languages)[number];

/** One of the page's own files; undefined if it has none of this name. They contain no evidence, so anybody may have them. */
export async function readPageFile(name: string): Promise<PageFile | undefined> {
  const type = Object.hasOwn(types, name) ? types[name] : undefined;
  return type === undefined ? undefined : { type, content: await readBuilt(name) };
}

/** The texts of the page in the language that the browser prefers, as JSON. */
export async function readTexts(accepted: string | undefined): Promise<{ lang: Language; content: Buffer }> {
  const lang = chooseLanguage(accepted ?? "");
  return { lang, content: await readBuilt(join("texts", `${lang}.json`)) };
}

function readBuilt(name: string): Promise<Buffer> {
  return readFile(join(packageFolder(), "dist/src/evidence/page/client", name));
}

/** Chooses among the languages of an Accept-Language header, by their weights and then by their order. */
export function chooseLanguage(accepted: string): Language {
  const wanted = accepted
    .slice(0, 1_000)
    .split(",")
    .map((part) => {
      const [tag = "", ...parameters] = part.split(";").map((one) => one.trim().toLowerCase());
      const weight = Number(parameters.find((one) => one.startsWith("q="))?.slice(2) ?? 1);
      return { tag, weight: Number.isFinite(weight) ? weight : 0 };
    })
    .filter(({ weight }) => weight > 0)
    .toSorted((one, other) => other.weight - one.weight);
  for (const { tag } of wanted) {
    const found = ofTag(tag);
    if (found !== undefined) {
      return found;
    }
  }
  return "en-US";
}

function ofTag(tag: string): Language | undefined {
  const [language = "", ...rest] = tag.split("-");
  if (language === "zh") {
    return rest.some((part) => ["tw", "hk", "mo", "hant"].includes(part)) ? "zh-TW" : "zh-CN";
  }
  return languages.find((one) => one.split("-")[0] === language);
}
