import assert from "node:assert/strict";
import { patternProblem } from "../../src/rules/scans.ts";

describe("the regular expression that takes the reference from a scan", () => {
  const problemOf = (pattern: string): string | undefined =>
    patternProblem(pattern)?.phrase.replace(/^phrases\./, "");

  for (const pattern of [
    "^ORDER-(\\d+)$",
    "^(?:A|B)(\\d+)",
    "(?<order>\\d+)",
    "\\((\\d+)\\)",
    "[(](\\d+)[)]",
    "[^\\]([](\\d+)",
    "[[(](\\d+)",
    "\\[(\\d+)\\]",
    "(\\p{L}+)\\u{28}\\x28",
    "\u{1d4d2}(.)",
    "(A{999})B",
    "(?:(?:A{10}){9}){11}(.)",
    "\\u{1000}(?:\\{[{1}]){300}(A{1,4}?)",
    "(A)[{1000}]{9}\\{{1,100}",
  ]) {
    it(`${pattern} has one group`, () => assert.equal(problemOf(pattern), undefined));
  }
  for (const [pattern, problem] of [
    ["\\d+", "patternGroup"],
    ["(?:\\d+)", "patternGroup"],
    ["\\(\\d+\\)", "patternGroup"],
    ["[(\\d)]", "patternGroup"],
    ["(A)(B)", "patternGroup"],
    ["((A)B)", "patternGroup"],
    ["(A)(?<b>B)", "patternGroup"],
    ["(A", "patternSyntax"],
    ["A)|(B", "patternSyntax"],
    ["(A)\\", "patternSyntax"],
    ["(A)|\\1", "patternUnsupported"],
    ["(?<=A)(B)", "patternUnsupported"],
    ["(?!A)(B)", "patternUnsupported"],
    ["(?<a>A)\\k<a>", "patternUnsupported"],
    [`(${"A".repeat(500)})`, "patternLong"],
    ["(A{1001})", "patternRepeats"],
    ["(A{0,1001})", "patternRepeats"],
    ["(A{1001,})", "patternRepeats"],
    [`(${"\\p{L}{1000}".repeat(8)})`, "patternRepeats"],
    ["((?:[A-Z]\\d){501})", "patternRepeats"],
    ["((?:(?:\\u{1F600}|B){10}){34})", "patternRepeats"],
  ] as const) {
    it(`${pattern.slice(0, 30)} cannot be used: ${problem}`, () => assert.equal(problemOf(pattern), problem));
  }

  it("is not compiled for a match, which takes an engine that tries all ways for ever", () => {
    const before = process.cpuUsage();
    assert.equal(problemOf(`(${"(?:a?|b?)".repeat(23)}c)`), undefined);
    assert.ok(process.cpuUsage(before).user < 1_000_000, "less than a second of the processor's time");
  });
});
