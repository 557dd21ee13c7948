import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..");

/** The patterns that one with braces stands for. */
function alternatives(pattern: string): string[] {
  const [braces, names] = /\{([^}]*)\}/.exec(pattern) ?? [];
  return braces === undefined
    ? [pattern]
    : (names?.split(",").flatMap((name) => alternatives(pattern.replace(braces, name))) ?? []);
}

describe("the npm scripts that test", () => {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  const patterns = Object.entries(scripts)
    .filter(([name]) => name.startsWith("test:"))
    .flatMap(([, command]) => [...command.matchAll(/"(test\/.*?)"/g)].map(([, pattern = ""]) => pattern));

  it("name files that there are: mocha only warns of a pattern that finds nothing", () => {
    assert.ok(patterns.length > 5);
    assert.deepEqual(
      patterns.flatMap(alternatives).filter((pattern) => globSync(pattern, { cwd: root }).length === 0),
      [],
    );
  });

  it("have a * in each pattern: mocha takes one without for a path, whatever braces it has", () => {
    assert.deepEqual(
      patterns.filter((pattern) => !pattern.includes("*")),
      [],
    );
  });
});
