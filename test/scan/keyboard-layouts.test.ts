import assert from "node:assert/strict";
import { chooseReference } from "../../src/scan/reference.ts";
import { gs, read, readTrackingFormats } from "./support.ts";

/*
 * What the computer makes of the keys that the scanner presses, by Microsoft's layouts KBDFR and KBDGR. The numbers are test numbers of
 * tracking_number_data 2.0.0 and of the GS1 General Specifications.
 */
const typed: readonly (readonly [layout: string, typed: string, meant: string])[] = [
  ["AZERTY", `&W(R_ç"çà"(è(-è&éè`, "1Z5R89390357567127"],
  ["AZERTY", "ç_-(è_è___((", "986578788855"],
  ["AZERTY", `àà&é"'(-è_çà&é"'(-è(`, "00123456789012345675"],
  ["AZERTY", `'àà-"_&"""ç"&`, "4006381333931"],
  ["QWERTZ", "1Y5R89390357567127", "1Z5R89390357567127"],
  ["QWERTZ", "+C100123456789012345675", "]C100123456789012345675"],
  ["QWERTZ", ")00=123456789012345675", "(00)123456789012345675"],
  ["QWERTZ", "httpsÖ--example.com-01-09506000134352", "https://example.com/01/09506000134352"],
];

describe("a keyboard with another layout", () => {
  for (const [layout, text, meant] of typed) {
    it(`is reported where only that explains the code, and nothing is corrected: ${layout} ${text}`, () => {
      const reading = read(text);
      assert.deepEqual(reading.scan.keyboard, { layout, text: meant });
      assert.deepEqual([reading.kind, reading.scan.text, reading.scan.number], ["other", text, text]);
      const rules = { rule: { which: "auto" }, kinds: ["gs1", "digitalLink", "ean", "other"] } as const;
      assert.throws(() => chooseReference(reading, { ...rules, mayBeWrong: false }), {
        sentence: "scanKeyboard",
      });
      assert.equal(chooseReference(reading, { ...rules, mayBeWrong: true }), text);
    });
  }

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
    ];
    for (const text of [...numbers, ...texts]) {
      assert.equal(read(text).scan.keyboard, null, text);
    }
  });
});
