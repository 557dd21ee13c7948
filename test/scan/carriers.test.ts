import assert from "node:assert/strict";
import * as fc from "fast-check";
import { findCarriers } from "../../src/scan/carriers/candidates.ts";
import { formats } from "../../src/scan/carriers/formats.ts";
import { read, readTrackingFormats } from "./support.ts";

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
