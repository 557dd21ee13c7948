import assert from "node:assert/strict";
import { billableWeight, type BillableWeightOptions } from "../../src/library/billable-weight.ts";
import { type PresetName, presets } from "../../src/billing/tariffs/presets.ts";
import { DimensionerError } from "../../src/errors/dimensioner-error.ts";
import type { MeasureResult } from "../../src/model/shapes.ts";
import { readScan } from "../../src/scan/read-scans.ts";
import { caughtBy, recordOf, resultOf } from "./support.ts";

const presetNames = Object.keys(presets) as PresetName[];
const ups = { rule: "ups" } as const;
const legal = { more: { legalForTrade: true } } as const;

describe("the billable weight of a measurement", () => {
  it("is worked out, or an error of this package, for any figures and any carrier", () => {
    const kinds = new Set<string>();
    for (const rule of presetNames) {
      for (const dimsUnit of ["mm", "cm", "in"]) {
        for (const side of [1e-9, 1e16, 1e40, 1e99, 1e200]) {
          try {
            const { weight } = billableWeight(resultOf([side, 10, 10], { dimsUnit }), { rule });
            assert.ok(weight > 0);
            kinds.add("weight");
          } catch (error) {
            assert.ok(error instanceof DimensionerError, String(error));
            kinds.add(error.code);
          }
        }
      }
    }
    assert.deepEqual([...kinds].sort(), ["ERR_NOT_BILLABLE", "weight"]);
  });

  it("is that of a result, which stays as it is", () => {
    const result = resultOf([11.1, 8.5, 6.2], { weight: 2.5, ...legal });
    const before = structuredClone(result);
    assert.deepEqual(billableWeight(result, { rule: "usps", extras: "long: longest > 48 in" }), {
      weight: 3,
      unit: "lb",
      basis: "actual",
      minimumFrom: null,
      explanation: "12 × 9 × 7 in = 756 in³, not over 1728; actual weight 2.5, rounded up to 3 lb",
      dimensionalWeight: null,
      actualWeight: 2.5,
      weightFrom: "measured",
      sides: [12, 9, 7],
      dimsUnit: "in",
      volume: 756,
      divisor: 139,
      ruleId: "usps-2026",
      ruleDate: "2026-07-12",
      source: "Federal Register 2026-09785; thelogisticnews.com, post 18371; cahoot.ai",
      ruleVerified: true,
      ruleChecked: "2026-11-27",
      over: false,
      limitsDate: null,
      thresholds: [{ name: "long", over: false, quantity: "longest", value: 12, limit: 48, unit: "in" }],
      roundingNote: null,
      note: null,
      deviation: null,
      legalForTrade: true,
      computed: true,
    });
    assert.deepEqual(result, before);
  });

  it("is over no limit only where something was compared", () => {
    const parcel = resultOf([12, 9, 7]);
    assert.deepEqual(billableWeight(parcel, { rule: "usps" }).thresholds, []);
    assert.equal(billableWeight(parcel, { rule: "usps" }).over, null);
    assert.equal(billableWeight(parcel, { rule: { unit: "in-lb", divisor: 139 } }).over, null);
    assert.equal(billableWeight(parcel, { rule: "usps", extras: "long: longest > 11 in" }).over, true);
    assert.equal(billableWeight(parcel, { rule: "usps", extras: "long: longest > 12 in" }).over, false);
    assert.equal(billableWeight(parcel, ups).over, false);
  });

  it("says where measuring in another unit may cost an inch, and corrects nothing", () => {
    const cube = (side: number, more: object = {}) =>
      billableWeight(resultOf([side, side, side], { dimsUnit: "cm", more }), ups);
    const costly = cube(30.5, { measurementFidelity: 0.5 });
    assert.deepEqual([costly.sides, costly.weight], [[13, 13, 13], 16]);
    assert.equal(
      costly.roundingNote,
      "The measurement has steps of 0.5 cm, which may cost a whole in: " +
        `${Array(3).fill("30.5 cm is 12.0079 in and counts as 13 in, but may be 12 in").join("; ")}. ` +
        "With 12 × 12 × 12 in, 13 lb would be billed. Set the device to in.",
    );
    // Without the device's step, that of the last digit: from 30.45 cm, which is under 12 in.
    assert.match(cube(30.5).roundingNote ?? "", /steps of 0\.1 cm/);
    // 31 cm are 12.2 in; 30.48 cm are 12 in exactly, and nothing is rounded up.
    for (const [side, fidelity] of [
      [31, 0.5],
      [30.48, 0.01],
    ] as const) {
      assert.equal(cube(side, { measurementFidelity: fidelity }).roundingNote, null, String(side));
    }
    // In the rule's unit the step is the carrier's own matter, and a rule without rounding loses nothing.
    const inches = resultOf([12.1, 12, 12], { more: { measurementFidelity: 0.5 } });
    assert.equal(billableWeight(inches, ups).roundingNote, null);
    assert.equal(billableWeight(inches, { rule: "dpd" }).roundingNote, null);
  });

  it("is that of figures with a decimal comma; what can be read in two ways is refused by name", () => {
    const parcel = (length: string) => ({ ...resultOf([1, 2.54, 2.54], { dimsUnit: "cm" }), length });
    const billed = (length: string) => billableWeight(parcel(length) as unknown as MeasureResult, ups);
    assert.deepEqual(billed("33,02").sides, [13, 1, 1]);
    assert.deepEqual(billed("0,254").sides, [1, 1, 1]);
    const scale = { ...ups, weight: { value: "1,4", unit: "kg" } } as const;
    assert.equal(billableWeight(resultOf([1, 1, 1]), scale).actualWeight, 3.0865);
    const unread = { ...resultOf([1, 1, 1]), weight: "2.5 kg" } as unknown as MeasureResult;
    assert.match(caughtBy(() => billableWeight(unread, ups), "ERR_NOT_BILLABLE").message, /“2\.5 kg”/);
    const own = { unit: "in-lb", divisor: "139,5", minimum: "90,5" } as const;
    const { divisor, weight, thresholds } = billableWeight(resultOf([1, 1, 1], { weight: 1 }), {
      rule: own,
      extras: "heavy: weight > 0,5 lb, at least 1,5 lb",
    });
    assert.deepEqual([divisor, weight, thresholds[0]?.limit, thresholds[0]?.over], [139.5, 90.5, 0.5, true]);
    assert.deepEqual(billed(".254").sides, [1, 1, 1]);
    for (const text of ["1,234", "1.234,5", "1,234.5", "12,", "33.02 cm", "1 234.5", "1'234.5", "33."]) {
      const { message } = caughtBy(() => billed(text), "ERR_NOT_BILLABLE");
      assert.equal(
        message,
        `It is not clear what number “${text}” is. Write it with a decimal point and without a comma, such as 33.02.`,
      );
    }
  });

  it("is that of a transaction record", () => {
    const { weight, basis, legalForTrade } = billableWeight(recordOf(), { rule: "dhl-express" });
    assert.deepEqual([weight, basis, legalForTrade], [5, "dimensional", "unknown"]);
  });

  it("is that of a result with more fields than are looked at", () => {
    const all = resultOf([11.1, 8.5, 6.2], { weight: 2.5 });
    const result = new Proxy(all, { ownKeys: () => assert.fail("all fields were visited") });
    const scan = new Proxy({ labelDims: null, labelWeight: null }, { ownKeys: () => assert.fail() });
    assert.equal(billableWeight(result, { rule: "usps", scan }).weight, 3);
  });

  it("is refused at once for an image that has replaced the measurement", () => {
    const image = Buffer.alloc(100_000_000) as unknown as MeasureResult;
    const said = caughtBy(() => billableWeight(image, ups), "ERR_INPUT").message;
    assert.equal(said, caughtBy(() => billableWeight({} as MeasureResult, ups), "ERR_INPUT").message);
  });

  it("is refused for what is no measurement of one parcel", () => {
    const objects = [1, 2].map((trackId) => ({ trackId, errorCode: 0, length: 1, width: 1, height: 1 }));
    for (const given of [undefined, null, 5, "text", [], [resultOf([1, 1, 1])], {}, { weight: 5 }]) {
      caughtBy(() => billableWeight(given as unknown as MeasureResult, ups), "ERR_INPUT");
    }
    const refused: readonly (readonly [object: object, said: RegExp])[] = [
      [resultOf([1, 1, 1], { more: { errorCode: 7 } }), /^The measurement failed/],
      [resultOf([1, 1, 1], { more: { objectCount: 0, measuredObjects: [] } }), /^The measurement failed/],
      [recordOf({ errorCode: 3 }), /^The measurement failed/],
      [
        resultOf([1, 1, 1], { more: { objectCount: 2, measuredObjects: objects } }),
        /^2 objects were measured/,
      ],
      [resultOf([1, null, 1]), /three sides/],
      [{ ...resultOf([1, 1, 1]), width: 0 }, /three sides/],
      [{ ...resultOf([1, 1, 1]), width: -1 }, /three sides/],
      [{ ...resultOf([1, 1, 1]), length: Number.NaN }, /three sides/],
      [{ ...resultOf([1, 1, 1]), length: Infinity }, /three sides/],
    ];
    for (const [given, said] of refused) {
      const error = caughtBy(() => billableWeight(given as MeasureResult, ups), "ERR_NOT_BILLABLE");
      assert.match(error.message, said);
    }
  });

  it("needs units that are known, in any spelling", () => {
    for (const dimsUnit of ["in", "IN", "inch", "Inches", '"', " in "]) {
      assert.equal(billableWeight(resultOf([12, 9, 7], { dimsUnit }), ups).weight, 6);
    }
    for (const weightUnit of ["lb", "LBS", "pounds"]) {
      assert.equal(billableWeight(resultOf([1, 1, 1], { weight: 9, weightUnit }), ups).weight, 9);
    }
    const furlong = caughtBy(
      () => billableWeight(resultOf([1, 1, 1], { dimsUnit: "furlong" }), ups),
      "ERR_INPUT",
    );
    assert.equal(
      furlong.message,
      "The sides are in “furlong”, which is not supported. Set the device to one of these units: mm, cm, m, in, ft.",
    );
    const stone = caughtBy(() => billableWeight(resultOf([1, 1, 1], { weightUnit: "st" }), ups), "ERR_INPUT");
    assert.match(stone.message, /^The weight is in “st”, which is not supported.*g, kg, oz, lb\.$/);
    const unneeded = { ...ups, weight: { value: 3, unit: "lb" } } as const;
    assert.equal(billableWeight(resultOf([1, 1, 1], { weightUnit: "st" }), unneeded).weight, 3);
  });
});

describe("the actual weight", () => {
  const label = readScan("]C1001234567890123456753302001250");
  const parcel = resultOf([5, 5, 5], { weight: 2 });

  it("is that of the measurement, of the label, of a scale of its own, or not used", () => {
    const cases: readonly (readonly [BillableWeightOptions["weight"], unknown[]])[] = [
      ["measured", [2, "lb", "actual", 2, "measured"]],
      ["label", [28, "lb", "actual", 27.5578, "label"]],
      [{ value: "1.4", unit: "kg" }, [4, "lb", "actual", 3.0865, "given"]],
      ["none", [1, "lb", "dimensional", null, null]],
    ];
    for (const [weight, expected] of cases) {
      const options = { ...ups, scan: label, ...(weight === undefined ? {} : { weight }) };
      const billed = billableWeight(parcel, options);
      const { unit, basis, actualWeight, weightFrom } = billed;
      assert.deepEqual([billed.weight, unit, basis, actualWeight, weightFrom], expected);
    }
  });

  it("has to be there, and more than nothing", () => {
    for (const weight of [null, 0, -1]) {
      const error = caughtBy(
        () => billableWeight({ ...resultOf([5, 5, 5]), weight }, ups),
        "ERR_NOT_BILLABLE",
      );
      assert.match(error.message, /^The weight of the parcel is missing/);
    }
    const byLabel = { ...ups, weight: "label" } as const;
    for (const scan of [undefined, readScan("ORDER-1")]) {
      const options = scan === undefined ? byLabel : { ...byLabel, scan };
      const error = caughtBy(() => billableWeight(parcel, options), "ERR_NOT_BILLABLE");
      assert.match(error.message, /^The label of the parcel does not show its weight/);
    }
    const small = resultOf([5, 5, 5]);
    caughtBy(() => billableWeight(small, { rule: "usps", weight: "none" }), "ERR_NOT_BILLABLE");
  });
});

describe("what the label says", () => {
  const scan = readScan("]C133020012503310012303320000453330000210");

  it("is compared with the measurement, the longest side with the longest", () => {
    const parcel = resultOf([21, 12.3, 45.5], { dimsUnit: "cm", weight: 13, weightUnit: "kg" });
    const labelled = {
      labelWeight: { weight: 12.5, unit: "kg" },
      labelDims: { length: 12.5, width: 45, height: 21, unit: "cm" },
    } as const;
    assert.deepEqual(billableWeight(parcel, { ...ups, scan: labelled }).deviation, {
      weight: { label: 12.5, measured: 13, difference: 0.5, percent: 4, unit: "kg" },
      sides: [
        { label: 45, measured: 45.5, difference: 0.5, percent: 1.1, unit: "cm" },
        { label: 21, measured: 21, difference: 0, percent: 0, unit: "cm" },
        { label: 12.5, measured: 12.3, difference: -0.2, percent: -1.6, unit: "cm" },
      ],
    });
  });

  it("is compared in the label's units", () => {
    const parcel = resultOf([10, 10, 10], { weight: 1000, weightUnit: "g" });
    const labelled = {
      labelWeight: { weight: 2, unit: "lb" },
      labelDims: { length: 25.4, width: 25.4, height: 25.4, unit: "cm" },
    } as const;
    const { weight, sides } = billableWeight(parcel, { ...ups, scan: labelled }).deviation ?? assert.fail();
    assert.deepEqual([weight?.measured, weight?.percent, sides?.[0]?.difference], [2.2046, 10.2, 0]);
  });

  it("is left out where it does not say it", () => {
    const parcel = resultOf([10, 10, 10]);
    const read = billableWeight(parcel, { ...ups, scan }).deviation;
    assert.equal(read?.weight?.label, 12.5);
    for (const labelled of [
      readScan("ORDER-1"),
      { labelWeight: null, labelDims: { length: 1, width: null, height: 1, unit: "cm" } } as const,
    ]) {
      assert.equal(billableWeight(parcel, { ...ups, scan: labelled }).deviation, null);
    }
    const unweighed = resultOf([10, 10, 10], { weight: null });
    const bySize = {
      ...ups,
      scan: { labelWeight: scan.labelWeight, labelDims: null },
      weight: "none",
    } as const;
    assert.equal(billableWeight(unweighed, bySize).deviation, null);
  });
});

describe("legal for trade", () => {
  const light = (more: object) => resultOf([20, 20, 20], { weight: 1, more });
  const heavy = (more: object) => resultOf([2, 2, 2], { weight: 10, more });
  const stateOf = (given: MeasureResult, options: Partial<BillableWeightOptions> = {}) =>
    billableWeight(given, { ...ups, ...options }).legalForTrade;

  it("is true, false or unknown, as the device says", () => {
    assert.equal(stateOf(light({ legalForTrade: true })), true);
    assert.equal(stateOf(light({ legalForTrade: false })), false);
    assert.equal(stateOf(light({})), "unknown");
    assert.equal(stateOf(heavy({ legalForTrade: true })), true);
  });

  it("is unknown of a weight for which nobody says it, where that is billed", () => {
    const earlier = (result: MeasureResult): MeasureResult => ({ ...result, source: "earlier-device" });
    const said = { legalForTrade: true };
    assert.equal(stateOf(earlier(light(said))), true);
    assert.equal(stateOf(earlier(heavy(said))), "unknown");
    const scale = { weight: { value: 9, unit: "lb" } } as const;
    assert.equal(stateOf(heavy(said), scale), "unknown");
    assert.equal(stateOf(light(said), scale), true);
    assert.equal(stateOf(heavy({ legalForTrade: false }), scale), false);
  });

  it("is false for dimensions that somebody typed in", () => {
    const typed = recordOf({ isManualDimension: true, legalForTrade: true });
    assert.equal(billableWeight(typed, { rule: "dpd" }).legalForTrade, false);
  });

  it("where it is required, nothing else is billed", () => {
    const required = { ...ups, requireLegalForTrade: true } as const;
    assert.equal(billableWeight(light({ legalForTrade: true }), required).legalForTrade, true);
    const refused: readonly (readonly [object, RegExp])[] = [
      [light({ legalForTrade: false }), /is not legal for trade/],
      [light({}), /not known whether this measurement is legal/],
      [recordOf(), /not known whether/],
      [recordOf({ isManualDimension: true, legalForTrade: true }), /entered by hand/],
      [light({ legalForTrade: true, isManualDimension: true }), /entered by hand/],
      ...["true", "yes", 1, 0, {}].flatMap((isManualDimension) =>
        [light, recordOf].map(
          (make) => [make({ legalForTrade: true, isManualDimension }), /not known whether/] as const,
        ),
      ),
    ];
    for (const [given, said] of refused) {
      const error = caughtBy(() => billableWeight(given as MeasureResult, required), "ERR_NOT_BILLABLE");
      assert.match(error.message, said);
    }
  });
});
