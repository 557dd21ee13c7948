import assert from "node:assert/strict";
import { runInNewContext } from "node:vm";
import * as v from "valibot";
import { readExample } from "../support/examples.ts";
import { avoided } from "../editor/avoided-words.ts";

const languages = { en: "en-US", de: "de", es: "es" } as const;
const texts = v.strictObject({
  en: v.record(v.string(), v.string()),
  de: v.record(v.string(), v.string()),
  es: v.record(v.string(), v.string()),
});

/** What is the same in English and in another language. */
const shared = new Set([
  "Cloud",
  "Error",
  "Scan",
  "Supervisor",
  "{n} GB",
  "{n} d",
  "{n} h",
  "{n} min",
  "{n} s",
]);

/** The texts that a flow keeps in one Function node, as that node sets them when it starts. */
async function textsOf(example: string): Promise<v.InferOutput<typeof texts>> {
  const node = (await readExample(example)).find(({ name }) => name === "All texts") ?? assert.fail();
  let found: unknown;
  const flow = { set: (_: string, value: unknown) => (found = value) };
  runInNewContext(v.parse(v.string(), node["initialize"]), { flow });
  return v.parse(texts, found);
}

const marksOf = (text: string): string[] => (text.match(/\{\w+\}/g) ?? []).toSorted();

for (const example of ["30", "31"]) {
  describe(`the texts of example ${example}`, () => {
    it("are the same ones in each language, with the same marks, and none is empty or left in English", async () => {
      const { en, ...others } = await textsOf(example);
      for (const [language, translated] of Object.entries(others)) {
        assert.deepEqual(Object.keys(translated), Object.keys(en), language);
        for (const [key, text] of Object.entries(en)) {
          const other = translated[key] ?? "";
          assert.deepEqual(new Set(marksOf(other)), new Set(marksOf(text)), `${language} ${key}`);
          assert.match(other, /^\S.*\S$/, `${language} ${key}`);
          assert.ok(other !== text || shared.has(text), `${language} ${key}: ${text}`);
        }
      }
    });

    it("use the words of the nodes, and address people as they do", async () => {
      for (const [name, all] of Object.entries(await textsOf(example))) {
        const words = avoided[languages[v.parse(v.picklist(["en", "de", "es"]), name)]] ?? assert.fail();
        assert.deepEqual(
          Object.values(all).filter((text) => words.test(text)),
          [],
        );
      }
    });
  });
}

describe("the table of example 31", () => {
  it("has a heading of its own for each column in each language, because Dashboard takes them from the rows", async () => {
    for (const all of Object.values(await textsOf("31"))) {
      const columns = Object.entries(all).filter(([key]) => key.startsWith("column"));
      assert.equal(new Set(columns.map(([, text]) => text)).size, 7);
    }
  });
});
