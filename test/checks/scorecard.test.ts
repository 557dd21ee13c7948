import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { findProblems, type Package } from "../../tools/checks/scorecard.ts";

const type = "dimensioner-measure";
const page = `<script type="text/html" data-template-name="${type}"></script>
  RED.nodes.registerType("${type}",{category:"dimensioner",color:"#86c5be",icon:"measure.svg"})`;
const good: Package = {
  manifest: {
    name: "@scope/node-red-dimensioner",
    license: "MIT",
    keywords: ["node-red"],
    repository: { url: "git+https://example.com/x.git" },
    bugs: { url: "https://example.com/x/issues" },
    engines: { node: ">=22.19" },
    dependencies: { undici: "^8.0.0" },
    "node-red": { version: ">=4.1.0", nodes: { [type]: "dist/measure.js" } },
  },
  files: ["LICENSE", "README.md"],
  html: new Map([["dist/measure.js", page]]),
  icons: ["measure.svg"],
  examples: new Map([["01.json", `[{"id":"1","type":"${type}"}]`]]),
};

function withManifest(changes: Record<string, unknown>): Package {
  return { ...good, manifest: { ...good.manifest, ...changes } };
}

function withPage(text: string): Package {
  return { ...good, html: new Map([["dist/measure.js", text]]) };
}

describe("tools/checks/scorecard", () => {
  it("has nothing to say about a package that keeps the rules", () => {
    assert.deepEqual(findProblems(good), []);
  });

  it("asks for the Node.js that the installed undici asks for", () => {
    const { engines } = createRequire(import.meta.url)("undici/package.json") as {
      engines: { node: string };
    };
    assert.equal(engines.node, ">=22.19.0");
  });

  const broken: readonly (readonly [rule: string, what: string, Package])[] = [
    ["P01", "no license", withManifest({ license: "" })],
    ["P01", "no LICENSE file", { ...good, files: ["README.md"] }],
    ["P02", "no README", { ...good, files: ["LICENSE"] }],
    ["P03", "no bugs", withManifest({ bugs: {} })],
    ["P04", "no scope", withManifest({ name: "node-red-contrib-dimensioner" })],
    ["P05", "no keyword", withManifest({ keywords: ["parcel"] })],
    ["P07", "an engine that undici does not run on", withManifest({ engines: { node: ">=22.9" } })],
    ["P07", "an engine that shuts out 22.19", withManifest({ engines: { node: ">=24" } })],
    [
      "D01",
      "7 dependencies",
      withManifest({ dependencies: Object.fromEntries([..."abcdefg"].map((name) => [name, "^1.0.0"])) }),
    ],
    ["D03", "a pinned dependency", withManifest({ dependencies: { undici: "8.0.0" } })],
    ["D03", "a range that is half pinned", withManifest({ dependencies: { undici: "^8.0.0 || 9.0.0" } })],
    ["P06", "no Node-RED version", withManifest({ "node-red": { nodes: { [type]: "dist/measure.js" } } })],
    ["H01", "no colour", withPage(page.replace('color:"#86c5be"', "color"))],
    ["H02", "no icon", withPage(page.replace('icon:"measure.svg"', "icon"))],
    ["H02", "an icon that is not there", { ...good, icons: [] }],
    ["H03", "no form", withPage(page.replace("data-template-name", "data-name"))],
    ["D02", "an install script", withManifest({ scripts: { postinstall: "node x.js" } })],
    [
      "N01",
      "a name that is not literal",
      withPage(page.replace(`registerType("${type}"`, "registerType(name")),
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
