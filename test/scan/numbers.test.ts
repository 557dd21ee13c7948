import assert from "node:assert/strict";
import { chooseReference } from "../../src/scan/reference.ts";
import { bracketed, gs, read, readTrackingFormats, withCheckDigit } from "./support.ts";

/**
 * What the carrier prints, and the content of its code. The numbers of FedEx, USPS and DPD are test numbers of
 * tracking_number_data 2.0.0; that the last 14 digits of FedEx's 34 are the tracking number, printed with 12, is in Wikipedia's
 * article “Tracking number”. The first is of issue 57; that of DHL Paket is in its public description.
 */
const labels: readonly (readonly [carrier: string, printed: string, code: string])[] = [
  ["USPS, ZIP", "9261290283641500004181", "420773169261290283641500004181"],
  ["USPS, ZIP+4", "9200190132607600833457", "4200233412349200190132607600833457"],
  // The last 14 of these 34 digits are right for FedEx, too.
  ["USPS, ZIP+4", "9400118023883669516240", "4208109897519400118023883669516240"],
  ["USPS", "9200190132607600833457", "9200190132607600833457"],
  ["FedEx Express (34)", "779017972697", "1001921334250001000300779017972697"],
  ["FedEx Express (34)", "639585804382", "1001921380360001000300639585804382"],
  ["FedEx Ground (34)", "776632517510", "9622001900000000000000776632517510"],
  ["FedEx Ground (34)", "794808390594", "9632001560123456789900794808390594"],
  ["FedEx Ground 96 (22)", "987654312345672", "9611020987654312345672"],
  ["FedEx (12)", "986578788855", "986578788855"],
  ["UPS", "1Z5R89390357567127", "1Z5R89390357567127"],
  ["DPD", "09980000020033", "008182709980000020033350276C"],
  ["DPD", "09980000020033", "%008182709980000020033350276C"],
  // Its first 20 digits are right for an SSCC, too.
  ["DPD", "78536942502709", "005237778536942502709968822J"],
  ["DHL Paket", "00340433836442636597", "00340433836442636597"],
  ["S10", "RB123456785GB", "RB123456785GB"],
];

/** The content as scanners send it: with each AIM identifier that the symbol can have, with and without FNC1, and its ends. */
function settings(code: string): string[] {
  const routing = /^420(\d{5}(?:\d{4})?)(?=9[1-5])/.exec(code)?.[0];
  const divided = routing === undefined ? code : `${routing}${gs}${code.slice(routing.length)}`;
  const isGs1 = routing !== undefined || /^(?:9[1-6]\d+|00\d{18})$/.test(code);
  const fronts = isGs1 ? ["]C1", "]d2", gs, ""] : ["]C0", "]L2", "]d1", ""];
  return fronts.flatMap((front) =>
    ["", "\r\n"].flatMap((end) => [
      `${front}${code}${end}`,
      `${front}${divided}${end}`,
      `\uFEFF${front}${code}${end}`,
    ]),
  );
}

describe("the number of a parcel", () => {
  for (const [carrier, printed, code] of labels) {
    it(`is what the carrier prints, however the scanner is set: ${carrier} ${code}`, () => {
      for (const scan of settings(code)) {
        const { number, text } = read(scan).scan;
        assert.equal(number, printed, JSON.stringify(scan));
        assert.ok(text.replaceAll(gs, "").endsWith(code), "the whole text stays");
      }
      assert.equal(read(code.toLowerCase()).scan.number, printed, "Caps Lock");
    });
  }

  it("is the same with what else scanners send: FNC1 of another code, spaces, and the stars of Code 39", () => {
    for (const [carrier, printed, code] of labels) {
      const fronts = carrier === "DPD" && code.startsWith("0") ? [] : ["]C1", "]d2", gs];
      for (const scan of [...fronts.map((front) => front + code), ` ${code} `, `]C0 ${code} `]) {
        assert.equal(read(scan).scan.number, printed, JSON.stringify(scan));
      }
    }
    for (const scan of ["*RB123456785GB*", "]A0*RB123456785GB*", "\x02*rb123456785gb*\x03"]) {
      assert.equal(read(scan).scan.number, "RB123456785GB", scan);
    }
    assert.equal(read("]A0*ORDER-4711*").scan.number, "ORDER-4711");
    for (const scan of ["*ORDER-4711*", "]C0*ORDER-4711*", "]A0*A*B*"]) {
      assert.equal(read(scan).scan.number, scan.replace(/^\]../, ""), scan);
    }
    const sscc = "123456789012345675";
    for (const code of [`00${sscc}`, `(00) ${sscc}`, `https://example.com/00/${sscc}`, `]C100${sscc}`]) {
      for (const scan of [`${code} `, ` ${code}\r\n`, `\x02 ${code}  \x03`]) {
        assert.equal(read(scan).scan.sscc, sscc, JSON.stringify(scan));
      }
    }
  });

  it("is the SSCC whatever symbol it is in, and with Caps Lock", () => {
    const sscc = "123456789012345675";
    for (const code of [
      `]C000${sscc}`,
      `]d100${sscc}`,
      "00 1 2345678 901234567 5",
      `]C1(00)${sscc}`,
      `]d2(02)09506000134352(37)10(00) ${sscc}`,
      `]Q3https://example.com/00/${sscc}`,
      `hTTPS://eXAMPLE.COM/00/${sscc}`,
      `]c100${sscc}`,
      `]D200${sscc}`,
      `]q1https://example.com/00/${sscc}`,
    ]) {
      assert.equal(read(code).scan.number, sscc, code);
    }
    assert.deepEqual(
      [read(`]c100${sscc}`).scan.aim, read(`]c100${sscc}`).scan.symbology],
      ["]c1", "GS1-128"],
    );
    assert.equal(
      read("]C000340434292135100186").scan.number,
      "00340434292135100186",
      "as DHL Paket prints it",
    );
    assert.equal(read("]C000123456789012345670").scan.number, "00123456789012345670");
  });

  it("is the same with characters of no width in it, as of copied text", () => {
    for (const [code, number] of [
      ["1Z5R8\u200b9390357567127", "1Z5R89390357567127"],
      ["9261\u00ad2902\u00ad8364\u00ad1500\u00ad0041\u00ad81", "9261290283641500004181"],
      ["RB12345\u20606785GB", "RB123456785GB"],
      ["ORDER\u200b-1", "ORDER-1"],
    ] as const) {
      assert.equal(read(code).scan.number, number, JSON.stringify(code));
    }
  });

  it("is the text where no carrier is recognized by its check digit", () => {
    for (const text of [
      "ORDER-4711",
      "TBA000000000000",
      "1001921334250001000300779017972698",
      // USPS's check digit is wrong, and that of FedEx fits.
      "4206484483029400119775801709417065",
      "12345",
    ]) {
      assert.equal(read(text).scan.number, text);
    }
  });

  it("is the SSCC, and null of a code without any of these", () => {
    assert.equal(read("]C100123456789012345675420303019").scan.number, "123456789012345675");
    for (const scan of ["]C10109506000134352", "]E04006381333931", "https://example.com/01/09506000134352"]) {
      assert.equal(read(scan).scan.number, null, scan);
    }
  });

  it("is the article number of Australia Post, not the one in front of it that all of its parcels have", () => {
    const front = "019931265099999891";
    // Published with the description of the label, and in code that reads it.
    for (const article of [
      "JDQ019457101000930308",
      "JDQ777777902000931506",
      "2JD541813301000870900",
      "2JD020603601000931508",
      "T77000126101000600209",
      "7BK024425101000930203",
      "39BB3500163501000931500",
      "33W4P345499501000965104",
    ]) {
      for (const end of [gs, "|", "^]", ""]) {
        const matrix = `${front}${article}${end}4203000${end}8008170417155407`;
        const small = `]C1${front}${article.toLowerCase()}`;
        for (const scan of [`]C1${front}${article}`, small, `]d2${matrix}`, matrix, article]) {
          assert.equal(read(scan).scan.number, article, JSON.stringify(scan));
        }
      }
    }
    const sscc = "123456789012345675";
    assert.equal(read(`]d2${front}00${sscc}${gs}4203195`).scan.number, sscc);
    const damaged = read(`]C1${front}JDQ019457101000930309`);
    const rules = { rule: { which: "auto" }, kinds: ["gs1"], mayBeWrong: false } as const;
    assert.equal(chooseReference(damaged, rules), `${front}JDQ019457101000930309`);
  });

  it("says that separators are lost, with and without an AIM identifier", () => {
    // The count and an SSCC behind it, as one.
    const code = "0209506000134352371200123456789012345675";
    const rules = { rule: { which: "auto" }, kinds: ["gs1", "other"], mayBeWrong: false } as const;
    for (const front of ["]C1", "]d2", ""]) {
      assert.throws(
        () => chooseReference(read(front + code), rules),
        { sentence: "scanSeparatorLost" },
        front,
      );
    }
  });

  it("is a carrier's where its check digit is right, although it begins like a key of GS1", () => {
    // FedEx Express (34), of which the first 20 digits are a right SSCC as well, and the others a lot.
    for (let serial = 0; serial < 100; serial++) {
      const before = `00${withCheckDigit(`1001921334${String(serial).padStart(7, "0")}`)}`;
      const thirteen = `10${String(serial * 7).padStart(11, "0")}`;
      const weights = [1, 7, 3, 1, 7, 3, 1, 7, 3, 1, 7, 3, 1];
      const sum = weights.reduce((total, weight, at) => total + weight * Number(thirteen[at]), 0);
      const code = `${before}${thirteen}${(sum % 11) % 10}`;
      assert.deepEqual([read(code).kind, read(code).scan.sscc], ["other", null], code);
    }
  });

  it("comes only from a place for one: an article and a count in a GS1 code are none, whatever their check digits", () => {
    // 20 digits with the check digit of a USPS number, which is that of GS1.
    for (let count = 10; count < 100; count++) {
      const text = `010950600013435230${count}`;
      assert.equal(read(`]C1${text}`).scan.number, null, text);
    }
  });
});

describe("a check digit that fits by chance", () => {
  it("makes no number of FedEx an article, of all in which both are right", () => {
    let both = 0;
    for (let serial = 0; serial < 1_000; serial++) {
      const eleven = `7948${String(serial * 7_919_113)
        .padStart(7, "0")
        .slice(-7)}`;
      const weights = [3, 1, 7, 3, 1, 7, 3, 1, 7, 3, 1];
      const sum = weights.reduce((total, weight, at) => total + weight * Number(eleven[at]), 0);
      const number = `${eleven}${(sum % 11) % 10}`;
      both += withCheckDigit(eleven) === number ? 1 : 0;
      const { kind, scan } = read(number);
      assert.deepEqual([kind, scan.gtin, scan.number], ["other", null, number]);
    }
    assert.ok(both > 50, `${both}`);
  });

  it("is not refused in any valid number of tracking_number_data", async () => {
    for (const { valid, courier } of await readTrackingFormats()) {
      for (const number of valid) {
        const { kind, isGuessed } = read(number);
        assert.ok(kind === "other" || isGuessed, `${courier}: ${number}`);
      }
    }
  });

  it("is one where the scanner states the symbology", () => {
    assert.equal(read("]E0036000291452").scan.gtin, "00036000291452");
    assert.equal(read("]E0036000291452").isGuessed, false);
  });
});

describe("small things around a code", () => {
  it("are spaces in what people read", () => {
    for (const text of [
      "(00) 123456789012345675",
      "(00) 1 2345678 901234567 5",
      " (00)123456789012345675 ",
      "( 00 ) 1 2345678 901234567 5",
      "(00) 1 2345678 901234567 5 (10) LOT1",
    ]) {
      assert.equal(read(text).scan.sscc, "123456789012345675", text);
    }
    assert.equal(read("(00) 1 2345678 901234567 5 (10) LOT1").scan.lot, "LOT1");
    assert.equal(read("(10) people of ORDER 7").kind, "other");
  });

  it("is a slash at the end of a GS1 Digital Link", () => {
    const { kind, scan } = read("https://example.com/01/09506000134352/10/ABC/?17=271231");
    assert.deepEqual(
      [kind, scan.gtin, scan.lot, scan.expiry],
      ["digitalLink", "09506000134352", "ABC", "2027-12-31"],
    );
    for (const link of [
      "https://example.com/",
      "https://example.com/2026/11/01/news",
      "https://example.com/2026/11/01/4711",
      "https://example.com/c/401/shoes",
      "https://example.com/p/21/8003/5",
    ]) {
      assert.deepEqual([read(link).kind, read(link).scan.number], ["other", link]);
    }
  });

  it("is a GS1 Digital Link in its compressed form, all of it or behind its key", () => {
    // Examples of GS1's toolkit for the standard (GS1DigitalLinkToolkit.js and its Python port); the last two are made of the second.
    for (const [link, wanted] of [
      ["https://id.gs1.org/ARHKVAdpQg", "(01)09780345418913"],
      ["http://example.org/AQnYUc1gmiERBhQ0ytiyZuAGOLc1TQ", "(01)05412345000013(10)ABC&+123(7003)1903061658"],
      [
        "http://example.org/AQnYUc1gmiERBhQ0ytiyZuAGOLc1TXgpNWCv1",
        "(01)05412345000013(10)ABC&+123(7003)1903061658",
      ],
      [
        "http://example.org/AQnYUc1gmiERBhQ0ytiyZuAGOLc1TXhXsaXbQKHFuaprwUmrBX6g",
        "(01)05412345000013(10)ABC&+123(7003)1903061658",
      ],
      ["https://id.gs1.org/ABeRcNWtKMPA", "(00)106141412345678908"],
      ["https://id.gs1.org/QUCO_anbfA", "(414)0614141123452"],
      ["https://id.gs1.org/JAaasHt_dNNt4ADESMALumsUfMAm34", "(240)qwe390023(8003)09421012301014f9804dbf"],
      [
        "http://example.org/01/05412345000013/EIiDChplbFkzcAMcW5qmg",
        "(01)05412345000013(10)ABC&+123(7003)1903061658",
      ],
      ["http://example.org/shop/AQnYUc1gmg?17=271231", "(01)05412345000013(17)271231"],
    ] as const) {
      assert.equal(bracketed(`]Q1${link}`), wanted, link);
      assert.equal(read(link).kind, "digitalLink");
    }
    assert.equal(read("https://id.gs1.org/ABeRcNWtKMPA").scan.number, "106141412345678908");
  });

  it("is no compressed link where an address only looks like one", () => {
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let seed = 1;
    const next = (): number => (seed = (seed * 48_271) % 2_147_483_647);
    let links = 0;
    for (let count = 0; count < 50_000; count++) {
      const path = Array.from({ length: 9 + (next() % 20) }, () => alphabet.charAt(next() % 64)).join("");
      links += read(`https://example.com/${path}`).kind === "digitalLink" ? 1 : 0;
    }
    assert.ok(links <= 5, `${links}`);
  });

  it("are characters of protocols and of copied text, which have no width", () => {
    for (const around of [
      "\x06",
      "\x11",
      "\x01",
      "\x15\x06",
      "\u200b",
      "\u200e",
      "\u2060",
      "\u00ad",
      "\uFEFF\u200b",
    ]) {
      for (const [code, number] of [
        ["]C100123456789012345675", "123456789012345675"],
        ["1Z5R89390357567127", "1Z5R89390357567127"],
        ["1001921334250001000300779017972697", "779017972697"],
        ["]C142077316\x1d9261290283641500004181", "9261290283641500004181"],
        ["ORDER-1", "ORDER-1"],
      ] as const) {
        for (const scan of [around + code, code + around, `${around}${code}${around}\r\n`]) {
          assert.equal(read(scan).scan.number, number, JSON.stringify(scan));
          assert.ok(read(scan).scan.raw.includes(around));
        }
      }
    }
  });

  it("is a byte order mark, also one that was read as Latin-1", () => {
    for (const mark of ["\uFEFF", "\u00EF\u00BB\u00BF"]) {
      const { scan } = read(`${mark}]C100123456789012345675`);
      assert.deepEqual([scan.aim, scan.sscc], ["]C1", "123456789012345675"]);
      assert.equal(read(`${mark}ORDER-1`).scan.text, "ORDER-1");
    }
  });
});
