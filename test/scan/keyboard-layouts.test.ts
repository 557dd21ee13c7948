import assert from "node:assert/strict";
import { explainByLayout } from "../../src/scan/keyboard-layouts.ts";
import { chooseReference } from "../../src/scan/reference.ts";
import { gs, read, readTrackingFormats } from "./support.ts";

/*
 * What the computer makes of the keys that the scanner presses, by Microsoft's layouts, which the source names. The numbers are test numbers of
 * tracking_number_data 2.0.0 and of the GS1 General Specifications.
 */
const typed: readonly (readonly [layout: string, typed: string, meant: string])[] = [
  ["AZERTY", `&W(R_ç"çà"(è(-è&éè`, "1Z5R89390357567127"],
  ["AZERTY", "ç_-(è_è___((", "986578788855"],
  ["AZERTY", `àà&é"'(-è_çà&é"'(-è(`, "00123456789012345675"],
  ["AZERTY", `'àà-"_&"""ç"&`, "4006381333931"],
  ["AZERTY (Belgium)", `&W(R!ç"çà"(è(§è&éè`, "1Z5R89390357567127"],
  ["AZERTY (Belgium)", "ç!§(è!è!!!((", "986578788855"],
  // Without 6 and 8, both layouts make the same of it.
  ["AZERTY", `'à&é"'(àààààç`, "4012345000009"],
  ["QWERTZ (Czechia)", "+YřRáíšíéšřýřžý+ěý", "1Z5R89390357567127"],
  ["QWERTZ (Czechia)", "íážřýáýááářř", "986578788855"],
  ["QWERTZ", "1Y5R89390357567127", "1Z5R89390357567127"],
  ["QWERTZ", "+C100123456789012345675", "]C100123456789012345675"],
  ["QWERTZ", ")00=123456789012345675", "(00)123456789012345675"],
  ["AZERTY", `9àà0&é"'(-è_çà&é"'(-è(`, "(00)123456789012345675"],
  ["AZERTY", `5àà_&_éèàçç_àààààéàà"""(àéè-C`, "%008182709980000020033350276C"],
  ["AZERTY", `$C&'éàèè"&-${gs}çé-&éçàé_"-'&(àààà'&_&`, `]C142077316${gs}9261290283641500004181`],
  ["QWERTZ", `+C142077316${gs}9261290283641500004181`, `]C142077316${gs}9261290283641500004181`],
  ["Spanish", "httpsÑ--example.com-00-123456789012345675", "https://example.com/00/123456789012345675"],
  ["Italian", "httpsç--example.com-00-123456789012345675", "https://example.com/00/123456789012345675"],
  ["Portuguese", "´C100123456789012345675", "]C100123456789012345675"],
  ["Portuguese", "httpsÇ--example.com-00-123456789012345675", "https://example.com/00/123456789012345675"],
  ["Turkish", "üC100123456789012345675", "]C100123456789012345675"],
  ["Turkish", "httpsŞ..ıdçgs1çorg.00.123456789012345675", "https://id.gs1.org/00/123456789012345675"],
  ["Swedish", "¨C100123456789012345675", "]C100123456789012345675"],
  ["Danish", "httpsÆ--example.com-00-123456789012345675", "https://example.com/00/123456789012345675"],
  ["Norwegian", "httpsØ--example.com-00-123456789012345675", "https://example.com/00/123456789012345675"],
  ["Swiss", "httpsé--example.com-00-123456789012345675", "https://example.com/00/123456789012345675"],
  ["QWERTZ (Slovakia)", "íážťýáýáááťť", "986578788855"],
  ["QWERTZ (Slovakia)", "äC+éé+ľščťžýáíé+ľščťžýť", "]C100123456789012345675"],
  ["QWERTZ (Hungary)", "1Y5R8939ö357567127", "1Z5R89390357567127"],
  ["QWERTZ (Hungary)", "úC1öö123456789ö12345675", "]C100123456789012345675"],
  ["Russian", "1Я5К89390357567127", "1Z5R89390357567127"],
  ["Russian", "ъС100123456789012345675", "]C100123456789012345675"],
  ["Japanese", "[C100123456789012345675", "]C100123456789012345675"],
  ["Japanese", "https+//example.com/00/123456789012345675", "https://example.com/00/123456789012345675"],
  ["full width", "１Ｚ５Ｒ８９３９０３５７５６７１２７", "1Z5R89390357567127"],
  ["full width", "］Ｃ１００１２３４５６７８９０１２３４５６７５", "]C100123456789012345675"],
  ["QWERTZ", "httpsÖ--example.com-01-09506000134352", "https://example.com/01/09506000134352"],
  // With Caps Lock, as people type digits with this layout.
  ["AZERTY with Caps Lock", "1w5r89390357567127", "1Z5R89390357567127"],
  ["AZERTY with Caps Lock", "£c100123456789012345675", "]C100123456789012345675"],
  ["AZERTY with Caps Lock", "ç00à123456789012345675", "(00)123456789012345675"],
  ["Swiss French", "httpsö--example.com-00-123456789012345675", "https://example.com/00/123456789012345675"],
  ["Croatian", "đC100123456789012345675", "]C100123456789012345675"],
  ["Croatian", "httpsČ--example.com-00-123456789012345675", "https://example.com/00/123456789012345675"],
  ["Romanian", "îC100123456789012345675", "]C100123456789012345675"],
  [
    "Portuguese (Brazil)",
    "httpsÇ;;example.com;00;123456789012345675",
    "https://example.com/00/123456789012345675",
  ],
  ["Canadian French", "¸C100123456789012345675", "]C100123456789012345675"],
  [
    "Canadian French",
    "https:ééexample.comé00é123456789012345675",
    "https://example.com/00/123456789012345675",
  ],
  ["Ukrainian", "їС100123456789012345675", "]C100123456789012345675"],
  ["Ukrainian", "реезіЖ..учфьздуюсщь.00.123456789012345675", "https://example.com/00/123456789012345675"],
  ["Greek", "1Ζ5Ρ89390357567127", "1Z5R89390357567127"],
  ["Greek", "ΡΒ123456785ΓΒ", "RB123456785GB"],
  ["Arabic", "٠٠١٢٣٤٥٦٧٨٩٠١٢٣٤٥٦٧٥", "00123456789012345675"],
  ["Arabic", "۴۰۰۶۳۸۱۳۳۳۹۳۱", "4006381333931"],
  // An asterisk is typed with the 8, as on all of these.
  ["Swedish", "¨C1010950600013435210A(B", "]C1010950600013435210A*B"],
];

describe("a keyboard with another layout", () => {
  for (const [layout, text, meant] of typed) {
    it(`is reported where only that explains the code, and nothing is corrected: ${layout} ${text}`, () => {
      const reading = read(text);
      assert.deepEqual(reading.scan.keyboard, { layout, text: meant });
      assert.deepEqual(
        [reading.kind, reading.scan.text, reading.scan.number],
        ["other", text, text.replaceAll(gs, "")],
      );
      const rules = { rule: { which: "auto" }, kinds: ["gs1", "digitalLink", "ean", "other"] } as const;
      assert.throws(() => chooseReference(reading, { ...rules, mayBeWrong: false }), {
        sentence: "scanKeyboard",
      });
      assert.equal(chooseReference(reading, { ...rules, mayBeWrong: true }), text.replaceAll(gs, ""));
    });
  }

  it("is reported of a carrier's 2D label, which becomes no reference with an address in it", () => {
    const [rs, eot] = ["\x1e", "\x04"];
    const address = `12 EXAMPLE STREET${gs}SAMPLEVILLE${gs}OH${gs}ALEX EXAMPLE`;
    const fields = [
      `[)>${rs}01${gs}0294105`,
      "840",
      "20",
      "7790179726970201",
      "FDE",
      "740561073",
      "031",
      "",
      "1/1",
    ];
    const label = `${fields.join(gs)}${gs}5.00LB${gs}N${gs}${address}${rs}06${gs}31Z1001921334250001000300779017972697${rs}${eot}`;
    const keys = `[)>/-`;
    for (const [layout, characters] of [
      ["QWERTZ", "ü=:-ß"],
      ["Spanish", "`=:-'"],
      ["Italian", "è=:-'"],
      ["Portuguese", "+=:-'"],
      ["Turkish", "ğ=Ç.*"],
      ["Swedish", "å=:-+"],
    ] as const) {
      const text = Array.from(label, (one) => characters[keys.indexOf(one)] ?? one)
        .join("")
        .replace("31Z", layout === "QWERTZ" ? "31Y" : "31Z");
      const reading = read(text);
      assert.equal(reading.scan.keyboard?.layout, layout, text);
      assert.throws(
        () => chooseReference(reading, { rule: { which: "auto" }, kinds: ["other"], mayBeWrong: false }),
        {
          sentence: "scanKeyboard",
        },
      );
    }
  });

  it("is looked for only where something looks typed: an AIM identifier as it should be says that nothing is", () => {
    for (const text of ["]C0ORDER-2026-004711", "]Q1https://example.com/", "ORDER-4711"]) {
      assert.equal(
        explainByLayout(text, () => assert.fail(text)),
        null,
      );
    }
  });

  it("is none for codes of one's own, texts, and every valid number of tracking_number_data", async () => {
    const numbers = (await readTrackingFormats()).flatMap(({ valid }) => valid);
    const texts = [
      "ORDER-4711",
      "XYZ-2026",
      "yesterday",
      "Größe 12",
      "(a-b)",
      "&&&&",
      `10ABC${gs}21XYZ`,
      "1Y5R89390357567128",
      "1w5r89390357567128",
      "Q1234567890",
      "Ελλάδα 12",
    ];
    for (const text of [...numbers, ...texts]) {
      assert.equal(read(text).scan.keyboard, null, text);
    }
  });
});
