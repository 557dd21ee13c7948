import assert from "node:assert/strict";
import * as fc from "fast-check";
import { DimensionerError } from "../../src/errors/dimensioner-error.ts";
import { type Identifier, identifiers } from "../../src/scan/gs1/table.ts";
import { allFrames, splitFrames } from "../../src/scan/read-code.ts";
import { readScan, readScans } from "../../src/scan/read-scans.ts";
import { compilePattern } from "../../src/scan/reference-pattern.ts";
import { anything } from "./any-scan.ts";
import { longestScans } from "./longest-scans.ts";
import { gs, read, withCheckDigit } from "./support.ts";

/** A text without what ends a scan, and without STX. */
const withoutEnds = (text: string): string =>
  [..."\r\n\t\x02\x03\0"].reduce((rest, end) => rest.replaceAll(end, ""), text);

/** A value of an identifier that is right. */
function valueOf({ components }: Identifier): fc.Arbitrary<string> | undefined {
  const parts = (components ?? []).map(({ characters, least, most, rules }) => {
    const [rule, ...others] = rules;
    if (rule === "csum" && most > 5) {
      return fc.stringMatching(new RegExp(`^\\d{${most - 1}}$`)).map(withCheckDigit);
    }
    if (rule === "yymmd0" || rule === "yymmdd") {
      return fc.tuple(
        fc.integer({ min: 10, max: 99 }),
        fc.integer({ min: 10, max: 12 }),
        fc.integer({ min: 10, max: 28 }),
      );
    }
    if (rule !== undefined || others.length > 0) {
      return undefined;
    }
    const set = characters.test("A") ? "A-Z0-9" : "0-9";
    return fc.stringMatching(new RegExp(`^[${set}]{${least},${most}}$`));
  });
  return parts.includes(undefined)
    ? undefined
    : fc.tuple(...parts.filter((part) => part !== undefined)).map((all) => all.flat().join(""));
}

const elements = fc.array(
  fc.oneof(
    ...[...identifiers.values()].flatMap((identifier) => {
      const value = valueOf(identifier);
      return value === undefined ? [] : [value.map((text) => ({ identifier, value: text }))];
    }),
  ),
  { minLength: 1, maxLength: 12 },
);

describe("reading any scan", () => {
  it("never throws anything but ERR_INPUT", () => {
    fc.assert(
      fc.property(fc.oneof(anything, fc.uint8Array({ maxLength: 200 })), (scan) => {
        try {
          readScans(scan);
        } catch (error) {
          assert.ok(error instanceof DimensionerError && error.code === "ERR_INPUT", String(error));
        }
      }),
      { numRuns: 5_000 },
    );
  });

  it("loses no character of a scan, however it is divided", () => {
    fc.assert(
      fc.property(anything, (text) => {
        const { frames, rest } = splitFrames(text);
        const whole = frames.map(({ raw }) => raw).join("") + rest;
        // Only what ends a scan, and STX and ETX around nothing, belongs to none.
        assert.equal(withoutEnds(whole), withoutEnds(text));
        for (const { raw, body } of allFrames(text)) {
          assert.ok(raw.includes(body));
        }
      }),
      { numRuns: 5_000 },
    );
  });

  it("loses no character of an element string: what has no identifier is a value", () => {
    fc.assert(
      fc.property(anything, (text) => {
        const data = withoutEnds(text);
        const { scan } = read(`]C1${data}.`);
        // What people read, and links, are not element strings.
        fc.pre(!/^[(h]/i.test(scan.text));
        const together = scan.elements.map(({ ai, value }) => `${ai ?? ""}${value}`).join("");
        assert.equal(together, scan.text.replaceAll(gs, ""));
      }),
      { numRuns: 5_000 },
    );
  });

  it("gives numbers as their decimal text says, whatever their decimals", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 10 ** 15 - 1 }),
        fc.integer({ min: 0, max: 9 }),
        (whole, decimals) => {
          const value = String(whole).padStart(15, "0");
          const [element] = read(`]C1390${decimals}${value}`).scan.elements;
          assert.equal(element?.decoded, Number(`${value}e-${decimals}`));
        },
      ),
      { numRuns: 5_000 },
    );
  });

  it("gives back the elements that an element string was made of", () => {
    fc.assert(
      fc.property(elements, (all) => {
        const text = all
          .map(
            ({ identifier: { ai, predefinedLength }, value }) =>
              ai + value + (predefinedLength === null ? gs : ""),
          )
          .join("");
        const found = read(`]C1${text}`, true).scan.elements;
        assert.deepEqual(
          found.map(({ ai, value, checked }) => [ai, value, checked]),
          all.map(({ identifier: { ai }, value }) => [ai, value, true]),
        );
        const bracketed = all.map(({ identifier: { ai }, value }) => `(${ai})${value}`).join("");
        assert.deepEqual(read(bracketed, true).scan.elements, found);
      }),
      { numRuns: 1_000 },
    );
  });

  it("gives the same for a scan in one piece and in pieces of any size", () => {
    fc.assert(
      fc.property(anything, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (text, sizes) => {
        const together = splitFrames(text);
        let rest = "";
        const frames: string[] = [];
        for (let at = 0, turn = 0; at < text.length; turn++) {
          const size = sizes[turn % sizes.length] ?? 1;
          const found = splitFrames(rest + text.slice(at, at + size));
          frames.push(...found.frames.map(({ body }) => body));
          rest = found.rest;
          at += size;
        }
        assert.deepEqual(
          frames,
          together.frames.map(({ body }) => body),
        );
      }),
      { numRuns: 5_000 },
    );
  });

  it("makes no more of the longest scan than it has characters", () => {
    for (const text of longestScans(8_192)) {
      const scan = readScan(text);
      const size = scan.elements.reduce((sum, { ai, value }) => sum + (ai?.length ?? 0) + value.length, 0);
      assert.ok(size <= text.length, text.slice(0, 40));
      assert.ok(scan.carriers.length <= 200, text.slice(0, 40));
    }
  });

  it("matches a regular expression in linear time, also one that would never end elsewhere", () => {
    const text = `${"a".repeat(8_000)}b`;
    for (const pattern of ["^(a+)+$", "(?:a|a)*c(x)", "^(?:a*)*(c)$", "(a*a*a*a*a*c)"]) {
      assert.equal(compilePattern(pattern)(text), null, pattern);
    }
    assert.equal(compilePattern("^ORDER-(\\d+)$")("ORDER-4711"), "4711");
  });
});
