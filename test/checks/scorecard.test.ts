import assert from "node:assert/strict";
import { findProblems, type Package } from "../../tools/checks/scorecard.ts";

const type = "dimensioner-measure";
const good: Package = {
  manifest: {
    name: "@scope/node-red-dimensioner",
    license: "MIT",
    keywords: ["node-red"],
    repository: { url: "git+https://example.com/x.git" },
    bugs: { url: "https://example.com/x/issues" },
    engines: { node: ">=20.19" },
    dependencies: { undici: "^7" },
    "node-red": { version: ">=4.1.0", nodes: { [type]: "dist/measure.js" } },
  },
  files: ["LICENSE", "README.md"],
  html: new Map([["dist/measure.js", `RED.nodes.registerType("${type}",{category:"dimensioner"})`]]),
  examples: new Map([["01.json", `[{"id":"1","type":"${type}"}]`]]),
};

function withManifest(changes: Record<string, unknown>): Package {
  return { ...good, manifest: { ...good.manifest, ...changes } };
}

describe("tools/checks/scorecard", () => {
  it("has nothing to say about a package that keeps the rules", () => {
    assert.deepEqual(findProblems(good), []);
  });

  const broken: readonly (readonly [rule: string, what: string, Package])[] = [
    ["P01", "no license", withManifest({ license: "" })],
    ["P01", "no LICENSE file", { ...good, files: ["README.md"] }],
    ["P02", "no README", { ...good, files: ["LICENSE"] }],
    ["P03", "no bugs", withManifest({ bugs: {} })],
    ["P04", "no scope", withManifest({ name: "node-red-contrib-dimensioner" })],
    ["P05", "no keyword", withManifest({ keywords: ["parcel"] })],
    ["P07", "an engine that shuts out 22.9.0", withManifest({ engines: { node: ">=22.12" } })],
    [
      "D01",
      "7 dependencies",
      withManifest({ dependencies: { a: "", b: "", c: "", d: "", e: "", f: "", g: "" } }),
    ],
    ["D02", "an install script", withManifest({ scripts: { postinstall: "node x.js" } })],
    [
      "N01",
      "a name that is not literal",
      { ...good, html: new Map([["dist/measure.js", "registerType(name)"]]) },
    ],
    [
      "N02",
      "an example that is no list",
      { ...good, examples: new Map([...good.examples, ["02.json", "{}"]]) },
    ],
    ["N02", "a type in no example", { ...good, examples: new Map([["01.json", "[]"]]) }],
  ];
  for (const [rule, what, found] of broken) {
    it(`sees ${what} (${rule})`, () => {
      const problems = findProblems(found);
      assert.equal(problems.length, 1, problems.join("\n"));
      assert.ok(problems[0]?.startsWith(`${rule}: `), problems[0]);
    });
  }
});
