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

function patternsIn(command: string): string[] {
  return [...command.matchAll(/"(.*?)"/g)].map(([, pattern = ""]) => pattern);
}

describe("the npm scripts that test", () => {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  const patterns = Object.entries(scripts)
    .filter(([name]) => name.startsWith("test:"))
    .flatMap(([, command]) => patternsIn(command));

  it("name files that there are: mocha only warns of a pattern that finds nothing", () => {
    assert.ok(patterns.length > 5);
    assert.deepEqual(
      patterns.flatMap(alternatives).filter((pattern) => globSync(pattern, { cwd: root }).length === 0),
      [],
    );
  });

  it("run each test file once in npm test, on the Node.js that runs it", () => {
    const main = readFileSync(join(root, "tools", "test.ts"), "utf8");
    const run = [...main.matchAll(/scripts\.suite\("(.*?)"/g)].flatMap(([, script = ""]) => {
      const [wanted = [], ...ignored] = (scripts[script] ?? "").split("--ignore").map(patternsIn);
      return globSync(wanted, { cwd: root, exclude: ignored.flat() });
    });
    const runs = (file: string): number => run.filter((one) => one === file).length;
    assert.deepEqual(
      globSync("test/**/*.test.ts", { cwd: root }).filter((file) => runs(file) !== 1),
      // It breaks each promise and runs the tests of it: npm run test:mutations.
      [join("test", "mutations", "mutations.test.ts")],
    );
  });

  it("have a * in each pattern: mocha takes one without for a path, whatever braces it has", () => {
    assert.deepEqual(
      patterns.filter((pattern) => !pattern.includes("*")),
      [],
    );
  });
});
