import assert from "node:assert/strict";
import { glob, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { avoided } from "./avoided-words.ts";
import { editorLanguages } from "./editor-languages.ts";
import { helpBlocks } from "./help-blocks.ts";
import { catalogOf, languages, logged, names, root, withoutUnit } from "./sources.ts";

const present = await languages();

/** What may be the same as in English: names of things, and words that languages share. */
const shared = new Set(
  "Action|Barcode|Bucket|Buffer|DHL Express (cm, kg)|DHL Express (in, lb)|Divisor|DPD (regional)|DHL Parcel (regional)|USPS|cloud|Cloud|Code|Codes|__count__ bytes|Details|download|Endpoint|gateway|Generation|Header|Host|GS1 Digital Link|Image|images|Message|Name|Node-RED (httpNodeAuth)|ping|Port|PostgreSQL|Proxy|Region|Secret|<secret>|stream|Token|video|webhook".split(
    "|",
  ),
).add("dimensioner/transaction");

/** What the device's portal, the API and Node-RED call by a name of their own, in any language. */
const fixedTerms =
  /Enable Local API|Video Only|Video with Measurement|Measurement Only|\bERR_\w+|\bmsg(?:\.\w+)+|https?:\/\/|\bx-webhook-secret\b|\b[\w-]+\/mp4\b|\bDepthImage16Bit\b|\btls-config\b|\bHTTP\b|\bJSON\b|\bUTF-8\b|\bIPv[46]\b/g;

/** The longest that goes into a status. */
const filled: Readonly<Record<string, string>> = {
  count: "999",
  done: "123.4 MB",
  total: "123.4 MB",
  size: "123.4 MB",
  unit: "lb",
};

const hasWords = (text: string): boolean => /\p{L}{3}/u.test(text.replace(/__\w+?__/g, ""));
const marksOf = (text: string): string[] => (text.match(/__\w+?__/g) ?? []).toSorted();
const termsOf = (text: string): string[] => [...new Set(text.match(fixedTerms) ?? [])].toSorted();

function fileOf(name: string, language: string, kind: "json" | "html"): string {
  return join(root, `nodes/${name}/locales/${language}/${name}.${kind}`);
}

/** The texts of the evidence page. */
async function pageTexts(language: string): Promise<string[]> {
  const file = join(root, `src/evidence/page/client/texts/${language}.json`);
  return Object.values(v.parse(v.record(v.string(), v.string()), JSON.parse(await readFile(file, "utf8"))));
}

async function helpOf(name: string, language: string): Promise<ReturnType<typeof helpBlocks>> {
  return helpBlocks(await readFile(fileOf(name, language, "html"), "utf8"));
}

/** How each label of a type's form is called in a language, by its English text and without its unit. */
async function labelsOf(name: string, language: string): Promise<Map<string, string>> {
  const labels = new Map<string, string>();
  for (const [catalog, beginning] of [
    ["device", "common.label."],
    [name, "label."],
  ] as const) {
    const translated = await catalogOf(catalog, language);
    for (const [key, text] of await catalogOf(catalog)) {
      if (key.startsWith(beginning)) {
        labels.set(withoutUnit(text), withoutUnit(translated.get(key) ?? ""));
      }
    }
  }
  return labels;
}

/** The texts of a type's dialog in a language, by their English texts and without their units. */
async function textsShown(name: string, language: string): Promise<Map<string, string[]>> {
  const shown = new Map<string, string[]>();
  for (const catalog of new Set(["device", name])) {
    const translated = await catalogOf(catalog, language);
    for (const [key, text] of await catalogOf(catalog)) {
      if (!/^(?:status|errors|hints|phrases)\./.test(key)) {
        const english = withoutUnit(text);
        shown.set(english, [...(shown.get(english) ?? []), withoutUnit(translated.get(key) ?? "")]);
      }
    }
  }
  return shown;
}

describe("the languages", () => {
  it("are all that the editor speaks", () => {
    assert.deepEqual(present, editorLanguages);
  });

  it("have no text twice, of which only the last one would count", async () => {
    const folders = ["nodes/*/locales/*/*.json", "src/evidence/page/client/texts/*.json"];
    for await (const file of glob(folders, { cwd: root })) {
      const text = await readFile(join(root, file), "utf8");
      assert.equal(text, `${JSON.stringify(JSON.parse(text), null, 2)}\n`, file);
    }
  });

  for (const language of present) {
    describe(language, () => {
      it("has the same files for every type, in UTF-8 without a byte order mark", async () => {
        for (const name of names) {
          const folder = join(root, `nodes/${name}/locales/${language}`);
          assert.deepEqual((await readdir(folder)).toSorted(), [`${name}.html`, `${name}.json`]);
          for (const kind of ["json", "html"] as const) {
            const bytes = await readFile(fileOf(name, language, kind));
            const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
            assert.doesNotMatch(text, /\uFEFF|\uFFFD|\r/, `${name}.${kind}`);
            assert.match(text, /[^\n]\n$/, `${name}.${kind} ends with one line feed`);
          }
        }
      });

      // With the tests of the catalogs, which hold the English keys against the sources: none missing, none unused.
      it("has the same keys in the same order, the same marks and terms, and nothing empty", async () => {
        for (const name of names) {
          const english = await catalogOf(name);
          const translated = await catalogOf(name, language);
          assert.deepEqual([...translated.keys()], [...english.keys()], name);
          for (const [key, text] of english) {
            const value = translated.get(key) ?? "";
            assert.equal(value, value.trim(), `${name} ${key}`);
            assert.notEqual(value, "", `${name} ${key}`);
            assert.deepEqual(marksOf(value), marksOf(text), `${name} ${key}`);
            assert.deepEqual(termsOf(value), termsOf(text), `${name} ${key}`);
          }
        }
      });

      it("keeps every status under 32 characters", async () => {
        for (const name of names) {
          for (const [key, text] of await catalogOf(name, language)) {
            if (key.startsWith("status.") && !logged.has(key)) {
              const shown = text.replace(/__(\w+?)__/g, (mark, value: string) => filled[value] ?? mark);
              assert.ok(shown.length < 32, `${name} ${key}: ${shown} (${shown.length})`);
            }
          }
        }
      });

      it("has help of the same structure, with the same codes, types and links", async () => {
        for (const name of names) {
          const english = await helpOf(name, "en-US");
          const translated = await helpOf(name, language);
          assert.deepEqual(
            translated.map(({ tag }) => tag),
            english.map(({ tag }) => tag),
            name,
          );
          for (const [at, block] of english.entries()) {
            const { inline, codes, text } = translated[at] ?? block;
            assert.deepEqual(
              { inline, codes },
              { inline: block.inline, codes: block.codes },
              `${name}: ${text}`,
            );
            assert.deepEqual(termsOf(text), termsOf(block.text), `${name}: ${text}`);
            assert.equal(text === "", block.text === "", `${name}: ${block.text}`);
          }
        }
      });

      it("calls a heading and a property's type the same in every help page", async () => {
        const translations = new Map<string, Set<string>>();
        for (const name of names) {
          const translated = await helpOf(name, language);
          for (const [at, block] of (await helpOf(name, "en-US")).entries()) {
            const other = translated[at] ?? block;
            const pairs = block.types.map((type, index) => [type, other.types[index] ?? ""] as const);
            if (block.tag === "<h3>") {
              pairs.push([block.text, other.text]);
            }
            for (const [text, translation] of pairs) {
              translations.set(text, (translations.get(text) ?? new Set()).add(translation));
            }
          }
        }
        const several = [...translations].filter(([, found]) => found.size > 1);
        assert.deepEqual(several, []);
      });

      it("calls properties and fields in its help as messages and forms call them", async () => {
        for (const name of names) {
          const translated = await helpOf(name, language);
          const labels = await labelsOf(name, language);
          for (const [at, block] of (await helpOf(name, "en-US")).entries()) {
            if (block.tag.startsWith("<dt") && block.names.length === 0) {
              assert.equal(
                translated[at]?.text,
                labels.get(block.text) ?? block.text,
                `${name}: ${block.text}`,
              );
            }
          }
        }
      });

      it("names in its help what the dialog shows, as the dialog names it", async () => {
        for (const name of names) {
          const shown = await textsShown(name, language);
          const translated = await helpOf(name, language);
          for (const [at, block] of (await helpOf(name, "en-US")).entries()) {
            for (const [, quoted = ""] of block.text.matchAll(/“([^”]+)”/g)) {
              const options = shown.get(quoted) ?? [];
              const text = translated[at]?.text ?? "";
              assert.ok(
                options.length === 0 || options.some((option) => text.includes(option)),
                `${name}: “${quoted}” is ${options.join(" or ")}: ${text}`,
              );
            }
          }
        }
      });

      it("has one word for one thing", async () => {
        for (const name of names) {
          const texts = [...(await catalogOf(name, language)).values()];
          const help = (await helpOf(name, language)).map(({ text }) => text);
          assert.deepEqual(
            [...texts, ...help].filter((text) => avoided[language]?.test(text) === true),
            [],
            name,
          );
        }
        assert.deepEqual(
          (await pageTexts(language)).filter((text) => avoided[language]?.test(text) === true),
          [],
        );
      });

      if (language === "fr") {
        it("lets no line begin with a mark that French sets apart", async () => {
          const apart = /\S* [:;?!»]|« \S*/g;
          for (const name of names) {
            for (const kind of ["json", "html"] as const) {
              const text: string = await readFile(fileOf(name, language, kind), "utf8");
              assert.deepEqual(text.replace(/<[^>]*>|": /g, "").match(apart), null, `${name}.${kind}`);
            }
          }
          assert.deepEqual((await pageTexts(language)).join("\n").match(apart), null);
        });
      }

      it("names nodes so that the palette breaks no word of theirs", async () => {
        for (const name of names.filter((one) => !["device", "cloud", "store"].includes(one))) {
          const label = (await catalogOf(name, language)).get("palette") ?? "";
          assert.ok(Math.max(...label.split(/[\s-]/).map((word) => word.length)) <= 12, label);
        }
      });

      it("calls nodes in its help as the palette calls them", async () => {
        const palette = new Map<string, string>();
        for (const name of names) {
          const label = (await catalogOf(name)).get("palette") ?? "";
          palette.set(label, (await catalogOf(name, language)).get("palette") ?? "");
        }
        // These are words for what is done, too: "a remote measure".
        palette.delete("measure");
        palette.delete("video");
        for (const name of names) {
          const translated = await helpOf(name, language);
          for (const [at, block] of (await helpOf(name, "en-US")).entries()) {
            for (const called of block.names) {
              const expected = palette.get(called);
              if (expected !== undefined) {
                assert.ok(translated[at]?.names.includes(expected), `${name}: ${called} is ${expected}`);
              }
            }
          }
        }
      });

      if (language !== "en-US") {
        it("leaves nothing in English", async () => {
          for (const name of names) {
            const translated = await catalogOf(name, language);
            const left = [...(await catalogOf(name))].filter(
              ([key, text]) =>
                translated.get(key) === text &&
                hasWords(text) &&
                !shared.has(text) &&
                text !== "msg.action" &&
                // Languages are called what they call themselves.
                !/^language\.[a-z]{2}(?:-[A-Z]{2})?$/.test(key),
            );
            assert.deepEqual(left, [], name);
            const help = await helpOf(name, language);
            const same = (await helpOf(name, "en-US")).filter(
              ({ tag, text }, at) =>
                !tag.startsWith("<dt") && help[at]?.text === text && hasWords(text) && !shared.has(text),
            );
            assert.deepEqual(same, [], name);
          }
        });
      }
    });
  }
});
