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
    "UPS MaxiCode with a field that is filled up",
    upsLabel.replace("UPSN", "UPSN "),
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
      for (const front of ["]U1", "]L0", "]d1", "]d2", "]C1", "\uFEFF", " ", ""]) {
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

  it("is read without its header, whole or in part, of each of these carriers, and with each code of FedEx", () => {
    const bodies = [
      ["1Z5R89390357567127", ups],
      ...["FDE", "FDX", "FDEN", "FDEG", "FXFE"].map((scac) => [
        "779017972697",
        express.slice(4).replace("FDE", scac),
      ]),
      [
        "9261290283641500004181",
        express.slice(4).replace("7790179726970201", "9261290283641500004181").replace("FDE", "USPS"),
      ],
      ["3318810025", express.slice(4).replace("7790179726970201", "3318810025").replace("FDE", "DHLE")],
    ] as const;
    for (const [number, body = ""] of bodies) {
      for (const front of [`[)>${rs}`, "", rs, `>${rs}`, `)>${rs}`, `[>${rs}`]) {
        const reading = read(front + body);
        assert.equal(chooseReference(reading, automatic), number, front + body);
        assert.ok(!secrets.some((secret) => JSON.stringify(reading.scan).includes(secret)), front + body);
      }
    }
  });

  it("has the same number where Caps Lock turns its letters around", () => {
    const bare = ups.slice(`01${gs}96`.length);
    for (const label of [...labels.map(([, one]) => one), ups, bare]) {
      const printed = labels.find(([, one]) => one === label)?.[2] ?? "1Z5R89390357567127";
      const turned = label.replaceAll(/[a-z]/gi, (one) =>
        one === one.toLowerCase() ? one.toUpperCase() : one.toLowerCase(),
      );
      const reading = read(turned);
      assert.equal(reading.scan.number, printed, turned);
      assert.equal(chooseReference(reading, automatic), reading.scan.number);
      assert.ok(
        !secrets.some((secret) => JSON.stringify(reading.scan).includes(secret.toLowerCase())),
        turned,
      );
    }
  });

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
      upsLabel.replaceAll(gs, "<29>").replaceAll(rs, "<30>").replace(eot, "<4>"),
      upsLabel.replaceAll(gs, "[1D]").replaceAll(rs, "[1E]").replace(eot, "[04]"),
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

  it("is read with one character for all separators, and without its header, which never shows the addressee", () => {
    const bare = ups.slice(`01${gs}96`.length);
    for (const found of ["|", "~", "#", "\\F", "↔", "§", "\ufffd", "@"]) {
      for (const label of [
        upsLabel,
        upsLabel.replace(rs + eot, ""),
        ups,
        bare,
        `${bare}${rs}${eot}`,
        express,
      ]) {
        for (const written of [
          label.replaceAll(gs, found),
          label.replaceAll(gs, found).replaceAll(rs, found).replace(eot, found),
          label.replaceAll(gs, found).replaceAll(rs, "▲").replace(eot, "♦"),
          label.replaceAll(gs, found + found),
          label.replaceAll(gs, found + found).replaceAll(rs, found + found),
          label.replaceAll(gs, found).replaceAll(rs, "·"),
        ]) {
          const { scan } = read(written);
          const number = label === express ? "779017972697" : "1Z5R89390357567127";
          assert.deepEqual([scan.number, scan.separator?.found], [number, found], written);
          assert.ok(!secrets.some((secret) => JSON.stringify(scan).includes(secret)), written);
        }
      }
      const twice = upsLabel.replaceAll(gs, gs + gs);
      assert.equal(read(twice).scan.number, "1Z5R89390357567127");
      const wrong = bare.replace("1Z57567127", "1Z57567128").replaceAll(gs, found);
      assert.throws(() => chooseReference(read(wrong), automatic), { sentence: "scanWrong" });
    }
  });

  it("is read with line ends in place of the record separator, as one scan", () => {
    for (const line of ["\r", "\n", "\r\n"]) {
      for (const [label, printed] of [
        [upsLabel, "1Z5R89390357567127"],
        [upsLabel.replace(eot, ""), "1Z5R89390357567127"],
        [express, "779017972697"],
        [binary, "779017972697"],
        [upsLabel.replaceAll(gs, "^]").replace(eot, "^D"), "1Z5R89390357567127"],
      ] as const) {
        const written = label.replaceAll(rs, line);
        const [frame, other, ...more] = allFrames(`${written}\r\nORDER-1\r\n`);
        assert.deepEqual([other?.body, more.length], ["ORDER-1", 0], JSON.stringify(written));
        const { scan } = readCode(frame ?? assert.fail(), {});
        assert.equal(scan.number, printed, JSON.stringify(written));
        assert.ok(!secrets.some((secret) => JSON.stringify(scan).includes(secret)));
        assert.equal(read(`\x02]U1${written}\x03`).scan.number, printed);
        let rest = "";
        const bodies: string[] = [];
        for (const character of `${written}\r\nORDER-1\r\n${written}\r\nORDER-2\r\n`) {
          const found = splitFrames(rest + character);
          bodies.push(...found.frames.map(({ body }) => body));
          rest = found.rest;
        }
        assert.deepEqual(
          bodies.map((body) => readCode({ raw: body, body }, {}).scan.number),
          [printed, "ORDER-1", printed, "ORDER-2"],
          JSON.stringify(written),
        );
      }
    }
  });

  it("is read with the primary message of MaxiCode in front of the header, as Monarch's printer manual also has it", () => {
    const [postalCode = "", country = "", service = "", ...rest] = ups.slice(`01${gs}96`.length).split(gs);
    const label = [postalCode, country, service, `[)>${rs}01${gs}96${rest[0]}`, ...rest.slice(1)].join(gs);
    const { scan } = read(`]U0${label}${rs}${eot}`);
    assert.equal(scan.number, "1Z5R89390357567127");
    assert.ok(!JSON.stringify(scan).includes(person[0]));
    // Without separators nothing says what is what.
    const unclear = read(`]U0${postalCode}${country}${service}${upsLabel}`);
    assert.throws(() => chooseReference(unclear, automatic), { sentence: "scanNoReference" });
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
      const before = process.cpuUsage();
      readCode({ raw: text, body: text }, {});
      splitFrames(`[)>${rs}01${gs}96${unit.repeat(65_536)}`.slice(0, 65_536));
      assert.ok(process.cpuUsage(before).user < 1_000_000, JSON.stringify(unit));
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

  it("has data identifiers behind any separator, because the one behind the format is known", () => {
    for (const found of ["|", "~", "#", "\\F", "↔", "§", "\ufffd", "@"]) {
      const { scan } = read(`[)>${rs}06${gs}3SDEVC123456789${gs}Q2${rs}${eot}`.replaceAll(gs, found));
      assert.deepEqual([scan.number, scan.separator?.found], ["3SDEVC123456789", found]);
    }
  });

  it("leaves the addressee out of GS1 symbols with an address as well", () => {
    const content = `00123456789012345675${gs}4301ALEX${gs}430212+EXAMPLE+STREET${gs}10LOT1`;
    const link = "https://example.org/00/123456789012345675";
    for (const label of [
      ...["]d2", "]Q3", "]C1", gs, ""].map((front) => front + content),
      "(00)123456789012345675(4301)ALEX(4302)12+EXAMPLE+STREET(10)LOT1",
      `${link}?4301=ALEX&10=LOT1&4302=12+EXAMPLE+STREET`,
      `]Q1${link}?10=LOT1&4301=ALEX&4302=12+EXAMPLE+STREET#a`,
    ]) {
      const { scan } = read(label);
      assert.deepEqual([scan.sscc, scan.lot, scan.elements.length], ["123456789012345675", "LOT1", 2]);
      assert.ok(!/ALEX|EXAMPLE/.test(JSON.stringify(scan)), JSON.stringify(scan));
      assert.equal(readScan(label, { addressee: true }).raw, label);
    }
  });

  it("has application identifiers, without those of the addressee", () => {
    const label = `[)>${rs}05${gs}00123456789012345675${gs}4301ALEX${gs}42094105${gs}10LOT1${rs}${eot}`;
    const { scan } = read(label);
    assert.deepEqual(
      [scan.number, scan.sscc, scan.lot],
      ["123456789012345675", "123456789012345675", "LOT1"],
    );
    assert.ok(!/ALEX|94105/.test(JSON.stringify(scan)));
    assert.ok(JSON.stringify(readScan(label, { addressee: true })).includes("ALEX"));
  });

  it("has the carrier's number of application identifiers, and no ZIP code in front of one", () => {
    const number = "9261290283641500004181";
    for (const label of [
      `[)>${rs}05${gs}42077316${gs}${number}${rs}${eot}`,
      `[)>${rs}05${gs}420773161234${gs}${number}${gs}4301ALEX${rs}${eot}`,
      `[)>${rs}01${gs}0277316${gs}840${gs}055${gs}${number}${gs}USPS${gs}1${rs}${eot}`,
      `[)>${rs}01${gs}0277316${gs}840${gs}055${gs}42077316${number}${gs}USPS${gs}1${rs}${eot}`,
    ]) {
      const { scan } = read(label);
      assert.deepEqual(
        [scan.number, scan.carriers[0]?.carrier, scan.carriers[0]?.checkDigit],
        [number, "USPS", true],
        JSON.stringify(label),
      );
      assert.ok(!JSON.stringify(scan).includes("ALEX"));
    }
    const wrong = `[)>${rs}05${gs}42077316${gs}${number.replace(/1$/, "2")}${rs}${eot}`;
    assert.throws(() => chooseReference(read(wrong), automatic), { sentence: "scanNoReference" });
  });

  it("has no data identifiers of persons, and no postal code, by the categories of ANSI MH10.8.2", () => {
    const label = `[)>${rs}06${gs}3SDEVC123456789${gs}HALEX${gs}7H4155550100${gs}8Ha@b.example${gs}55L94105US${gs}Q2${rs}${eot}`;
    const { scan } = read(label);
    assert.deepEqual(
      scan.elements.map(({ di, value }) => [di, value]),
      [
        ["3S", "DEVC123456789"],
        ["Q", "2"],
      ],
    );
    assert.ok(!/ALEX|4155550100|a@b|94105/.test(JSON.stringify(scan)));
    assert.equal(readScan(label, { addressee: true }).elements.length, 6);
  });
});

describe("a code of a person or with a secret", () => {
  const wifi = "WIFI:S:Dock;T:WPA;P:secret-4711;;";
  const codes = [
    "BEGIN:VCARD\r\nVERSION:3.0\r\nN:Secret;Alex\r\nADR:;;12 Example Street;Sampleville\r\nEND:VCARD",
    "BEGIN:VEVENT\nSUMMARY:Secret\nEND:VEVENT",
    "MECARD:N:Secret,Alex;TEL:+14155550100;;",
    wifi,
    "mailto:secret@example.org",
    "tel:+14155550100",
    "SMSTO:+14155550100:Secret",
    "otpauth://totp/Example?secret=JBSWY3DPEHPK3PXP",
    // European Payments Council, EPC069-12; Swiss Payment Standards, QR bill 2.2; Short Payment Descriptor 1.0.
    "BCD\n002\n1\nSCT\n\nAlex Secret\nDE89370400440532013000\nEUR12.3\n\n\nInvoice 4711",
    "SPC\r\n0200\r\n1\r\nCH4431999123000889012\r\nS\r\nSecret\r\nStreet\r\n1\r\n8000\r\nTown\r\nCH\r\n\r\nEPD",
    "UPNQR\n\n\n\n\nSecret\nStreet 1\nTown",
    "HRVHUB30\nHRK\n000000000012355\nSECRET",
    "SPD*1.0*ACC:CZ5855000000001265098001*MSG:SECRET",
    // AAMVA DL/ID card design standard; IATA resolution 792.
    "@\n\x1e\rANSI 636000090002DL00410278ZV03190008DLDAQT64235789\nDCSSECRET\nDACALEX\nDAG12 EXAMPLE STREET\r",
    "M1SECRET/ALEX          EABC123 FRAJFKLH 0400 226F001A0025 100",
  ];

  it("is one scan and no reference, and its error does not repeat it", () => {
    for (const code of codes) {
      for (const scan of [code, `]Q1${code}\r\n`, `\x02${code}\x03`]) {
        assert.equal(allFrames(scan).length, 1, scan);
        const reading = read(scan);
        assert.deepEqual([reading.kind, reading.scan.number], ["other", null]);
        assert.throws(
          () => chooseReference(reading, { ...automatic, mayBeWrong: true }),
          (error) =>
            error instanceof DimensionerError &&
            error.sentence === "scanNoReference" &&
            !/secret|4155550100/i.test(error.message),
          scan,
        );
        assert.ok(chooseReference(reading, { ...automatic, rule: { which: "text" } }).length > 10);
      }
    }
  });

  it("is one scan however it is divided", () => {
    for (const code of codes) {
      let rest = "";
      for (const character of `]Q1${code}`) {
        const found = splitFrames(rest + character);
        assert.deepEqual(found.frames, [], JSON.stringify(rest + character));
        rest = found.rest;
      }
    }
  });

  it("is only what says so itself: other texts are codes of one's own", () => {
    for (const text of [
      "WIFI-4711",
      "BCD",
      "SPC-0200",
      "BEGIN",
      "TEL 4711",
      "M1-ORDER 4711",
      "@HOME",
      "SPD-1",
      "MAIL:7",
    ]) {
      assert.equal(chooseReference(read(text), automatic), text);
    }
    for (const text of ['{\n  "order": 4711\n}', ']Q1<?xml version="1.0"?>\n<order>4711</order>']) {
      assert.deepEqual(
        allFrames(text).map(({ body }) => body),
        [text],
      );
    }
    assert.deepEqual(
      allFrames("BCD\r\nORDER-2\r\nSPC\r\n4711\r\n").map(({ body }) => body),
      ["BCD", "ORDER-2", "SPC", "4711"],
    );
  });
});
