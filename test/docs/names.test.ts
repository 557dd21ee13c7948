import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { errorCodes } from "../../src/errors/codes.ts";
import { simulator } from "../../src/cli/simulator.ts";
import { readPages, root } from "./pages.ts";

const pages = readPages();

describe("what the pages name", () => {
  it("is there: environment variables, error codes, node types and commands", () => {
    const sources = readdirSync(join(root, "examples"))
      .map((name) => readFileSync(join(root, "examples", name), "utf8"))
      .join();
    const types = Object.keys(
      (JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { "node-red": { nodes: object } })[
        "node-red"
      ].nodes,
    );
    for (const { path, text } of pages) {
      const codes = text.match(/\bERR_[A-Z_]+\b/g) ?? [];
      assert.deepEqual(
        codes.filter((code) => !errorCodes.some((one) => one === code)),
        [],
        path,
      );
      const variables = text.match(/\bDIMENSIONER_[A-Z_]+\b/g) ?? [];
      assert.deepEqual(
        variables.filter((name) => !sources.includes(name)),
        [],
        path,
      );
      const named = text.match(/(?<![\w./@-])dimensioner-[a-z-]+(?![\w/])/g) ?? [];
      assert.deepEqual(
        [...new Set(named)].filter((name) => !types.includes(name)),
        [],
        path,
      );
    }
  });

  it("is there: examples", () => {
    const examples = new Set(readdirSync(join(root, "examples")).map((name) => name.replace(/\.json$/, "")));
    const named = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/\*\*(\d\d [a-z][^*]+)\*\*/g)].map(([, name = ""]) => `${path}: ${name}`),
    );
    assert.ok(named.length > examples.size, `${named.length} names`);
    assert.deepEqual(
      named.filter((name) => !examples.has(name.replace(/^.*?: /, ""))),
      [],
    );
  });

  it("is there: options of the simulator's command line", () => {
    const page = pages.find(({ path }) => path === "docs/simulator.md") ?? assert.fail();
    const named = [...page.text.matchAll(/`(--[a-z-]+)`/g)].map(([, option = ""]) => option);
    assert.ok(named.length > 3);
    assert.deepEqual(
      named.filter((option) => !simulator.help.includes(option)),
      [],
    );
  });
});
