import assert from "node:assert/strict";
import { parse as parseYaml } from "yaml";
import { readEvent } from "../../src/vault/log/events.ts";
import { blocksIn, readPages } from "./pages.ts";

const pages = readPages();

/** Which languages there are, and where each is checked. */
const languages = new Set([
  "sh", // shell-commands.test.ts
  "js", // scripts.test.ts
  "ts", // scripts.test.ts
  "sql", // store-tables.test.ts, fleet.test.ts
  "json",
  "yaml",
  "nginx",
  "caddyfile",
  "text",
  "mermaid",
  "html",
]);

describe("the code blocks of the pages", () => {
  it("say which language they are in", () => {
    const odd = pages.flatMap(({ path, codeBlocks }) =>
      codeBlocks
        .filter(({ language }) => !languages.has(language))
        .map(({ language, line }) => `${path}:${line}: “${language}”`),
    );
    assert.deepEqual(odd, []);
  });

  for (const { at, text } of blocksIn(pages, "json")) {
    it(`${at} is JSON`, () => assert.doesNotThrow(() => JSON.parse(text)));
  }

  for (const { at, text } of blocksIn(pages, "yaml")) {
    it(`${at} is YAML`, () => assert.equal(typeof parseYaml(text), "object"));
  }

  for (const { at, text } of blocksIn(pages, "nginx", "caddyfile")) {
    it(`${at} opens and closes its blocks`, () => {
      const code = text.replace(/(^|\s)#.*$/gm, "").replace(/"[^"\n]*"|'[^'\n]*'/g, "''");
      let depth = 0;
      for (const brace of code.match(/[{}]/g) ?? []) {
        depth += brace === "{" ? 1 : -1;
        assert.ok(depth >= 0, "a block is closed that was not opened");
      }
      assert.equal(depth, 0);
    });
  }

  for (const { at, text } of blocksIn(pages, "nginx")) {
    it(`${at} ends its directives with a semicolon`, () => {
      const lines = text.split("\n").map((line) => line.replace(/\s#.*$|^#.*$/, "").trim());
      const odd = lines.filter((line) => line !== "" && !/[;{}]$/.test(line));
      assert.deepEqual(odd, []);
    });
  }

  it("an example of a line of the log is one", () => {
    const lines = blocksIn(pages, "text").flatMap(({ text }) => text.split("\n"));
    const example = lines.find((line) => /^\d+ \{/.test(line)) ?? assert.fail();
    assert.equal(readEvent(example.replace(/^\d+ /, ""))?.what, "archived");
  });
});
