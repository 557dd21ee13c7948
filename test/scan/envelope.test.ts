import assert from "node:assert/strict";
import { DimensionerError } from "../../src/errors/dimensioner-error.ts";
import { allFrames, readCode, splitFrames } from "../../src/scan/read-code.ts";
import { readScan } from "../../src/scan/read-scans.ts";
import { chooseReference } from "../../src/scan/reference.ts";
import { gs, read } from "./support.ts";

const rs = "\x1e";
const eot = "\x04";

/*
 * The layouts are public: the envelope of ISO/IEC 15434 and format 01 in Zebra's ZPL programming guide (^BD), in Honeywell's DPL
 * command reference and in Cino's and Avery Dennison's manuals, which also give UPS's short number; format 01 and the segments behind it
 * in the Bar Code & Label Layout Specification FY04 of FedEx Ground. The numbers are test numbers of tracking_number_data 2.0.0, also
 * used for the linear codes; the addressee is invented.
 */
const person = ["12 EXAMPLE STREET", "SAMPLEVILLE", "OH", "ALEX EXAMPLE"] as const;
const secrets = [
  ...person.filter((one) => one.length > 2),
  "450660000",
  "94105",
  "4155550100",
  "EXAMPLE CORP",
];

const ups = [
  `01${gs}96450660000`,
  "840",
  "003",
  "1Z57567127",
  "UPSN",
  "5R8939",
  "070",
  "",
  "1/1",
  "15",
  "Y",
  ...person.slice(0, 3),
].join(gs);
const upsLabel = `[)>${rs}${ups}${rs}${eot}`;
const compressed = `[)>${rs}${ups.split(gs).slice(0, 7).join(gs)}${rs}07${secrets[0]}\rA\r\nB\x03${rs}${eot}`;

const fedExFields = (tracking: string, scac: string, linear: string, end = `${rs}${eot}`): string =>
  [
    `[)>${rs}01${gs}0294105`,
    "840",
    "20",
    tracking,
    scac,
    "740561073",
    "031",
    "",
    "1/1",
    "5.00LB",
    "N",
    ...person,
  ].join(gs) +
  `${rs}06${gs}10ZED008${gs}11ZEXAMPLE CORP${gs}12Z4155550100${gs}31Z${linear}${gs}32Z02${gs}${end}`;
const express = fedExFields("7790179726970201", "FDE", "1001921334250001000300779017972697");
const ground = fedExFields("794808390594", "FDEG", "9632001560123456789900794808390594");
const binary = fedExFields(
  "7790179726970201",
  "FDE",
  "1001921334250001000300779017972697",
  `${rs}09${gs}FDX${gs}z${gs}8${gs}\r\n\0\t\x03${rs}A\x7f${rs}${eot}`,
);

const labels: readonly (readonly [name: string, label: string, printed: string, carrier: string])[] = [
  ["UPS MaxiCode", upsLabel, "1Z5R89390357567127", "UPS"],
  ["UPS MaxiCode, compressed", compressed, "1Z5R89390357567127", "UPS"],
  [
    "UPS MaxiCode without a separator behind UPSN",
    upsLabel.replace(`UPSN${gs}`, "UPSN"),
    "1Z5R89390357567127",
    "UPS",
  ],
  [
    "UPS with its whole number",
    upsLabel.replace("1Z57567127", "1Z5R89390357567127"),
    "1Z5R89390357567127",
    "UPS",
  ],
  ["FedEx Express PDF417", express, "779017972697", "FedEx"],
  ["FedEx Express PDF417 with bytes", binary, "779017972697", "FedEx"],
  ["FedEx Ground PDF417", ground, "794808390594", "FedEx"],
];

const automatic = {
  rule: { which: "auto" },
  kinds: ["gs1", "digitalLink", "ean", "other"],
  mayBeWrong: false,
} as const;

describe("a carrier's 2D label (ISO/IEC 15434)", () => {
  for (const [name, label, printed, carrier] of labels) {
    it(`has the number that its linear code has, and says nothing of the addressee: ${name}`, () => {
      for (const front of ["]U1", "]L0", "]d1", "\uFEFF", ""]) {
        for (const end of ["", "\r\n", "\t"]) {
          const reading = read(`${front}${label}${end}`);
          const { scan } = reading;
          assert.equal(scan.number, printed);
          assert.equal(chooseReference(reading, automatic), printed);
          assert.deepEqual([scan.carriers[0]?.carrier, scan.carriers[0]?.checkDigit], [carrier, true]);
          const everything = JSON.stringify(scan);
          for (const secret of secrets) {
            assert.ok(!everything.includes(secret), `${secret} in ${everything}`);
          }
          assert.ok(scan.raw.endsWith(end) && scan.text.startsWith(`[)>${rs}01${gs}`));
        }
      }
    });

    it(`is one scan, whatever is in it and however it is divided: ${name}`, () => {
      const two = `${label}\r\n${label}\r\n`;
      assert.deepEqual(
        allFrames(two).map(({ body }) => body),
        [label, label],
      );
      let rest = "";
      const bodies: string[] = [];
      for (const character of two) {
        const found = splitFrames(rest + character);
        bodies.push(...found.frames.map(({ body }) => body));
        rest = found.rest;
      }
      assert.deepEqual(bodies, [label, label]);
    });
  }

  it("ends with a line end where the scanner drops the end of the label, also with 07 in a field", () => {
    const open = upsLabel.replace(rs + eot, "");
    assert.deepEqual(
      allFrames(`${open}\r\nORDER-1\r\n`).map(({ body }) => body),
      [open, "ORDER-1"],
    );
  });

  it("has elements with titles, and the addressee if that is asked for", () => {
    const named = (addressee: boolean) =>
      Object.fromEntries(
        readScan(express, { addressee }).elements.map(({ di, title, value }) => [di ?? title, value]),
      );
    const without = {
      "Ship to country code": "840",
      "Class of service": "20",
      "Tracking number": "7790179726970201",
      "Carrier (SCAC)": "FDE",
      "Shipper number": "740561073",
      "Day of pickup": "031",
      "Package n of x": "1/1",
      Weight: "5.00LB",
      "Address validation": "N",
      "10Z": "ED008",
      "31Z": "1001921334250001000300779017972697",
      "32Z": "02",
    };
    assert.deepEqual(named(false), without);
    assert.deepEqual(named(true), {
      ...without,
      "Ship to postal code": "94105",
      "Ship to street": person[0],
      "Ship to city": person[1],
      "Ship to state": person[2],
      "Ship to name": person[3],
      "11Z": "EXAMPLE CORP",
      "12Z": "4155550100",
    });
    const whole = readScan(express, { addressee: true });
    assert.deepEqual([whole.text, whole.raw], [express, express]);
    assert.equal(whole.number, "779017972697");
    assert.deepEqual(whole.labelWeight, { weight: 5, unit: "lb" });
    assert.equal(readScan(upsLabel).labelWeight, null, "UPS does not write the unit");
  });

  it("is read without its header, and with what drivers make of its control characters", () => {
    const headless = upsLabel.slice(`[)>${rs}`.length);
    for (const label of [
      headless,
      headless.slice(`01${gs}96`.length),
      headless.slice(`01${gs}96`.length).replace(`${rs}${eot}`, ""),
      upsLabel.replace(eot, ""),
      upsLabel.replaceAll(gs, "<GS>").replaceAll(rs, "<RS>").replace(eot, "<EOT>"),
      upsLabel.replaceAll(gs, "{GS}").replaceAll(rs, "{RS}").replace(eot, "{EOT}"),
      upsLabel.replaceAll(gs, "^]").replaceAll(rs, "^^").replace(eot, "^D"),
      upsLabel.replaceAll(gs, "\\x1d").replaceAll(rs, "\\x1e").replace(eot, "\\x04"),
      upsLabel.replaceAll(gs, "Alt+029").replaceAll(rs, "Alt+030").replace(eot, "Alt+004"),
      upsLabel.replaceAll(gs, "|"),
      upsLabel.replaceAll(gs, "~"),
      upsLabel.replaceAll(gs, "↔"),
    ]) {
      const { scan } = read(label);
      assert.equal(scan.number, "1Z5R89390357567127", JSON.stringify(label));
      assert.ok(!JSON.stringify(scan).includes(person[0]), JSON.stringify(label));
    }
    assert.deepEqual(read(upsLabel.replaceAll(gs, "|")).scan.separator, { found: "|", as: gs });
  });

  it("gives no number by guessing: a wrong check digit, two numbers, or separators that are lost", () => {
    const wrong = upsLabel.replace("1Z57567127", "1Z57567128");
    const different = ground.replace("794808390594", "986578788855");
    for (const [label, sentence] of [
      [wrong, "scanWrong"],
      [upsLabel.replace("5R8939", "5R89"), "scanWrong"],
      [different, "scanWrong"],
      [upsLabel.replaceAll(gs, "").replaceAll(rs, ""), "scanNoReference"],
    ] as const) {
      const reading = read(label);
      assert.equal(reading.scan.number, null, JSON.stringify(label));
      assert.throws(
        () => chooseReference(reading, automatic),
        (error) =>
          error instanceof DimensionerError &&
          error.sentence === sentence &&
          !secrets.some((secret) => error.message.includes(secret)),
        JSON.stringify(label),
      );
    }
  });

  it("takes time in proportion to its length", () => {
    for (const unit of [`${rs}07`, `${gs}1J`, "\r", `${rs}${eot}`, "|A", "<GS>", `[)>${rs}07\r`]) {
      const text = `[)>${rs}01${gs}96${unit.repeat(8_192)}`.slice(0, 8_192);
      const before = performance.now();
      readCode({ raw: text, body: text }, {});
      splitFrames(`[)>${rs}01${gs}96${unit.repeat(65_536)}`.slice(0, 65_536));
      assert.ok(performance.now() - before < 1_000, JSON.stringify(unit));
    }
  });
});

describe("the 2D label of a shipper (ISO/IEC 15434, formats 05 and 06)", () => {
  it("has data identifiers with their titles, and its license plate is the number, as in the linear code", () => {
    // The plate is the example of ISO/IEC 15459-1 as GS1 and VDA 4994 write it: agency, company and serial number.
    const { scan } = read(
      `[)>${rs}06${gs}1JUN043325711MH8031200000000001${gs}KPO-4711${gs}Q12${gs}9XOTHER${rs}${eot}`,
    );
    assert.equal(scan.number, "1JUN043325711MH8031200000000001");
    assert.equal(read("]C01JUN043325711MH8031200000000001").scan.number, scan.number);
    assert.deepEqual(
      scan.elements.map(({ ai, di, title, value }) => [ai, di, title, value]),
      [
        [null, "1J", "License plate, lowest level", "UN043325711MH8031200000000001"],
        [null, "K", "Customer order", "PO-4711"],
        [null, "Q", "Quantity", "12"],
        [null, "9X", null, "OTHER"],
      ],
    );
  });

  it("has no number if it has two plates", () => {
    const two = `[)>${rs}06${gs}1JUN1${gs}1JUN2${rs}${eot}`;
    assert.equal(read(two).scan.number, null);
    assert.throws(() => chooseReference(read(two), automatic), { sentence: "scanNoReference" });
  });

  it("has application identifiers, without those of the addressee", () => {
    const label = `[)>${rs}05${gs}00123456789012345675${gs}4301ALEX${gs}10LOT1${rs}${eot}`;
    const { scan } = read(label);
    assert.deepEqual(
      [scan.number, scan.sscc, scan.lot],
      ["123456789012345675", "123456789012345675", "LOT1"],
    );
    assert.ok(!JSON.stringify(scan).includes("ALEX"));
    assert.ok(JSON.stringify(readScan(label, { addressee: true })).includes("ALEX"));
  });
});
