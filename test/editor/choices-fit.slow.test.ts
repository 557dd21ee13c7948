import assert from "node:assert/strict";
import { sharedBrowser } from "../support/shared-browser.ts";
import { catalogOf, editorSources, languages, names } from "./sources.ts";

/** What a field leaves for its text, in pixels, in a dialog that nobody has made wider. */
const room = { choice: 230, placeholder: 246 };

interface Shown {
  readonly kind: keyof typeof room;
  readonly key: string;
}

/** The keys of the texts that a form cuts off if they are too long: choices in a list, and placeholders. */
async function shownIn(name: string): Promise<Shown[]> {
  const form = await editorSources(name);
  return [
    ...[...form.matchAll(/<option [^>]*data-i18n="([^"]+)"/g)].map(
      ([, key = ""]) => ({ kind: "choice", key }) as const,
    ),
    ...[...form.matchAll(/data-i18n="\[placeholder\]([^"]+)"/g)].map(
      ([, key = ""]) => ({ kind: "placeholder", key }) as const,
    ),
  ];
}

async function textOf(name: string, key: string, language: string): Promise<string> {
  const isShared = key.startsWith("shared:");
  const catalog = await catalogOf(isShared ? "device" : name, language);
  return catalog.get(isShared ? key.slice("shared:".length) : key) ?? "";
}

describe("choices and placeholders", () => {
  it("fit into their fields in every language", async () => {
    const all: { name: string; language: string; text: string; most: number }[] = [];
    for (const name of names) {
      for (const { kind, key } of await shownIn(name)) {
        for (const language of await languages()) {
          all.push({ name, language, text: await textOf(name, key, language), most: room[kind] });
        }
      }
    }
    assert.ok(all.length > 1_000, `${all.length} texts`);
    const page = await (await sharedBrowser()).newPage();
    const widths = await page.evaluate(
      (texts) => {
        const context = document.createElement("canvas").getContext("2d");
        if (context === null) {
          throw new Error("no canvas");
        }
        context.font = "14px 'Helvetica Neue', Arial, Helvetica, sans-serif";
        return texts.map((text) => context.measureText(text).width);
      },
      all.map(({ text }) => text),
    );
    await page.close();
    const tooLong = all.filter(({ most }, index) => (widths[index] ?? 0) > most);
    assert.deepEqual(
      tooLong.map(({ name, language, text }) => `${name}, ${language}: ${text}`),
      [],
    );
  });
});
