import assert from "node:assert/strict";
import { identifiers, uncheckedRules } from "../../src/scan/gs1/table.ts";
import { allFrames } from "../../src/scan/read-code.ts";
import { type Vector, gs, read, readVectors } from "./support.ts";

/** Whether a scan is a GS1 code without anything wrong in it, or is text where that may be. */
function accepts(scan: string, isTextRight: boolean): boolean {
  if (allFrames(scan).length !== 1) {
    return false;
  }
  const { kind, scan: found } = read(scan, true);
  if (found.text === "") {
    return false;
  }
  return found.elements.length === 0
    ? isTextRight && kind === "other"
    : found.elements.every(({ checked }) => checked);
}

/** What the GS1 syntax engine refuses and we read on purpose, each with the reason. */
const alsoRead: Readonly<Record<string, string>> = {
  ABC: "a scanner need not send an AIM identifier",
  "]": "the text of a code can begin with a bracket",
  "]X": "the text of a code can begin with a bracket",
  "]E0123456789012": "many scanners send UPC-A without its zero in front",
  "]Q1https://a/NOPRIMARYAI": "a link that is no GS1 Digital Link is text",
  "https://[fe80::1%25lo]/01/12312312312333": "the host says nothing of the article",
  "HtTp://a/b/00/006141411234567890": "the scheme of an address has no case, and Caps Lock turns it around",
  "https://a/stem/00/006141411234567890/": "a slash at the end says nothing",
  "https://a/01/2112345678900": "earlier releases of GS1 Digital Link had GTINs without zeros in front",
  "https://a/01/416000336108": "earlier releases of GS1 Digital Link had GTINs without zeros in front",
  "https://a/01/02345673": "earlier releases of GS1 Digital Link had GTINs without zeros in front",
  "https://a/8004/9520614141234567?01=2112345678900": "earlier releases had GTINs without zeros in front",
  "https://a/8004/9520614141234567?01=02345673": "earlier releases had GTINs without zeros in front",
  "https://example.com/01/09520123456788?10=ABC123": "a qualifier counts in any place",
  "https://id.gs1.org/01/09520123456788/10/ABC123?99=XYZ789&01=09520123456788": "elements may be repeated",
  "https://id.gs1.org/01/09520123456788/10/ABC123?99=XYZ789&10=ABC123": "elements may be repeated",
  "https://id.gs1.org/01/09520123456788/10/ABC123?99=XYZ789&99=XYZ789": "elements may be repeated",
  "https://a/01/12312312312333/99/ABC": "attributes count in any place",
  "(8030)123=": "base64 is padded to a multiple of four characters",
};

function check(vectors: readonly Vector[], isTextRight: boolean): void {
  assert.ok(vectors.length > 0);
  for (const { ok, scan } of vectors) {
    // The engine takes a symbol without content; there is nothing in it for a flow.
    const isRight = (ok && !/^\]\w\w$/.test(scan)) || scan in alsoRead;
    assert.equal(accepts(scan, isTextRight), isRight, JSON.stringify(scan));
  }
}

describe("the vectors of the GS1 syntax engine", () => {
  let vectors: Awaited<ReturnType<typeof readVectors>>;
  before(async () => {
    vectors = await readVectors();
  });

  it("agree with our reading, count by count, except for those that are named here", () => {
    // Of dl.c and ai.c, what depends on an option of the engine (short names of keys) and what is built in a loop is not among them.
    const counts: readonly (readonly [
      list: keyof typeof vectors,
      all: number,
      alike: number,
      onPurpose: number,
      open: number,
    ])[] = [
      ["scanData", 54, 46, 5, 3],
      ["generatedScanData", 35, 35, 0, 0],
      ["elementStrings", 81, 81, 0, 0],
      ["bracketed", 29, 29, 0, 0],
      ["contents", 99, 40, 1, 58],
      ["digitalLinks", 111, 98, 13, 0],
    ];
    for (const [list, all, alike, onPurpose, open] of counts) {
      const differing = vectors[list].filter(({ ok, scan }) => accepts(scan, /scanData$/i.test(list)) !== ok);
      const read = differing.filter(({ scan }) => scan in alsoRead);
      // A symbol without content, which the engine takes; and what is in lists that change, and in coupons.
      assert.deepEqual(
        [
          vectors[list].length,
          vectors[list].length - differing.length,
          read.length,
          differing.length - read.length,
        ],
        [all, alike, onPurpose, open],
        list,
      );
    }
    assert.deepEqual(new Set(Object.keys(alsoRead)).size, 19);
    assert.equal(
      counts.reduce((sum, [, , alike]) => sum + alike, 0),
      329,
    );
    assert.equal(
      counts.reduce((sum, [, all]) => sum + all, 0),
      409,
    );
  });

  it("scans with AIM identifiers", () => {
    check([...vectors.scanData, ...vectors.generatedScanData], true);
    assert.equal(vectors.scanData.length, 54);
  });

  it("element strings", () => {
    check(vectors.elementStrings, false);
    assert.equal(vectors.elementStrings.length, 81);
  });

  it("element strings in brackets", () => check(vectors.bracketed, false));

  it("the content of elements, except for the rules that are not checked", () => {
    const isUnchecked = (rule = "") => /^(?:COUPON|NOT_ISO(?:3166|4217))/.test(rule);
    check(
      vectors.contents.filter(({ rule }) => !isUnchecked(rule)),
      false,
    );
    assert.equal(vectors.contents.filter(({ rule }) => isUnchecked(rule)).length, 58);
  });

  it("GS1 Digital Link URIs, and the elements in them", () => {
    check(vectors.digitalLinks, false);
    for (const { scan, elements = "" } of vectors.digitalLinks.filter(({ ok }) => ok)) {
      const found = read(scan).scan.elements.map(({ ai, value }) => `${ai}${value}`);
      assert.deepEqual(found.join(""), elements.replaceAll(gs, ""), scan);
    }
  });

  it("the table names no rule that is neither checked nor known to be unchecked", () => {
    const named = new Set(
      [...identifiers.values()].flatMap(({ components }) => (components ?? []).flatMap(({ rules }) => rules)),
    );
    assert.deepEqual(
      [...uncheckedRules].filter((rule) => !named.has(rule)),
      [],
    );
    assert.equal(identifiers.size, 541);
  });
});
