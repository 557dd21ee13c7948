import assert from "node:assert/strict";
import type { MeasureResult } from "../../src/model/shapes.ts";
import { formatBytes } from "../../src/rules/bytes.ts";
import { formatFigures } from "../../src/runtime/status/node-status.ts";
import { catalogOf, languages, logged } from "../editor/sources.ts";

const spaced = (text: string): string => text.replace(/[\u00a0\u202f]/g, " ");

describe("sizes in statuses", () => {
  it("have the unit and the decimal mark of their reader", () => {
    const cases: readonly (readonly [number, string, string, string])[] = [
      [0, "0 bytes", "0 Byte", "0 octet"],
      [1, "1 byte", "1 Byte", "1 octet"],
      [999, "999 bytes", "999 Byte", "999 octets"],
      [1000, "1.0 kB", "1,0 kB", "1,0 ko"],
      [13_000, "13.0 kB", "13,0 kB", "13,0 ko"],
      [99_960, "100 kB", "100 kB", "100 ko"],
      [999_499, "999 kB", "999 kB", "999 ko"],
      [999_500, "1.0 MB", "1,0 MB", "1,0 Mo"],
      [512 * 1024 * 1024, "537 MB", "537 MB", "537 Mo"],
      [5e12, "5.0 TB", "5,0 TB", "5,0 To"],
      [5e15, "5,000 TB", "5.000 TB", "5 000 To"],
    ];
    for (const [bytes, ...expected] of cases) {
      const said = ["en-US", "de", "fr"].map((language) => spaced(formatBytes(bytes, language)));
      assert.deepEqual(said, expected);
    }
  });

  it("of a parcel are its sides and its weight with their units, as they were when it was measured", () => {
    const result = {
      length: 10.304,
      width: 1200,
      height: 14.5,
      weight: 2.5,
      dimsUnitOfMeasure: "cm",
      weightUnitOfMeasure: "kg",
    } as MeasureResult;
    const format = formatFigures(result, 31);
    Object.assign(result, { length: 1, weight: null });
    assert.equal(format("en-US"), "10.3×1200×14.5 cm, 2.5 kg");
    assert.equal(format("de"), "10,3×1200×14,5 cm, 2,5 kg");
    assert.equal(formatFigures(result, 31)("en-US"), "1×1200×14.5 cm");
    Object.assign(result, { length: null, width: null, dimsUnitOfMeasure: null });
    assert.equal(formatFigures(result, 31)("en-US"), "?×?×14.5");
  });

  it("of a large parcel leave the weight out, rather than cut it", () => {
    const figures = { length: 133.55, width: 121.25, height: 112.55, weight: 101.27 };
    const result = { ...figures, dimsUnitOfMeasure: "cm", weightUnitOfMeasure: "kg" } as MeasureResult;
    assert.equal(formatFigures(result, 31)("en-US"), "133.55×121.25×112.55 cm");
  });

  it("fit into a status in every language, with the largest numbers that occur", async () => {
    for (const language of ["en-US", ...(await languages())]) {
      const catalog = await catalogOf("device", language);
      const named = catalog.get("format.language") ?? "";
      assert.deepEqual(Intl.NumberFormat.supportedLocalesOf(named), [named], `${language}: ${named}`);
      assert.ok(language.startsWith(named.slice(0, 2)));
      const size = [999_949, 99_949_000, 999_499_000].map((bytes) => formatBytes(bytes, named));
      for (const [key, text] of catalog) {
        for (const one of size) {
          const shown = text.replace(/__(?:done|total|size)__/g, one).replace(/__\w+__/g, "999");
          const isStatus = key.startsWith("status.") && !logged.has(key);
          assert.ok(!isStatus || shown.length < 32, `${language} ${key}: ${shown}`);
        }
      }
    }
  });
});
