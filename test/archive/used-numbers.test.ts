import assert from "node:assert/strict";
import { UsedNumbers } from "../../src/vault/folder/folder-committer.ts";

/** Notes that packages with these keys have a name, from the one without a number on. */
function use(numbers: UsedNumbers, path: string, keys: readonly (string | undefined)[]): void {
  const known = numbers.take(path);
  keys.forEach((key) => known.add(key));
  numbers.keep(path, known);
}

describe("archive: the numbers of a name", () => {
  it("are known with the keys of their packages, and always looked at where no package could be read", () => {
    const numbers = new UsedNumbers();
    use(numbers, "2026/x", ["a", undefined, "b", "a"]);
    const known = numbers.take("2026/x");
    assert.deepEqual([known.next, known.candidates("a"), known.candidates("c")], [4, [1, 0, 3], [1]]);
    assert.equal(numbers.take("2026/y").next, 0);
  });

  it("are forgotten after a day, because others may use those of deleted packages again", () => {
    let nowMs = 0;
    const numbers = new UsedNumbers(() => nowMs);
    use(numbers, "x", ["a", "b"]);
    nowMs = 24 * 60 * 60 * 1_000 - 1;
    use(numbers, "x", ["c"]);
    nowMs += 1;
    assert.equal(numbers.take("x").next, 0);
  });

  it("are remembered of names that several packages have, and of so many packages that the memory is bounded", () => {
    const numbers = new UsedNumbers();
    const many = Array.from({ length: 40_000 }, (_none, index) => `${index}`);
    use(numbers, "once", ["a"]);
    ["oldest", "old", "new"].forEach((path) => use(numbers, path, many));
    const next = ["once", "oldest", "old", "new"].map((path) => numbers.take(path).next);
    assert.deepEqual(next, [0, 0, 40_000, 40_000]);
  });
});
