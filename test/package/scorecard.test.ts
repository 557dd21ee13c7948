import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { repository } from "./packed.ts";

/** As much of package.json as Node-RED, its flow library and npm go by. */
interface Manifest {
  readonly name: string;
  readonly license: string;
  readonly repository: { readonly url: string };
  readonly bugs: { readonly url: string };
  readonly keywords: readonly string[];
  readonly engines: { readonly node: string };
  readonly dependencies: Readonly<Record<string, string>>;
  readonly "node-red": { readonly version: string; readonly nodes: Readonly<Record<string, string>> };
}

/**
 * The rules that need no internet; node-red-dev, which draws the scorecard, looks up other packages for some of them.
 * What is read from the nodes' pages is in test/editor/built-html.test.ts, what is installed in
 * test/security/package.test.ts.
 */
describe("the package by the rules of Node-RED's scorecard", () => {
  const manifest = JSON.parse(readFileSync(join(repository, "package.json"), "utf8")) as Manifest;
  const types = Object.keys(manifest["node-red"].nodes);

  it("has a license and a README (P01, P02)", () => {
    assert.equal(manifest.license, "MIT");
    const files = readdirSync(repository);
    assert.ok(files.includes("LICENSE") && files.includes("README.md"));
  });

  it("names its repository and where to report defects (P03)", () => {
    assert.match(manifest.repository.url, /^git\+https:/);
    assert.match(manifest.bugs.url, /^https:/);
  });

  it("has a scoped name and the keyword node-red (P04, P05)", () => {
    assert.match(manifest.name, /^@[a-z0-9-]+\/node-red-[a-z0-9-]+$/);
    assert.ok(manifest.keywords.includes("node-red"));
  });

  it("says which Node-RED and which Node.js it needs: the one that undici needs (P06, P07)", () => {
    assert.equal(manifest["node-red"].version, ">=4.1.0");
    const undici = createRequire(import.meta.url)("undici/package.json") as Pick<Manifest, "engines">;
    assert.equal(`${manifest.engines.node}.0`, undici.engines.node);
  });

  it("has dependencies with ranges that take the newest (D03)", () => {
    assert.deepEqual(
      Object.values(manifest.dependencies).filter((range) => !/^\^\d+\.\d+\.\d+$/.test(range)),
      [],
    );
  });

  it("has types with a prefix of their own (N01)", () => {
    assert.deepEqual(
      types.filter((type) => !type.startsWith("dimensioner-")),
      [],
    );
  });

  it("shows each type in an example, which is a list at the top (N02)", () => {
    const used = readdirSync(join(repository, "examples")).flatMap((name) => {
      const flow: unknown = JSON.parse(readFileSync(join(repository, "examples", name), "utf8"));
      assert.ok(Array.isArray(flow), name);
      return flow.map((node: { type: string }) => node.type);
    });
    assert.deepEqual(
      types.filter((type) => !used.includes(type)),
      [],
    );
  });
});
