import assert from "node:assert/strict";
import * as fc from "fast-check";
import { findCarriers } from "../../src/scan/carriers/candidates.ts";
import { formats } from "../../src/scan/carriers/formats.ts";
import { read, readTrackingFormats, withCheckDigit } from "./support.ts";

/** The services of each carrier by the names that the data set gives to its formats. */
const ours: Readonly<Record<string, readonly string[]>> = {
  "FedEx FedEx Express (12)": ["Express (12)"],
  "FedEx FedEx Express (34)": ["Express (34)"],
  "FedEx FedEx ASTRA (32)": ["ASTRA (32)"],
  "FedEx FedEx Ground": ["Ground (15)"],
  "FedEx FedEx Ground (SSCC-18)": ["Ground SSCC (18)"],
  "FedEx FedEx Ground 96 (22)": ["Ground 96 (22)"],
  "FedEx FedEx Ground GSN": ["Ground GSN (34)"],
  "DHL DHL Express": ["Express"],
  "DHL DHL Express (Piece ID)": ["Express (piece)"],
  "DHL DHL E-Commerce": ["eCommerce"],
  "DHL DHL E-Commerce (14)": ["eCommerce (14)"],
  "UPS UPS Waybill": ["Waybill"],
  "Purolator Purolator (12)": ["Purolator (12)"],
  "Purolator Purolator (alpha + 9)": ["Purolator (letters)"],
};

const carrierNames: Readonly<Record<string, string>> = {
  "United States Postal Service": "USPS",
  "S10 International Standard": "UPU S10",
  "Old Dominion Freight Line": "Old Dominion",
  "Landmark Global LTN": "Landmark Global",
  "Spee-Dee Delivery": "Spee-Dee",
};

/** Candidates of one carrier, and of one of its formats where the formats of the data set can be told apart. */
function candidates(courier: string, format: string, number: string) {
  const carrier = carrierNames[courier] ?? courier;
  const services = ours[`${courier} ${format}`];
  return read(number).scan.carriers.filter(
    (one) => one.carrier === carrier && (services?.includes(one.service) ?? true),
  );
}

describe("carriers' tracking numbers", () => {
  it("are found with the right check digit: the 192 valid numbers of tracking_number_data", async () => {
    let count = 0;
    for (const { courier, format, valid } of await readTrackingFormats()) {
      for (const number of valid) {
        const [first] = candidates(courier, format, number);
        assert.ok(first !== undefined && first.checkDigit !== false, `${courier}, ${format}: ${number}`);
        count++;
      }
    }
    assert.equal(count, 192);
  });

  it("are not found, or with a wrong check digit: its 88 invalid numbers", async () => {
    let count = 0;
    for (const { courier, format, invalid } of await readTrackingFormats()) {
      for (const number of invalid) {
        const right = candidates(courier, format, number).filter(({ checkDigit }) => checkDigit !== false);
        assert.deepEqual(right, [], `${courier}, ${format}: ${number}`);
        count++;
      }
    }
    assert.equal(count, 88);
  });

  it("are all listed where one can be of several carriers, the right check digits first", () => {
    const found = read("201298452277").scan.carriers;
    assert.deepEqual(
      found.map(({ carrier, checkDigit }) => [carrier, checkDigit]),
      [
        ["FedEx", true],
        ["DHL", true],
        ["Purolator", false],
        ["Yamato", false],
      ],
    );
  });

  it("come without the routing code in front, and from the parts of a GS1 code", () => {
    const routed = "420023349200190132607600833457";
    for (const scan of [`]C1${routed}`, `]C142002334\x1d9200190132607600833457`, routed]) {
      const [first] = read(scan).scan.carriers;
      assert.deepEqual(
        first,
        {
          carrier: "USPS",
          service: "IMpb, mailer or retail",
          number: "9200190132607600833457",
          checkDigit: true,
        },
        scan,
      );
    }
  });

  it("of DHL Paket and Hermes have the check digits of their public descriptions", () => {
    const rightFor = (number: string) =>
      read(number)
        .scan.carriers.filter(({ checkDigit }) => checkDigit)
        .map(({ carrier, service }) => `${carrier} ${service}`);
    assert.ok(rightFor("428001369716").includes("DHL Paket Identcode (12)"));
    assert.ok(rightFor("21348075016401").includes("DHL Paket Leitcode (14)"));
    assert.ok(rightFor("00340433836442636597").includes("DHL Paket (20)"));
    assert.ok(rightFor("09133131530724").includes("Hermes Hermes (14)"));
  });

  it("of further carriers are found, those with a check digit only by it", () => {
    // The first of each is of the source that its format names; the others are beside it in one thing.
    const cases: readonly (readonly [
      carrier: string,
      scan: string,
      number: string | null,
      check: boolean | null,
    ])[] = [
      ["La Poste", "8L20524752032", "8L20524752032", true],
      ["La Poste", "6A15602676300", "6A15602676300", true],
      ["La Poste", "6M17554710224", "6M17554710224", true],
      ["La Poste", "6a 1560268384 1", "6A15602683841", true],
      ["La Poste", "6M17554710225", "6M17554710225", false],
      ["La Poste", "6M1755471022", null, null],
      ["La Poste", "6MM7554710224", null, null],
      ["Yamato", "123456789013", "123456789013", true],
      ["Yamato", "123456789014", "123456789014", false],
      ["Yamato", "A123456789013A", "123456789013", true],
      ["Yamato", "]F0d123456789013d", "123456789013", true],
      ["Yamato", "E123456789013E", null, null],
      ["Japan Post", "13112383852", "13112383852", true],
      ["Japan Post", "a13112383852b", "13112383852", true],
      ["Japan Post", "13112383853", "13112383853", false],
      ["UPU S10", "RR123456785JP", "RR123456785JP", true],
      ["PostNL", "3SDEVC123456789", "3SDEVC123456789", null],
      ["PostNL", "3SDEVC1234567", "3SDEVC1234567", null],
      ["PostNL", "3SDEVC12345678", null, null],
      ["PostNL", "3SDEVCX23456789", null, null],
      ["Australia Post", "ABC1234567010021", "ABC1234567010021", null],
      ["Australia Post", "ABC1234567010031", null, null],
      ["Australia Post", "ABC1234567200123", "ABC1234567200123", null],
      ["Australia Post", "ABC1234567210123", null, null],
      ["Evri", "H00AAA0012345678", "H00AAA0012345678", null],
      ["Evri", "7035114477138472", "7035114477138472", null],
      ["Evri", "HH0AAA0012345678", null, null],
      ["SF Express", "SF1234567890123", "SF1234567890123", null],
      ["SF Express", "SF123456789012", null, null],
      ["InPost", "520000014433330021832563", "520000014433330021832563", null],
      ["InPost", "52000001443333002183256", null, null],
      ["Royal Mail", "]d1JGB 012100123412345678AB19XY1A 0             ", "JGB012100123412345678", null],
      [
        "Royal Mail",
        "JGB 012100123412345678AB19XY1A 0             www.xyz.com",
        "JGB012100123412345678",
        null,
      ],
      ["Royal Mail", "JGB 01210012341234567", null, null],
      ["Royal Mail", "JFB 012100123412345678AB19XY1A 0", null, null],
      ["Amazon", "TBA502887274000", "TBA502887274000", null],
      ["Canada Post", "7035114477138472", "7035114477138472", true],
      ["DPD", "%008182709980000020033350276C", "09980000020033", true],
    ];
    for (const [carrier, scan, number, check] of cases) {
      const found = read(scan).scan.carriers.find((one) => one.carrier === carrier);
      assert.deepEqual(
        [found?.number ?? null, found?.checkDigit ?? null],
        [number, check],
        `${carrier}: ${scan}`,
      );
    }
  });

  it("of Codabar are none in a symbol of which the scanner says that it is another one", () => {
    for (const code of ["A123456789013A", "B13112383852C"]) {
      for (const aim of ["]C0", "]A0", "]d1", "]G0"]) {
        assert.deepEqual(
          [read(aim + code).scan.number, read(aim + code).scan.carriers],
          [code, []],
          aim + code,
        );
      }
      assert.equal(read(`]F0${code}`).scan.number, code.slice(1, -1));
    }
  });

  it("of Royal Mail's 2D code are the reference, without the addressee's postcode", () => {
    assert.equal(
      read("]d1JGB 012100123412345678AB19XY1A 0             ").scan.number,
      "JGB012100123412345678",
    );
  });

  it("leave an article its number: a remainder of 7 is weaker than the article's own check digit", () => {
    // UPC-A without an AIM identifier; 12345678901 has the remainder 3, and the check digit 2 of GS1.
    let articles = 0;
    for (let serial = 0; serial < 700; serial++) {
      const upc = withCheckDigit(`0360002${String(serial * 7).padStart(4, "0")}`);
      const isOfSeven = Number(upc.slice(0, 11)) % 7 === Number(upc[11]);
      const { scan } = read(upc);
      const isOfOther = scan.carriers.some(
        ({ carrier, service, checkDigit }) =>
          (checkDigit === true && ["FedEx", "Purolator"].includes(carrier)) ||
          (checkDigit === true && /Identcode/.test(service)),
      );
      articles += isOfSeven && !isOfOther && scan.gtin !== null ? 1 : 0;
      assert.equal(scan.gtin === null, isOfOther, upc);
    }
    assert.ok(articles > 30, `${articles}`);
  });

  it("name the service where the number does", () => {
    assert.deepEqual(read("1Z879E930346834440").scan.carriers, [
      { carrier: "UPS", service: "Ground", number: "1Z879E930346834440", checkDigit: true },
    ]);
    assert.equal(read("RB123456785GB").scan.carriers[0]?.service, "Letter post registered");
  });

  it("are none that an article's barcode can be, where the scanner says that it is one", () => {
    assert.deepEqual(read("]E04006381333931").scan.carriers, []);
  });

  it("are compared with every format that fits: the table's lengths and first characters leave out none", () => {
    // Texts cannot be generated from patterns that look ahead.
    const generable = formats.filter(({ pattern }) => !pattern.source.includes("(?="));
    assert.equal(generable.length, formats.length - 2);
    for (const { carrier, service, pattern, lengths, first } of generable) {
      fc.assert(
        fc.property(fc.stringMatching(pattern), (text) => {
          assert.ok(lengths.includes(text.length) && first.includes(text.charAt(0)), `${service}: ${text}`);
          const found = findCarriers(text, []).carriers.filter((one) => one.carrier === carrier);
          assert.ok(
            carrier === "UPS" || carrier === "UPU S10" || found.some((one) => one.service === service),
            `${service}: ${text}`,
          );
          assert.ok(found.length > 0, `${carrier}: ${text}`);
        }),
        { numRuns: 50 },
      );
    }
  });
});
