import assert from "node:assert/strict";
import { parseJson } from "../../src/model/parse-json.ts";

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

  it("deep nesting ends in an error or a value, not in the end of the process", () => {
    for (const text of [
      "[".repeat(100_000),
      "[".repeat(100_000) + "9007199254740993" + "]".repeat(100_000),
    ]) {
      try {
        parseJson(text);
      } catch (error) {
        assert.ok(error instanceof SyntaxError || error instanceof RangeError);
      }
    }
  });
});
