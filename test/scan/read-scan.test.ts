import assert from "node:assert/strict";
import { inspect } from "node:util";
import { WallClock } from "../model-based/wall-clock.ts";
import { fullYear } from "../../src/scan/gs1/table.ts";
import { readScan, readScans } from "../../src/scan/read-scans.ts";
import { bracketed, gs, read, today, withCheckDigit } from "./support.ts";

const sscc = "123456789012345675";

describe("readScan", () => {
  it("reads what most flows want to know of a logistics label", () => {
    const label = `]C100${sscc}020950600013435233020012503312000350332200021033320001251731120010LOT1`;
    const scan = readScan(`${label}${gs}21S-7\r\n`, { today });
    assert.equal(scan.aim, "]C1");
    assert.equal(scan.symbology, "GS1-128");
    assert.equal(scan.sscc, sscc);
    assert.equal(scan.gtin, "09506000134352");
    assert.equal(scan.lot, "LOT1");
    assert.equal(scan.serial, "S-7");
    assert.equal(scan.expiry, "2031-12-31");
    assert.deepEqual(scan.labelWeight, { weight: 12.5, unit: "kg" });
    assert.deepEqual(scan.labelDims, { length: 350, width: 210, height: 125, unit: "cm" });
    assert.equal(scan.duplicate, false);
    assert.ok(scan.raw.endsWith("S-7\r\n"));
    assert.ok(scan.text.endsWith(`LOT1${gs}21S-7`));
  });

  it("keeps the decimals exact, in centimeters and inches", () => {
    const sides = (text: string) => read(`]C1${text}`).scan.labelDims;
    assert.deepEqual(sides("3313000350"), { length: 35, width: null, height: null, unit: "cm" });
    assert.deepEqual(sides("3315000029332400005733340008"), {
      length: 0.029,
      width: 0.57,
      height: null,
      unit: "cm",
    });
    assert.deepEqual(sides("341100012334510000103473001500"), {
      length: 12.3,
      width: 12,
      height: 1.5,
      unit: "in",
    });
    assert.equal(read("]C13403001234").scan.labelWeight?.weight, 1.234);
    assert.equal(read("]C13922012345").scan.elements[0]?.decoded, 123.45);
  });

  it("reads the same with AIM identifiers, separators and ends of all kinds, and without", () => {
    const wanted = `(01)12312312312333(10)ABC123(99)TESTING`;
    for (const aim of ["]C1", "]d2", "]Q3", "]J1", "]e0", gs, ""]) {
      for (const separator of [gs, "<GS>", "{GS}", "[FNC1]", "\\x1d", "\\u001D", "^]", "␝"]) {
        for (const [before, behind] of [
          ["", ""],
          ["", "\r"],
          ["", "\r\n"],
          ["", "\t"],
          ["\x02", "\x03"],
          ["\x02", "\x03\r\n"],
        ]) {
          const scan = `${before}${aim}011231231231233310ABC123${separator}99TESTING${behind}`;
          assert.equal(bracketed(scan), wanted, JSON.stringify(scan));
        }
      }
    }
    assert.equal(bracketed("(01)12312312312333(10)ABC123(99)TESTING"), wanted);
    assert.equal(bracketed("https://example.com/01/12312312312333/10/ABC123?99=TESTING"), wanted);
  });

  it("takes a separator of one's own", () => {
    const scan = readScan("]C110ABC!21XYZ", { separator: "!" });
    assert.deepEqual([scan.lot, scan.serial, scan.separator], ["ABC", "XYZ", null]);
    assert.equal(readScan("]C110ABC!21XYZ").lot, "ABC!21XYZ");
  });

  it("finds out what stands in place of the separator, and says so", () => {
    // Names and numbers of the character in brackets, in texts of programs, and as those that draw codes want it.
    const shown = ["<1D>", "[1d]", "{29}", "<029>", "(GS)", "{F1}", "\\u{1D}", "Alt+29", "Ctrl+]"];
    const written = ["\\029", "\\29", "\\1d", "~d029", "~1", "\x1e", "\x1f", "\x9d"];
    const usual = ["|", "~", "#", "\\F", "↔", "Alt+029", "<GS>", "{GS}", "^]", "\\x1d", "\\u001d"];
    for (const found of [...usual, ...shown, ...written]) {
      for (const front of ["]C1", "]d2", ""]) {
        const { scan } = read(`${front}011231231231233310ABC${found}21XYZ${found}3712`);
        assert.deepEqual([scan.lot, scan.serial, scan.separator], ["ABC", "XYZ", { found, as: gs }], found);
        assert.equal(scan.text, `011231231231233310ABC${gs}21XYZ${gs}3712`);
      }
    }
    assert.equal(read(`]C110ABC${gs}21XYZ`).scan.separator, null);
    // Not ~1, although that is in it.
    assert.deepEqual(read("]C1011231231231233321XYZ~10ABC").scan.separator, { found: "~", as: gs });
  });

  it("finds it out without an AIM identifier too, where a check digit of a key or a carrier is right", () => {
    const number = "9261290283641500004181";
    for (const found of ["|", "~", "#", "\\F", "↔", "<GS>", "^]"]) {
      for (const code of [`42077316|${number}`, `420773161234|${number}|`, `|42077316||${number}`]) {
        const { scan } = read(code.replaceAll("|", found));
        assert.deepEqual([scan.number, scan.separator], [number, { found, as: gs }], `${code} ${found}`);
      }
      const { scan } = read(`|011231231231233310AB|21XYZ`.replaceAll("|", found));
      assert.deepEqual([scan.gtin, scan.serial], ["12312312312333", "XYZ"], found);
    }
    for (const text of [`42077316|${number.slice(0, -1)}2`, "|10ABC|21XYZ", "|ORDER|4711|"]) {
      assert.deepEqual([read(text).kind, read(text).scan.number], ["other", text]);
    }
  });

  it("finds out any character that no GS1 code has, and what programs write for the separator", () => {
    const number = "9261290283641500004181";
    for (const found of [
      " ",
      "\u00a7",
      "\ufffd",
      "@",
      "$",
      "]",
      "\u00b6",
      "\u2194",
      "%1D",
      "%1d",
      "&#29;",
      "&#x1D;",
      "_x001D_",
      "\\035",
      "\\x{1d}",
    ]) {
      for (const front of ["]C1", "]d2", ""]) {
        const { scan } = read(`${front}42077316${found}${number}`);
        assert.deepEqual([scan.number, scan.separator], [number, { found, as: gs }], front + found);
        // A lot can have %1D and _x001D_ in it.
        const isData = /^[%_]/.test(found);
        const article = read(`${front}011231231231233310ABC${found}21XYZ`).scan;
        assert.equal(article.serial, isData ? null : "XYZ", front + found);
      }
    }
    for (const text of [
      "10ABC 21XYZ",
      "240ORDER 4711",
      "92 93 94",
      "9112 9334 9456",
      "0112312312312334 10A",
      "ORDER %1D 12",
      `${number.slice(0, 2)} ${number.slice(2, -1)}2`,
      "A B\u00a7C@D$E]F|G~H#I^J",
    ]) {
      assert.deepEqual(
        [read(text).kind, read(text).scan.number, read(text).scan.separator],
        ["other", text, null],
      );
    }
    assert.equal(read("]C110AB C\u00a721X@Y").scan.separator, null, "two in one code");
  });

  it("takes no data for a separator: a code can have < and > in it, and the letters and digits of Alt+029", () => {
    for (const lot of ["A<GS>B", "A<gs>B", "AAlt+029B"]) {
      const { scan } = read(`]C1011231231231233310${lot}${gs}21XYZ`);
      assert.deepEqual([scan.lot, scan.serial, scan.separator], [lot, "XYZ", null]);
    }
    // An element that nobody knows is no data of the one in front of it.
    assert.equal(bracketed("]C110ABC<GS>89XYZ"), "(10)ABC(null)89XYZ");
  });

  it("guesses no separator: not with a wrong check digit, an unknown element, or two in one code", () => {
    for (const text of ["]C1011231231231233410ABC|21XYZ", "]C110ABC|89XYZ", "]C110A|B#21XYZ"]) {
      assert.equal(read(text).scan.separator, null, text);
    }
    // AI 8010 may have # in it.
    assert.equal(read("]C180109501101ABC#10L").scan.separator, null);
    assert.deepEqual(read("]C180109501101ABC#10L|21S").scan.separator, { found: "|", as: gs });
    // Codes of one's own, which nothing says to be of GS1.
    for (const text of ["10ABC|21XYZ", "ORDER#4711", "A~B|C"]) {
      assert.deepEqual([read(text).kind, read(text).scan.number], ["other", text]);
    }
  });

  it("reads bytes as UTF-8, else as Latin-1", () => {
    assert.equal(readScan(Buffer.from("ÄÖ-4711\r")).text, "ÄÖ-4711");
    assert.equal(readScan(Buffer.from("ÄÖ-4711", "latin1")).text, "ÄÖ-4711");
  });

  it("loses nothing for an identifier that nobody knows", () => {
    assert.equal(bracketed(`]C189XYZ${gs}10ABC`), "(null)89XYZ(10)ABC");
    assert.equal(bracketed(`]C1709912${gs}00${sscc}`), `(7099)12(00)${sscc}`);
    assert.equal(bracketed(`]C100${sscc}89`), `(00)${sscc}(null)89`);
    const unknown = read("]C1709912").scan.elements[0];
    assert.deepEqual(unknown, { ai: "7099", title: null, value: "12", checked: null });
  });

  it("takes a number without an AIM identifier for an element string only where all of it fits", () => {
    assert.equal(read(`00${sscc}`).scan.sscc, sscc);
    assert.equal(read(`00${sscc.slice(0, -1)}0`).kind, "other");
    assert.equal(bracketed("01123123123123331727123110A"), "(01)12312312312333(17)271231(10)A");
    assert.equal(bracketed(`17271231330200125000${sscc}`), `(17)271231(3302)001250(00)${sscc}`);
    assert.equal(read(`1727123100${sscc.slice(0, -1)}0`).kind, "other");
    assert.equal(read("172712313302001250").kind, "other", "no check digit says that it is one");
    assert.equal(read("0112312312312333ORDER").kind, "other");
    assert.equal(read(`]C000${sscc}`).kind, "other", "the scanner has said that it is not GS1-128");
  });

  it("reads EAN, UPC and ITF-14, and gives all of them 14 digits", () => {
    const cases: readonly (readonly [scan: string, gtin: string, symbology: string | null])[] = [
      ["]E04006381333931", "04006381333931", "EAN-13"],
      ["]E00036000291452", "00036000291452", "UPC-A"],
      ["]E0036000291452", "00036000291452", "UPC-A"],
      ["]E3400638133393112345", "04006381333931", "EAN-13"],
      ["]E402345673", "00000002345673", "EAN-8"],
      ["]E001234565", "00012345000065", "UPC-E"],
      ["]I115400141288763", "15400141288763", "ITF-14"],
      ["4006381333931", "04006381333931", null],
      ["036000291452", "00036000291452", null],
      ["01234565", "00012345000065", null],
      ["96385074", "00000096385074", null],
      ["15400141288763", "15400141288763", null],
    ];
    for (const [scan, gtin, symbology] of cases) {
      const found = read(scan);
      assert.deepEqual([found.scan.gtin, found.scan.symbology, found.kind], [gtin, symbology, "ean"], scan);
    }
  });

  it("expands UPC-E by its last digit", () => {
    for (const [short, long] of [
      ["0123450", "01200000345"],
      ["0123451", "01210000345"],
      ["0123452", "01220000345"],
      ["0123453", "01230000045"],
      ["0123454", "01234000005"],
      ["0123456", "01234500006"],
    ] as const) {
      const expanded = withCheckDigit(long);
      assert.equal(read(`${short}${expanded.at(-1)}`).scan.gtin, `00${expanded}`, short);
    }
  });

  it("takes a number with a wrong check digit for text, unless the scanner says what it is", () => {
    assert.equal(read("4006381333932").kind, "other");
    const [element] = read("]E04006381333932").scan.elements;
    assert.deepEqual([element?.checked, element?.problem], [false, "checkDigit"]);
    assert.equal(read("]E04006381333932").scan.gtin, null);
  });

  it("chooses this century also where the computer's clock was never set", () => {
    const clock = new WallClock();
    try {
      clock.jump(-Date.now());
      assert.equal(readScan("]C117271231").expiry, "2027-12-31");
    } finally {
      clock.close();
    }
  });

  it("chooses the century as GS1 says, and takes day 00 for the last of the month", () => {
    assert.deepEqual(
      [26, 75, 76, 77, 78, 99, 0].map((year) => fullYear(year, today)),
      [2026, 2075, 2076, 1977, 1978, 1999, 2000],
    );
    assert.deepEqual(
      [49, 48, 99].map((year) => fullYear(year, new Date(1998, 0))),
      [1949, 2048, 1999],
    );
    const expiry = (digits: string) => read(`]C117${digits}`).scan.expiry;
    assert.equal(expiry("280200"), "2028-02-29");
    assert.equal(expiry("270200"), "2027-02-28");
    assert.equal(expiry("270431"), null);
    assert.equal(read("]C170032712312359").scan.expiry, "2027-12-31T23:59");
    assert.equal(read("]C18008271231080910").scan.elements[0]?.decoded, "2027-12-31T08:09:10");
    assert.equal(read("]C1800827123108").scan.elements[0]?.decoded, "2027-12-31T08:00");
    assert.equal(read("]C17007271231280101").scan.elements[0]?.decoded, "2027-12-31/2028-01-01");
    assert.equal(read("]C1725019770101").scan.elements[0]?.decoded, "1977-01-01");
  });

  it("throws ERR_INPUT for what is no scan, and for more than one", () => {
    for (const [given, sentence] of [
      ["", "scanEmpty"],
      ["\r\n", "scanEmpty"],
      ["\x02\x03", "scanEmpty"],
      ["A\rB", "scanSeveral"],
      ["x".repeat(8_193), "scanTooLong"],
      [Buffer.alloc(70_000, "x"), "scanTooLong"],
      [4711, "scanPayload"],
      [null, "scanPayload"],
      [{}, "scanPayload"],
    ] as const) {
      assert.throws(
        () => readScan(given as string),
        { code: "ERR_INPUT", sentence },
        inspect(given).slice(0, 40),
      );
    }
  });

  it("divides several scans, and keeps what is around each", () => {
    const text = "\r\nA\r\n\x02B\rC\x03\r\nD\t\tE";
    const scans = readScans(text);
    assert.deepEqual(
      scans.map((scan) => scan.text),
      ["A", "B\rC", "D", "E"],
    );
    assert.equal(scans.map((scan) => scan.raw).join(""), text);
  });
});
