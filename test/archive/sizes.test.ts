import assert from "node:assert/strict";
import { readSize } from "../../src/evidence/search.ts";
import { indexedSize } from "../../src/vault/packages/package-index.ts";

describe("archive: sizes that people look for", () => {
  it("are as exact as they are written, with the longest side first", () => {
    const cases: readonly (readonly [string, unknown])[] = [
      [
        "33.5 x 21 x 12.5 cm",
        [
          [
            [
              [334, 336],
              [200, 220],
              [124, 126],
            ],
            null,
          ],
        ],
      ],
      [
        "12,5×33,5*21CM",
        [
          [
            [
              [334, 336],
              [200, 220],
              [124, 126],
            ],
            null,
          ],
        ],
      ],
      [
        "300x200x100mm",
        [
          [
            [
              [299, 301],
              [199, 201],
              [99, 101],
            ],
            null,
          ],
        ],
      ],
      [
        "10x10x10",
        [
          [
            [
              [90, 110],
              [90, 110],
              [90, 110],
            ],
            null,
          ],
          [
            [
              [229, 279],
              [229, 279],
              [229, 279],
            ],
            null,
          ],
        ],
      ],
      [
        "1x1x1 m",
        [
          [
            [
              [975, 1025],
              [975, 1025],
              [975, 1025],
            ],
            null,
          ],
        ],
      ],
      ["1.27 kg", [[null, [1260, 1280]]]],
      ["2.8lb", [[null, [1225, 1315]]]],
      [
        "33x21x12 cm, 1,27 kg",
        [
          [
            [
              [320, 340],
              [200, 220],
              [110, 130],
            ],
            [1260, 1280],
          ],
        ],
      ],
      [
        "33x21x12 cm 450 g",
        [
          [
            [
              [320, 340],
              [200, 220],
              [110, 130],
            ],
            [449, 451],
          ],
        ],
      ],
    ];
    for (const [text, expected] of cases) {
      const read = readSize(text)?.map(({ sides, weight }) => [
        sides?.map(({ from, to }) => [from, to]) ?? null,
        weight === null ? null : [weight.from, weight.to],
      ]);
      assert.deepEqual(read, expected, text);
    }
  });

  it("may have each name of their unit", () => {
    for (const [one, other] of [
      ["13.19 x 8.27 x 4.92 in, 2.8 lb", "13.19x8.27x4.92 inches 2.8 pounds"],
      ["1 kg", "1 kgs"],
      ["13x8x4 in", '13x8x4"'],
    ] as const) {
      assert.deepEqual(readSize(other), readSize(one));
      assert.ok(readSize(one) !== undefined);
    }
  });

  it("are read in whatever form people have them", () => {
    for (const [one, ...others] of [
      [
        "33.5 x 21 x 12.5 cm",
        "33.5 cm × 21 cm × 12.5 cm",
        "33.5cm x 21 x 12.5",
        "335 mm x 21 cm x 12.5 cm",
        "３３.５×２１×１２.５ｃｍ",
        "٣٣.٥×٢١×١٢.٥ cm",
        "33,5 х 21 х 12,5 см",
        "33.5✕21✖12.5厘米",
        "33.5*21*12.5㎝",
      ],
      ["12 x 8 x 5 in", '12" x 8" x 5"', "12” × 8” × 5”", "12″×8″×5″", "12''x8''x5''", "12 x 8 x 5 in."],
      ["1.27 kg", "1,27 кг", "1.27公斤", "1.27 ㎏", "1.27 kg."],
      ["0.5 lb", ".5 lbs"],
      [
        "33x21x12 cm 1.27 kg",
        "1.27 kg, 33x21x12 cm",
        "33x21x12 cm / 1.27 kg",
        "33x21x12 cm (1.27 kg)",
        "33x21x12 cm · 1.27 kg",
        "1.27 kg (33x21x12 cm)",
      ],
      ["33.12x21x12 cm", "33.1200001x21x12 cm"],
    ]) {
      const wanted = JSON.stringify(readSize(one ?? ""));
      for (const other of others) {
        assert.equal(JSON.stringify(readSize(other)), wanted, other);
      }
    }
  });

  it("are nothing else", () => {
    for (const text of [
      "",
      "33",
      "33x21",
      "PO-33x21x12",
      "33x21x12x4",
      "12 kg box",
      "33x21x12 qq",
      "1x1x1 cm, kg",
      "x".repeat(5_000),
    ]) {
      assert.equal(readSize(text), undefined, text.slice(0, 40));
    }
  });

  it("are looked for in a short text only, because a long one would hold up the process", () => {
    for (const text of ["1,".repeat(40_000), `1${" ".repeat(80_000)}1`]) {
      const before = process.cpuUsage();
      assert.equal(readSize(text), undefined);
      assert.ok(process.cpuUsage(before).user < 1_000_000, "less than a second of the processor's time");
    }
    assert.ok(readSize(`1x1x1${" ".repeat(30)}cm, 1${" ".repeat(30)}kg`) !== undefined);
    assert.ok(readSize(`${" ".repeat(1_000)}1x1x1 cm${" ".repeat(1_000)}`) !== undefined);
  });

  it("are compared in millimetres and grams, whichever side the device calls the length", () => {
    const measured = { length: 4.92, width: 13.19, height: 8.27, weight: 2.8 };
    assert.deepEqual(indexedSize({ ...measured, dimsUnitOfMeasure: "in", weightUnitOfMeasure: "LB" }), {
      longest_mm: 335,
      middle_mm: 210,
      shortest_mm: 125,
      weight_g: 1270,
    });
    const inches = indexedSize({ ...measured, dimsUnitOfMeasure: "inch", weightUnitOfMeasure: "lbs" });
    assert.deepEqual([inches.longest_mm, inches.weight_g], [335, 1270]);
    const none = { longest_mm: null, middle_mm: null, shortest_mm: null, weight_g: null };
    assert.deepEqual(indexedSize(null), none);
    assert.deepEqual(indexedSize({ ...measured, dimsUnitOfMeasure: "?", weightUnitOfMeasure: null }), none);
    const flat = { ...measured, height: 0, weight: 0, dimsUnitOfMeasure: "cm", weightUnitOfMeasure: "kg" };
    assert.deepEqual(indexedSize(flat), none);
    // No column can hold it.
    assert.deepEqual(indexedSize({ ...flat, height: 9e15, weight: 1e300 }), none);
  });
});
