import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fields } from "../../src/errors/phrases.ts";
import { catalogOf, editorSources, languages, logged, names, root, withoutUnit } from "./sources.ts";

const runtimeKeys = /^(?:status|errors|hints|phrases|fields|format|report)\./;

/** The keys that a type's form and script name as a whole; the editor's tests look at those put together at run time. */
function namedKeys(source: string): string[] {
  const inForms = [...source.matchAll(/data-i18n="(?:\[[a-z-]+\])?([^"]+)"/g)].map(([, key = ""]) => key);
  const inScripts = [...source.matchAll(/\btexts\("([^"]+)"/g)].map(([, key = ""]) => key);
  const inSharedScripts = [...source.matchAll(/\bshared\("([^"]+)"/g)].map(
    ([, key = ""]) => `shared:common.${key}`,
  );
  const inTables = [...source.matchAll(/\brequired: "([^"]+)"/g)].map(([, key = ""]) => key);
  return [...inForms, ...inScripts, ...inSharedScripts, ...inTables];
}

function marks(text: string): string[] {
  return [...text.matchAll(/__\w+?__/g)].map(([mark]) => mark).toSorted();
}

describe("the catalogs", () => {
  it("have every property that a sentence can name, as the forms call it", async () => {
    // The form calls it “Its value”, below this one.
    const labelled = (field: string): string => (field === "secret" ? "secretIn" : field);
    for (const language of await languages()) {
      const catalogs = await Promise.all(names.map((name) => catalogOf(name, language)));
      const shared = await catalogOf("device", language);
      const called = [...shared].filter(([key]) => key.startsWith("fields."));
      assert.deepEqual(
        called.map(([key]) => key),
        fields.map((field) => `fields.${field}`),
      );
      for (const [key, text] of called) {
        const name = labelled(key.slice("fields.".length));
        const labels = [`common.label.${name}`, `label.${name}`]
          .flatMap((label) => catalogs.map((catalog) => catalog.get(label)))
          .filter((label) => label !== undefined);
        // What only the library takes has no label.
        if (!["id", "message"].includes(name)) {
          assert.ok(labels.map(withoutUnit).includes(text), `${language} ${key}: ${text}`);
        }
      }
    }
  });

  it("have every key that forms and scripts name", async () => {
    const shared = await catalogOf("device");
    const missingIn = (source: string, own: readonly string[]): string[] =>
      namedKeys(source).filter((key) =>
        key.startsWith("shared:") ? !shared.has(key.slice("shared:".length)) : !own.includes(key),
      );
    const all: string[] = [];
    for (const name of names) {
      const own = [...(await catalogOf(name)).keys()];
      assert.deepEqual(missingIn(await editorSources(name), own), [], name);
      all.push(...own);
    }
    assert.deepEqual(missingIn(await editorSources("shared"), all), []);
  });

  it("have no key that nothing uses", async () => {
    const shared = await editorSources("shared");
    const all = [shared, ...(await Promise.all(names.map((name) => editorSources(name))))].join("\n");
    for (const name of names) {
      const source = name === "device" ? all : shared + (await editorSources(name));
      const unused = [...(await catalogOf(name)).keys()].filter((key) => {
        const short = key.replace(/^common\./, "");
        const beginning = short.slice(0, short.lastIndexOf(".") + 1);
        const mentions = [`"${short}"`, `"${key}"`, `]${key}"`, `shared:${key}"`, `]shared:${key}"`];
        const isPutTogether = beginning !== "" && source.includes(`\`${beginning}\${`);
        return (
          !runtimeKeys.test(key) && !isPutTogether && !mentions.some((mention) => source.includes(mention))
        );
      });
      assert.deepEqual(unused, [], name);
    }
  });

  it("keep every status under 32 characters", async () => {
    for (const language of await languages()) {
      const filled = {
        count: 99,
        done: "123.4 MB",
        total: "123.4 MB",
        size: "123.4 MB",
        unit: "lb",
      } as const;
      for (const [key, text] of await catalogOf("device", language)) {
        if (key.startsWith("status.") && !logged.has(key)) {
          const shown = text.replace(/__(\w+)__/g, (_mark, name: keyof typeof filled) =>
            String(filled[name]),
          );
          assert.ok(shown.length < 32, `${language} ${key}: ${shown}`);
        }
      }
    }
  });

  it("have the same keys and the same marks in every language, and help for every type", async () => {
    for (const language of await languages()) {
      for (const name of names) {
        await assertSame(name, language);
        const help = await readFile(join(root, `nodes/${name}/locales/${language}/${name}.html`), "utf8");
        assert.match(
          help,
          new RegExp(`^<script type="text/html" data-help-name="dimensioner-${name}">\n`),
          language,
        );
      }
    }
  });

  async function assertSame(name: string, language: string): Promise<void> {
    const english = await catalogOf(name);
    const other = await catalogOf(name, language);
    assert.deepEqual([...other.keys()].toSorted(), [...english.keys()].toSorted(), `${name} in ${language}`);
    for (const [key, text] of english) {
      assert.deepEqual(marks(other.get(key) ?? ""), marks(text), `${name} in ${language}: ${key}`);
      assert.notEqual(other.get(key), "", `${name} in ${language}: ${key}`);
    }
  }
});
