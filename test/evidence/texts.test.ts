import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { PackageFinding } from "../../src/model/archive-reports.ts";
import { createWords } from "../../src/evidence/page/client/words.ts";
import { chooseLanguage } from "../../src/evidence/page/requests.ts";
import { languages } from "../../src/rules/languages.ts";

const root = join(import.meta.dirname, "../..");
const page = join(root, "src/evidence/page");

async function textsOf(language: string): Promise<Record<string, string>> {
  return JSON.parse(await readFile(join(page, `client/texts/${language}.json`), "utf8")) as Record<
    string,
    string
  >;
}

function marks(text = ""): string[] {
  return [...text.matchAll(/__\w+?__/g)].map(([mark]) => mark).toSorted();
}

describe("the texts of the evidence page", () => {
  it("are in the languages of the editor, the same texts in each, with the same values", async () => {
    const ofEditor = await readdir(join(root, "nodes/device/locales"));
    assert.deepEqual(ofEditor.toSorted(), languages.toSorted());
    const english = await textsOf("en-US");
    for (const language of languages) {
      const texts = await textsOf(language);
      assert.deepEqual(Object.keys(texts), Object.keys(english), language);
      for (const [key, text] of Object.entries(texts)) {
        assert.notEqual(text.trim(), "", `${language} ${key}`);
        assert.deepEqual(marks(text), marks(english[key]), `${language} ${key}`);
      }
    }
  });

  it("keep a name from right to left apart from the number behind it", async () => {
    const words = createWords("en-US", await textsOf("en-US"));
    const held = (person: string): string => words.say("held", { at: "noon", person, reason: "4711" });
    assert.equal(held("Sarah"), "On hold since noon, by Sarah: 4711");
    assert.equal(held("שרה"), "On hold since noon, by \u2068שרה\u2069: 4711");
  });

  it("have one for each reason with which the server refuses a request, and no others", async () => {
    const files = (await readdir(page)).filter((name) => name.endsWith(".ts"));
    const sources = await Promise.all(files.map((name) => readFile(join(page, name), "utf8")));
    const reasons = [...sources.join("\n").matchAll(/new Refusal\(\d+,([^{)]*)/g)].flatMap(
      ([, argument = ""]) =>
        [...argument.replaceAll(/=== "\w+"/g, "").matchAll(/"(\w+)"/g)].map(([, reason = ""]) => reason),
    );
    // The page itself says this one.
    const known = new Set([...reasons, "noAnswer"]);
    const texts = Object.keys(await textsOf("en-US"))
      .filter((key) => key.startsWith("reason."))
      .map((key) => key.slice("reason.".length));
    assert.deepEqual(texts.toSorted(), [...known].toSorted());
  });

  it("have one for each kind of what a verification finds, and no others", async () => {
    const kinds = {
      changed: true,
      index: true,
      document: true,
      manifest: true,
      missing: true,
      "missing-package": true,
      "not-logged": true,
      retention: true,
      stray: true,
      timestamp: true,
      unreadable: true,
    } satisfies Readonly<Record<PackageFinding["kind"], true>>;
    const texts = Object.keys(await textsOf("en-US")).filter((key) => key.startsWith("finding."));
    assert.deepEqual(
      texts,
      Object.keys(kinds).map((kind) => `finding.${kind}`),
    );
  });

  it("are those that the browser prefers", () => {
    for (const [accepted, language] of [
      [undefined, "en-US"],
      ["", "en-US"],
      ["de-AT,de;q=0.9,en;q=0.8", "de"],
      ["nl,pt;q=0.5,fr;q=0.9", "fr"],
      ["zh-Hant-TW", "zh-TW"],
      ["zh", "zh"],
      ["en-GB,de", "en-US"],
      ["de;q=0,ja", "ja"],
      [`${"x,".repeat(5_000)}de`, "en-US"],
    ] as const) {
      assert.equal(chooseLanguage(accepted ?? ""), language, accepted?.slice(0, 40));
    }
  });
});
