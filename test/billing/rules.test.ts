import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { readLimits } from "../../src/billing/tariffs/calculate.ts";
import { billableWeight, type BillableWeightOptions } from "../../src/library/billable-weight.ts";
import {
  isTableOld,
  presets,
  presetNames,
  tableDate,
  type PresetName,
} from "../../src/billing/tariffs/presets.ts";
import type { WeightTable } from "../../src/model/shapes.ts";
import { caughtBy, resultOf } from "./support.ts";

type Rule = BillableWeightOptions["rule"];
type Sides = readonly [number, number, number];

describe("carriers' rules", () => {
  const cases: readonly (readonly [
    rule: PresetName,
    sides: Sides,
    unit: string,
    weight: string,
    billed: string,
    explanation: string,
  ])[] = [
    [
      "ups",
      [11.1, 8.5, 6.2],
      "in",
      "1 lb",
      "6 lb dimensional",
      "12 × 9 × 7 in = 756 in³, ÷ 139 = 5.44, rounded up to 6 lb",
    ],
    [
      "fedex",
      [11.1, 8.1, 4.1],
      "in",
      "1 lb",
      "4 lb dimensional",
      "12 × 9 × 5 in = 540 in³, ÷ 139 = 3.88, rounded up to 4 lb",
    ],
    [
      "usps",
      [12, 12, 12],
      "in",
      "3.2 lb",
      "4 lb actual",
      "12 × 12 × 12 in = 1728 in³, not over 1728; actual weight 3.2, rounded up to 4 lb",
    ],
    [
      "usps",
      [12.1, 12, 12],
      "in",
      "3.2 lb",
      "14 lb dimensional",
      "13 × 12 × 12 in = 1872 in³, ÷ 139 = 13.47, rounded up to 14 lb",
    ],
    [
      "dhl-express",
      [40, 30, 20],
      "cm",
      "2 kg",
      "5 kg dimensional",
      "40 × 30 × 20 cm = 24000 cm³, ÷ 5000 = 4.8, rounded up to 5 kg",
    ],
    [
      "dhl-express",
      [40, 30, 20],
      "cm",
      "5.1 kg",
      "5.5 kg actual",
      "40 × 30 × 20 cm = 24000 cm³, ÷ 5000 = 4.8 kg; actual weight 5.1, rounded up to 5.5 kg",
    ],
    [
      "dhl-express-us",
      [12, 9, 7],
      "in",
      "1 lb",
      "6 lb dimensional",
      "12 × 9 × 7 in = 756 in³, ÷ 139 = 5.44, rounded up to 6 lb",
    ],
    // DHL Express rounds each side to the nearest whole unit, on its page on volumetric weight.
    [
      "dhl-express-us",
      [30.4, 19.6, 19.5],
      "in",
      "1 lb",
      "87 lb dimensional",
      "30 × 20 × 20 in = 12000 in³, ÷ 139 = 86.33, rounded up to 87 lb",
    ],
    [
      "dhl-express",
      [40.4, 30.4, 20.4],
      "cm",
      "1 kg",
      "5 kg dimensional",
      "40 × 30 × 20 cm = 24000 cm³, ÷ 5000 = 4.8, rounded up to 5 kg",
    ],
    [
      "dpd-express",
      [40, 30, 20],
      "cm",
      "2 kg",
      "4.8 kg dimensional",
      "40 × 30 × 20 cm = 24000 cm³, ÷ 5000 = 4.8 kg",
    ],
    [
      "dpd",
      [40, 30, 20],
      "cm",
      "6.0004 kg",
      "6.001 kg actual",
      "40 × 30 × 20 cm = 24000 cm³, ÷ 4000 = 6 kg; actual weight 6.0004, rounded up to 6.001 kg",
    ],
    // 33.02 cm are 13 inches exactly, although 33.02 / 2.54 is 13.000000000000002 in floating point.
    [
      "ups",
      [33.02, 66.04, 132.08],
      "cm",
      "1 lb",
      "127 lb dimensional",
      "13 × 26 × 52 in = 17576 in³, ÷ 139 = 126.45, rounded up to 127 lb",
    ],
    [
      "ups",
      [149.86, 2.54, 2.54],
      "cm",
      "453.59237 g",
      "1 lb actual",
      "59 × 1 × 1 in = 59 in³, ÷ 139 = 0.42 lb; actual weight 1 lb",
    ],
    // A single-precision number of 33.02.
    [
      "ups",
      [33.02000045776367, 2.54, 2.54],
      "cm",
      "16 oz",
      "1 lb actual",
      "13 × 1 × 1 in = 13 in³, ÷ 139 = 0.09 lb; actual weight 1 lb",
    ],
    // 139 cubic inches weigh one pound exactly, and one more does not.
    [
      "fedex",
      [139, 1, 1],
      "in",
      "0.5 lb",
      "1 lb actual",
      "139 × 1 × 1 in = 139 in³, ÷ 139 = 1 lb; actual weight 0.5, rounded up to 1 lb",
    ],
    [
      "fedex",
      [140, 1, 1],
      "in",
      "0.5 lb",
      "2 lb dimensional",
      "140 × 1 × 1 in = 140 in³, ÷ 139 = 1.01, rounded up to 2 lb",
    ],
    // The number that is shown leads to the weight that is billed.
    [
      "ups",
      [1, 1, 1],
      "in",
      "5.00004 lb",
      "6 lb actual",
      "1 × 1 × 1 in = 1 in³, ÷ 139 = 0.01 lb; actual weight 5.00004, rounded up to 6 lb",
    ],
    [
      "ups",
      [304.8, 25.4, 25.4],
      "mm",
      "1 kg",
      "3 lb actual",
      "12 × 1 × 1 in = 12 in³, ÷ 139 = 0.09 lb; actual weight 2.2, rounded up to 3 lb",
    ],
  ];
  for (const [rule, sides, unit, given, billed, explanation] of cases) {
    it(`${rule}: ${sides.join(" × ")} ${unit}, ${given}`, () => {
      const [weight = "", weightUnit = ""] = given.split(" ");
      const facts = { dimsUnit: unit, weight: Number(weight), weightUnit };
      const result = billableWeight(resultOf(sides, facts), { rule });
      assert.equal(result.explanation, explanation);
      assert.equal(`${result.weight} ${result.unit} ${result.basis}`, billed);
    });
  }
});

describe("a custom rule", () => {
  const parcel = resultOf([30.2, 20.5, 10.4], { dimsUnit: "cm", weight: 0.2, weightUnit: "kg" });
  const rule = { unit: "cm-kg", divisor: "5000" } as const;
  const cases: readonly (readonly [title: string, rule: Rule, explanation: string])[] = [
    [
      "rounds nothing that it does not say",
      rule,
      "30.2 × 20.5 × 10.4 cm = 6438.64 cm³, ÷ 5000 = 1.2877, rounded up to 1.288 kg",
    ],
    [
      "rounds sides up",
      { ...rule, sideRounding: "up" },
      "31 × 21 × 11 cm = 7161 cm³, ÷ 5000 = 1.4322, rounded up to 1.433 kg",
    ],
    [
      "rounds sides to the nearest",
      { ...rule, sideRounding: "nearest" },
      "30 × 21 × 10 cm = 6300 cm³, ÷ 5000 = 1.26 kg",
    ],
    [
      "rounds the weight up to a step",
      { ...rule, productRounding: 0.5 },
      "30.2 × 20.5 × 10.4 cm = 6438.64 cm³, ÷ 5000 = 1.29, rounded up to 1.5 kg",
    ],
    [
      "has a threshold",
      { ...rule, threshold: 7000 },
      "30.2 × 20.5 × 10.4 cm = 6438.64 cm³, not over 7000; actual weight 0.2 kg",
    ],
    [
      "has a minimum",
      { ...rule, minimum: "2" },
      "30.2 × 20.5 × 10.4 cm = 6438.64 cm³, ÷ 5000 = 1.29 kg; actual weight 0.2 kg; at least 2 kg",
    ],
  ];
  for (const [title, own, explanation] of cases) {
    it(title, () => {
      const result = billableWeight(parcel, { rule: own });
      assert.equal(result.explanation, explanation);
      assert.deepEqual(
        [result.ruleId, result.ruleDate, result.source, result.ruleVerified, result.thresholds],
        ["own", null, null, null, []],
      );
    });
  }
});

describe("the table of rules", () => {
  const parcel = (day: string) =>
    resultOf([18.4, 18.4, 18.4], { more: { dateTimeLocal: `${day}T10:00:00+02:00`, dateTimeUtc: null } });
  const onDay = (rule: PresetName, day: string) => billableWeight(parcel(day), { rule });

  it("is chosen by the day of the measurement, by the device's clock", () => {
    const days: readonly (readonly [day: string, id: string, explanation: string])[] = [
      ["2026-07-12", "usps-2026", "19 × 19 × 19 in = 6859 in³, ÷ 139 = 49.35, rounded up to 50 lb"],
      ["2026-07-11", "usps-2019", "18 × 18 × 18 in = 5832 in³, ÷ 166 = 35.13, rounded up to 36 lb"],
      ["2019-06-23", "usps-2019", "18 × 18 × 18 in = 5832 in³, ÷ 166 = 35.13, rounded up to 36 lb"],
    ];
    for (const [day, id, explanation] of days) {
      const result = onDay("usps", day);
      assert.deepEqual([result.ruleId, result.explanation], [id, explanation]);
    }
    const midnight = { dateTimeLocal: "2026-07-11T23:30:00-05:00", dateTimeUtc: "2026-07-12T04:30:00Z" };
    const local = billableWeight(resultOf([18, 18, 18], { more: midnight }), { rule: "usps" });
    assert.equal(local.ruleId, "usps-2019");
    const undated = resultOf([18, 18, 18], { more: { dateTimeLocal: null, dateTimeUtc: null } });
    const today = new Date(2020, 0, 1);
    assert.equal(billableWeight(undated, { rule: "usps", today }).ruleId, "usps-2019");
  });

  it("says so where a measurement is older than what it knows", () => {
    const error = caughtBy(() => onDay("ups", "2025-08-17"), "ERR_INPUT");
    assert.equal(
      error.message,
      "No rule of UPS (US) is known for 2025-08-17, the day of this measurement. Use a custom rule.",
    );
  });

  it("has for each day the rule of that day, the newest one from then on, and for earlier days none", () => {
    const days: readonly (readonly [
      rule: PresetName,
      day: string,
      id: string | null,
      since: string | null,
    ])[] = [
      ["ups", "2019-06-23", null, null],
      ["ups", "2025-08-17", null, null],
      ["ups", "2025-08-18", "ups-2025", "2025-08-18"],
      ["ups", "2099-12-31", "ups-2025", "2025-08-18"],
      ["fedex", "2025-08-17", null, null],
      ["fedex", "2025-08-18", "fedex-2025", "2025-08-18"],
      ["fedex", "2099-12-31", "fedex-2025", "2025-08-18"],
      ["usps", "2019-06-22", null, null],
      ["usps", "2019-06-23", "usps-2019", "2019-06-23"],
      ["usps", "2026-07-11", "usps-2019", "2019-06-23"],
      ["usps", "2026-07-12", "usps-2026", "2026-07-12"],
      ["usps", "2099-12-31", "usps-2026", "2026-07-12"],
      // Nobody says since when these hold.
      ["dhl-express", "2001-01-01", "dhl-express", null],
      ["dhl-express-us", "2001-01-01", "dhl-express-us", null],
      ["dpd", "2001-01-01", "dpd", null],
      ["dpd-express", "2001-01-01", "dpd-express", null],
    ];
    for (const [rule, day, id, since] of days) {
      if (id === null) {
        caughtBy(() => onDay(rule, day), "ERR_INPUT");
      } else {
        const { ruleId, ruleDate } = onDay(rule, day);
        assert.deepEqual([ruleId, ruleDate], [id, since], `${rule} ${day}`);
      }
    }
    assert.deepEqual(new Set(days.map(([rule]) => rule)), new Set(presetNames));
  });

  it("tells where each rule comes from, since when, and which are not verified", () => {
    for (const name of presetNames) {
      const { ruleId, source, ruleVerified, ruleDate } = onDay(name, "2026-11-22");
      const [newest] = presets[name].rules;
      assert.ok(ruleId.startsWith(name) && source !== null && source.length > 8, name);
      assert.deepEqual([ruleVerified, ruleDate], [newest?.isVerified, newest?.since]);
      assert.equal(ruleVerified, !/^(?:dhl|dpd)/.test(name));
    }
  });

  it("is too old a year after it was compared with its sources, and no day earlier", () => {
    assert.equal(isTableOld(tableDate, tableDate), false);
    const year = Number(tableDate.slice(0, 4));
    assert.equal(isTableOld(tableDate, `${year + 1}${tableDate.slice(4)}`), false);
    assert.equal(
      isTableOld(tableDate, new Date(Date.parse(tableDate) + 367 * 86_400_000).toISOString().slice(0, 10)),
      true,
    );
  });

  it("has the newest first, until the next one, and each id once", () => {
    const dayBefore = (day: string) => new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 10);
    for (const { rules, surcharges } of Object.values(presets)) {
      for (const dated of [rules, surcharges]) {
        // Each rule holds to the day before the next one.
        dated.forEach(({ validUntil }, index) => {
          const next = dated[index - 1]?.since ?? null;
          assert.equal(validUntil, next === null ? null : dayBefore(next));
        });
        const days = dated.map(({ since }) => since ?? "");
        assert.deepEqual(days, days.toSorted().toReversed());
        assert.ok(days.every((day) => day === "" || !Number.isNaN(Date.parse(day))));
      }
    }
    const ids = Object.values(presets).flatMap(({ rules }) => rules.map(({ id }) => id));
    assert.equal(new Set(ids).size, ids.length);
  });
});

describe("a table of one's own", () => {
  const rule = { id: "a", source: "contract 4711", unit: "in-lb", divisor: 166 } as const;
  const tableOf = (...rules: readonly object[]): WeightTable =>
    JSON.parse(JSON.stringify({ checked: "2026-11-28", carriers: [{ name: "mine", rules }] })) as WeightTable;
  const bill = (table: WeightTable, day = "2026-11-22", carrier = "mine") =>
    billableWeight(resultOf([97, 6, 6], { weight: 20, more: { dateTimeLocal: `${day}T10:00:00-05:00` } }), {
      rule: { table, carrier },
    });

  it("of the documentation is read, and bills by it", async () => {
    const page = await readFile(join(import.meta.dirname, "../../docs/billable-weight.md"), "utf8");
    const [, text = ""] = /```json\n([^]*?)```/.exec(page) ?? [];
    const found = bill(JSON.parse(text) as WeightTable, "2026-11-22", "fedex");
    assert.deepEqual(
      [found.weight, found.minimumFrom, found.ruleId, found.ruleDate, found.source, found.ruleChecked],
      [90, "oversize", "fedex-contract", "2026-01-12", "contract 4711", "2026-11-28"],
    );
    assert.deepEqual([found.ruleVerified, found.limitsDate, found.divisor], [null, "2026-01-12", 166]);
  });

  it("is read once for a parcel", () => {
    const { checked, carriers } = tableOf(rule);
    let reads = 0;
    const table = {
      checked,
      get carriers() {
        reads++;
        return carriers;
      },
    };
    assert.equal(bill(table).ruleId, "a");
    assert.equal(reads, 1);
  });

  it("has the rule of the day, in whatever order they stand, and none outside of their days", () => {
    const rules = [
      { ...rule, id: "old", since: "2025-01-01", validUntil: "2025-12-31" },
      { ...rule, id: "any" },
      { ...rule, id: "new", since: "2026-02-01", validUntil: "2026-12-31" },
    ];
    for (const order of [rules, rules.toReversed()]) {
      const idOn = (day: string) => bill(tableOf(...order), day).ruleId;
      assert.deepEqual(
        [
          "2024-12-31",
          "2025-01-01",
          "2025-12-31",
          "2026-01-01",
          "2026-02-01",
          "2026-12-31",
          "2027-01-01",
        ].map(idOn),
        ["any", "old", "old", "any", "new", "new", "any"],
      );
    }
    const error = caughtBy(() => bill(tableOf({ ...rule, since: "2027-01-01" })), "ERR_INPUT");
    assert.match(error.message, /^No rule of mine is known for 2026-11-22/);
  });

  it("is refused by the name of the field that is wrong", () => {
    const wrong: readonly (readonly [table: object, field: string])[] = [
      [{ carriers: [] }, "checked"],
      [{ checked: "2026-02-30x", carriers: [] }, "checked"],
      [{ checked: "2026-11-28", carriers: [] }, "carriers"],
      [tableOf({ ...rule, divisor: 0 }), "carriers.0.rules.0.divisor"],
      [tableOf({ ...rule, divisor: "1,39" }), "carriers.0.rules.0.divisor"],
      [tableOf({ ...rule, divisor: 1e300 }), "carriers.0.rules.0.divisor"],
      [tableOf({ ...rule, minimum: -1 }), "carriers.0.rules.0.minimum"],
      [tableOf({ ...rule, unit: "mm-g" }), "carriers.0.rules.0.unit"],
      [tableOf({ ...rule, source: "" }), "carriers.0.rules.0.source"],
      [tableOf({ ...rule, sideRoundings: "up" }), "carriers.0.rules.0.sideRoundings"],
      [tableOf({ ...rule, since: "12.01.2026" }), "carriers.0.rules.0.since"],
      [tableOf({ ...rule, since: "2026-02-01", validUntil: "2026-01-01" }), "carriers.0.rules.0.validUntil"],
      [tableOf({ ...rule, since: "2026-02-30" }), "carriers.0.rules.0.since"],
      [tableOf({ ...rule, validUntil: "2027-02-29" }), "carriers.0.rules.0.validUntil"],
      [{ ...tableOf(rule), checked: "2026-04-31" }, "checked"],
      [tableOf(rule, rule), "the field carriers.0.rules.1.since has the same value as another one"],
      [tableOf(), "carriers.0.rules"],
      [
        {
          checked: "2026-11-28",
          carriers: [{ name: "mine", rules: [rule], surcharges: [{ source: "x", limits: ["96 in"] }] }],
        },
        "carriers.0.surcharges.0.limits.0",
      ],
      [
        {
          checked: "2026-11-28",
          carriers: [
            { name: "mine", rules: [rule] },
            { name: "mine", rules: [rule] },
          ],
        },
        "the field carriers.1.name has the same value as another one",
      ],
    ];
    for (const [table, field] of wrong) {
      const error = caughtBy(() => bill(table as WeightTable), "ERR_INPUT");
      assert.ok(error.message.includes(field), `${field}: ${error.message}`);
    }
    caughtBy(() => bill(tableOf(rule), "2026-11-22", "other"), "ERR_INPUT");
    caughtBy(() => bill(tableOf(rule), "2026-11-22", "__proto__"), "ERR_INPUT");
  });
});

describe("limits", () => {
  const over = (sides: Sides, weight: number, rule: Rule = "ups", extras = "", day = "2026-11-22") => {
    const more = { dateTimeLocal: `${day}T10:00:00-05:00` };
    const result = billableWeight(resultOf(sides, { weight, more }), { rule, extras });
    const names = result.thresholds
      .filter((one) => one.over)
      .map(({ name, quantity }) => `${name}: ${quantity}`);
    assert.equal(result.over ?? false, names.length > 0);
    return names;
  };

  it("are not exceeded by a parcel that meets them exactly", () => {
    assert.deepEqual(over([24, 24, 18], 50), []);
    assert.deepEqual(over([30, 24, 24], 110), ["additional handling: volume"]);
    assert.deepEqual(over([48, 10, 10], 50), []);
    assert.deepEqual(over([40, 30, 2], 50), []);
  });

  it("are exceeded by the smallest bit more, sides as the rule rounds them", () => {
    assert.deepEqual(over([24.1, 24, 18], 50), ["additional handling: volume"]);
    assert.deepEqual(over([30.1, 24, 24], 110.1, "fedex"), [
      "additional handling: volume",
      "oversize: volume",
      "oversize: weight",
    ]);
    assert.deepEqual(over([48.1, 10, 10], 50), ["additional handling: longest"]);
    assert.deepEqual(over([2, 40, 30.1], 50), ["additional handling: second"]);
    assert.deepEqual(over([47, 15, 13], 50, "ups", "extra: girth > 103 in"), []);
    assert.deepEqual(over([47, 15, 13.1], 50, "ups", "extra: girth > 103 in"), ["extra: girth"]);
  });

  it("can set a least weight, which is billed of a parcel over them if it weighs less", () => {
    const large = "large: longest > 96 in, at least 90 lb; large: girth > 130 in, at least 90 lb";
    const handling = "handling: longest > 48 in, at least 40 lb";
    const bill = (sides: Sides, weight: number | null, extras: string, rule: Rule = "fedex") => {
      const options = weight === null ? ({ rule, extras, weight: "none" } as const) : { rule, extras };
      const found = billableWeight(resultOf(sides, { weight }), options);
      return [found.weight, found.basis, found.minimumFrom];
    };
    // The parcel of issue 57: 97 × 6 × 6 in are 26 lb by size.
    assert.deepEqual(bill([97, 6, 6], 20, ""), [26, "dimensional", null]);
    assert.deepEqual(bill([97, 6, 6], 20, large), [90, "minimum", "large"]);
    assert.deepEqual(bill([96, 6, 6], 20, large), [25, "dimensional", null]);
    assert.deepEqual(bill([96.1, 6, 6], 20, large), [90, "minimum", "large"]);
    assert.deepEqual(bill([97, 6, 6], 90, large), [90, "actual", null]);
    assert.deepEqual(bill([97, 6, 6], 90.1, large), [91, "actual", null]);
    // 130 in exactly, and one more.
    assert.deepEqual(bill([90, 10, 10], 20, large), [65, "dimensional", null]);
    assert.deepEqual(bill([91, 10, 10], 20, large), [90, "minimum", "large"]);
    // The greatest counts, in any order.
    for (const extras of [`${handling}; ${large}`, `${large}; ${handling}`]) {
      assert.deepEqual(bill([97, 6, 6], 20, extras), [90, "minimum", "large"]);
      assert.deepEqual(bill([60, 6, 6], 20, extras), [40, "minimum", "handling"]);
    }
    // In another unit than the rule's it is rounded up as a weight is; and it needs no weight.
    assert.deepEqual(bill([97, 6, 6], 20, "large: longest > 2 m, at least 20kg"), [45, "minimum", "large"]);
    assert.deepEqual(bill([97, 6, 6], null, large), [90, "minimum", "large"]);
    const own = { unit: "in-lb", divisor: 139, minimum: 100, productRounding: 1 } as const;
    assert.deepEqual(bill([97, 6, 6], 20, large, own), [100, "minimum", null]);
    // A limit of the weight that is not known is not exceeded, so it sets none.
    assert.deepEqual(bill([10, 10, 10], null, "heavy: weight > 1 lb, at least 50 lb"), [
      8,
      "dimensional",
      null,
    ]);
    assert.equal(
      billableWeight(resultOf([97, 6, 6], { weight: 20 }), { rule: "fedex", extras: large }).explanation,
      "97 × 6 × 6 in = 3492 in³, ÷ 139 = 25.12 lb; actual weight 20 lb; at least 90 lb (large)",
    );
  });

  it("of a large package of UPS by its older limits are not in the preset, and can be added with their 90 lb", () => {
    // One secondary source has them for 2026: blog.winsbs.com, 2025-12-29.
    const extras =
      "large package: longest > 96 in, at least 90 lb; large package: girth > 130 in, at least 90 lb";
    const bill = (sides: Sides, given = extras) => {
      const more = { dateTimeLocal: "2026-11-22T10:00:00-05:00" };
      return billableWeight(resultOf(sides, { weight: 20, more }), { rule: "ups", extras: given });
    };
    assert.deepEqual([bill([97, 6, 6], "").weight, bill([97, 6, 6], "").minimumFrom], [26, null]);
    assert.deepEqual([bill([97, 6, 6]).weight, bill([97, 6, 6]).minimumFrom], [90, "large package"]);
    assert.equal(bill([96, 6, 6]).weight, 25);
    assert.equal(bill([91, 10, 10]).weight, 90);
    assert.equal(bill([90, 10, 10]).weight, 65);
  });

  it("of days before the first ones in the table are said to be unknown, and no later ones are used", () => {
    const days: readonly (readonly [
      rule: PresetName,
      day: string,
      over: boolean | null,
      since: string | null,
    ])[] = [
      ["ups", "2025-08-18", null, null],
      ["ups", "2026-01-25", null, null],
      ["ups", "2026-01-26", true, "2026-01-26"],
      ["ups", "2099-12-31", true, "2026-01-26"],
      ["fedex", "2026-01-11", null, null],
      ["fedex", "2026-01-12", true, "2026-01-12"],
      // The table has no limits of these at all: there is nothing to compare.
      ["usps", "2026-07-12", null, null],
      ["dpd", "2026-07-12", null, null],
    ];
    for (const [rule, day, isOver, since] of days) {
      const parcel = resultOf([60, 10, 10], { more: { dateTimeLocal: `${day}T10:00:00-05:00` } });
      const found = billableWeight(parcel, { rule });
      assert.deepEqual([found.over, found.limitsDate], [isOver, since], `${rule} ${day}`);
      assert.equal(billableWeight(parcel, { rule, extras: "long: longest > 50 in" }).over, true);
    }
  });

  it("hold from their day on", () => {
    assert.deepEqual(over([60, 10, 10], 1, "ups", "", "2026-01-25"), []);
    assert.deepEqual(over([60, 10, 10], 1, "ups", "", "2026-01-26"), ["additional handling: longest"]);
    assert.deepEqual(over([60, 10, 10], 1, "fedex", "", "2026-01-12"), ["additional handling: longest"]);
    assert.deepEqual(over([60, 10, 10], 1, "dpd"), []);
  });

  it("can be set beside those of the carrier, in any unit", () => {
    const extras =
      "heavy: weight > 10 kg; long: longest > 25.4cm\nbulky : volume > 0.01 m³; flat: shortest > 2 in";
    const { thresholds } = billableWeight(resultOf([10, 10, 2], { weight: 22.05 }), { rule: "dpd", extras });
    assert.deepEqual(
      thresholds.map(({ name, over: isOver, value, limit, unit }) => [name, isOver, value, limit, unit]),
      [
        ["heavy", true, 10.0017, 10, "kg"],
        ["long", false, 25.4, 25.4, "cm"],
        ["bulky", false, 0.0033, 0.01, "m³"],
        ["flat", false, 2, 2, "in"],
      ],
    );
  });

  it("of a weight that is not known are neither exceeded nor met", () => {
    const parcel = resultOf([10, 10, 2], { weight: null });
    const options = { rule: "dpd", weight: "none", extras: "heavy: weight > 10 kg" } as const;
    const { over: isOver, thresholds } = billableWeight(parcel, options);
    assert.deepEqual([thresholds[0]?.over, thresholds[0]?.value, isOver], [null, null, null]);
    const long = { ...options, extras: `${options.extras}; long: longest > 5 in` };
    assert.equal(billableWeight(parcel, long).over, true);
  });

  it("that no dated source confirms are named in the documentation as they are read, and in no rule", async () => {
    const page = await readFile(join(import.meta.dirname, "../../docs/billable-weight.md"), "utf8");
    const [, section = ""] = page.split("### Not confirmed");
    const rows = section.split("\n").flatMap((line) => {
      const [, carrier = "", text = ""] = /^\| (\w+) .*\| `([^`]+)` *\|$/.exec(line) ?? [];
      return carrier === "" ? [] : [{ preset: presets[carrier.toLowerCase() as PresetName], text }];
    });
    assert.equal(rows.length, 6);
    for (const { preset, text } of rows) {
      const read = readLimits(text);
      assert.ok("limits" in read, text);
      const known = preset.surcharges.flatMap(({ limits }) => limits);
      for (const { quantity, limit, minimum } of read.limits) {
        const same = known.filter((one) => one.quantity === quantity && one.limit === limit);
        assert.ok(
          same.every((one) => minimum !== undefined && one.minimum === undefined),
          text,
        );
      }
    }
  });

  it("are compared with a side as it was measured where the rule has rounded it down", () => {
    const over = (length: number, extras: string) => {
      const parcel = resultOf([length, 30, 20], { dimsUnit: "cm", weight: 1 });
      const { sides, thresholds, over: any } = billableWeight(parcel, { rule: "dhl-express", extras });
      return [sides[0], thresholds[0]?.value, any];
    };
    assert.deepEqual(over(120.4, "long: longest > 120 cm"), [120, 120.4, true]);
    assert.deepEqual(over(119.6, "long: longest > 120 cm"), [120, 120, false]);
    assert.deepEqual(over(120, "long: longest > 120 cm"), [120, 120, false]);
  });

  it("have to be written as they are read", () => {
    for (const extras of [
      "heavy",
      "heavy: weight > 10",
      "x: weight > 5 cm",
      "x: longest > 5 kg",
      "x: depth > 1 cm",
      ": weight > 1 kg",
      "x: weight > 1.2.3 kg",
      "x: weight < 5 kg",
      "x: longest > 96 in, at least 90",
      "x: longest > 96 in, at least 90 in",
      "x: longest > 96 in, at least lb",
      "x: longest > 96 in, at most 90 lb",
      "x: longest > 96 in, at least 1.2.3 lb",
      "x: longest > 96 in at least 90 lb",
    ]) {
      const error = caughtBy(() => billableWeight(resultOf([1, 1, 1]), { rule: "ups", extras }), "ERR_INPUT");
      assert.match(error.message, /must be written like “heavy: weight > 31\.5 kg”/, extras);
    }
    for (const extras of ["x: volume > 1,728 in³", "1,5 m: longest > 5 m, at least 1,234 kg"]) {
      const error = caughtBy(() => billableWeight(resultOf([1, 1, 1]), { rule: "ups", extras }), "ERR_INPUT");
      assert.match(error.message, /what number “1,(?:728|234)” is\. Write it .* without a comma/, extras);
    }
    const own = { unit: "in-lb", divisor: 139, threshold: "1,728" } as const;
    const unclear = caughtBy(() => billableWeight(resultOf([1, 1, 1]), { rule: own }), "ERR_INPUT");
    assert.match(unclear.message, /what number “1,728” is\. Write it .* without a comma/);
    const many = "x: weight > 1 kg;".repeat(51);
    caughtBy(() => billableWeight(resultOf([1, 1, 1]), { rule: "ups", extras: many }), "ERR_INPUT");
  });
});
