import assert from "node:assert/strict";
import { assert as check, json, property } from "fast-check";
import { JsonLimitError, listLimits, parseJson as parse, recordLimits } from "../../src/model/parse-json.ts";

const parseJson = (text: string): unknown => parse(text, listLimits);

describe("JSON from the wire", () => {
  const exact: [string, unknown][] = [
    ["9007199254740991", 9007199254740991],
    ["9007199254740993", "9007199254740993"],
    // A number could hold this one, but ids of one kind must not differ in type.
    ["9007199254740994", "9007199254740994"],
    ["-9007199254740993", "-9007199254740993"],
    ["123456789012345678901234567890", "123456789012345678901234567890"],
    ["[1, -0, 9007199254740993]", [1, -0, "9007199254740993"]],
    ["0.12345678901234567", Number("0.12345678901234567")],
    ["[1e400, 1234567890123456]", [Infinity, 1234567890123456]],
    [
      '{"id":9007199254740993,"n":1.50,"t":"9007199254740993"}',
      { id: "9007199254740993", n: 1.5, t: "9007199254740993" },
    ],
    ['{"a":1,"a":2}', { a: 2 }],
    ['{"a":1,"a":2,"id":9007199254740993}', { a: 2, id: "9007199254740993" }],
    ['"\\u00e9 \\ud83d\\udce6 \\ud800"', "é 📦 \ud800"],
  ];
  for (const [text, value] of exact) {
    it(text, () => assert.deepEqual(parseJson(text), value));
  }

  for (const key of ["__proto__", "\\u005f_proto__", "__proto\\u005F_"]) {
    for (const id of ["1", "9007199254740993"]) {
      it(`drops ${key} beside ${id}`, () => {
        const value = parseJson(`{"id":${id},"${key}":{"errorCode":0,"ok":true},"b":[{"${key}":{"x":1}}]}`);
        assert.deepEqual(Object.keys(value ?? {}), ["id", "b"]);
        assert.equal(Object.getPrototypeOf(value), Object.prototype);
        assert.equal(Reflect.get(value ?? {}, "errorCode"), undefined);
        assert.equal(Reflect.get({}, "ok"), undefined);
      });
    }
  }

  for (const text of [
    "",
    " ",
    "{",
    "[1,]",
    "{'a':1}",
    "NaN",
    "01",
    "1 2",
    "undefined",
    "9007199254740993,",
    "\uFEFF1",
  ]) {
    it(`refuses ${JSON.stringify(text)}`, () => assert.throws(() => parseJson(text), SyntaxError));
  }

  const limits = { depth: 3, entries: 4, values: 9 };
  for (const [text, isTooMuch] of [
    ["[[[]]]", false],
    ["[[[[]]]]", true],
    ['[{"a":[{}]}]', true],
    ["[[],[],[[]]]", false],
    ["[1,2,3,4]", false],
    ["[1,2,3,4,5]", true],
    ["[[1,2,3],[1,2]]", false],
    ["[[1,2,3],[1,2,3,4]]", true],
    ['{"a":1,"b":2,"c":3,"d":4}', false],
    ['{"a":1,"b":2,"c":3,"d":4,"e":5}', true],
    ['["[[[[[,,,,,,,,,,,\\"[[[[", "\\\\", "]]{{{"]', false],
  ] as const) {
    it(`${isTooMuch ? "refuses" : "takes"} ${text} with 3 levels, 4 entries, 9 values`, () => {
      if (isTooMuch) {
        assert.throws(() => parse(text, limits), JsonLimitError);
      } else {
        assert.deepEqual(parse(text, limits), JSON.parse(text));
      }
    });
  }

  it("refuses what is nested too deeply or holds too much, before it is built and in no time to speak of", () => {
    const megabytes = 5_000_000;
    for (const text of [
      "[".repeat(megabytes),
      '{"a":'.repeat(megabytes / 5),
      `[${"[],".repeat(megabytes / 3)}[]]`,
      `{${Array.from({ length: 400_000 }, (_, index) => `"k${index}":1`).join(",")}}`,
      `[${"9007199254740993,".repeat(200_000)}1]`,
    ]) {
      // The processor's time, and the shortest of several: the machine may be busy with something else.
      const times = Array.from({ length: 5 }, () => {
        const before = process.cpuUsage();
        assert.throws(() => parse(text, recordLimits), JsonLimitError);
        return process.cpuUsage(before).user / 1000;
      });
      const ms = Math.min(...times);
      assert.ok(ms < 150, `${text.slice(0, 10)}: ${ms} ms`);
    }
  });

  it("takes a list as long as a list may be, of records with 24 fields", () => {
    const item = Object.fromEntries(Array.from({ length: 23 }, (_, index) => [`field${index}`, index]));
    const list = Array.from({ length: 10_000 }, () => item);
    assert.deepEqual(parse(JSON.stringify(list), listLimits), list);
    assert.throws(() => parse(JSON.stringify([...list, 1]), listLimits), /more than 10000 items/);
  });

  it("says of random values what JSON.parse says, as long as they are within the limits", () => {
    const countOf = (value: unknown): number =>
      typeof value === "object" && value !== null
        ? Object.values(value).reduce((sum: number, one) => sum + countOf(one), 1)
        : 1;
    const depthOf = (value: unknown): number =>
      typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
    check(
      property(json({ maxDepth: 8 }), (text) => {
        const value: unknown = JSON.parse(text);
        const isFine = depthOf(value) <= 5 && countOf(value) <= 30;
        // An empty list counts for one more: its bracket is seen, not that nothing is in it.
        const few = { depth: 5, entries: 1_000, values: 60 };
        try {
          const parsed = parse(text, few);
          assert.ok(depthOf(value) <= 5 && countOf(value) <= 60);
          if (!/__proto__|\\u|\d{16}/.test(text)) {
            assert.deepEqual(parsed, value);
          }
        } catch (error) {
          assert.ok(error instanceof JsonLimitError && !isFine, String(error));
        }
      }),
    );
  });
});
