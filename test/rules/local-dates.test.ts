import assert from "node:assert/strict";
import { readLocalDates } from "../../src/rules/local-dates.ts";

describe("a date as people write it", () => {
  const locales = [
    "en-US",
    "en-GB",
    "de",
    "es-ES",
    "fr",
    "ja",
    "ko",
    "pt-BR",
    "ru",
    "zh-CN",
    "zh-TW",
    "sv",
    "ar-EG",
    "nl",
    "cs",
    "bg",
    "mk",
    "it",
  ];

  it("is read in each locale as its browsers write it", () => {
    for (const locale of locales) {
      for (const [month, day] of [
        [11, 27],
        [3, 4],
        [12, 12],
      ] as const) {
        const at = new Date(2026, month - 1, day);
        const wanted = `2026-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`;
        for (const options of [
          { year: "numeric", month: "numeric", day: "numeric" },
          { year: "numeric", month: "2-digit", day: "2-digit" },
          { dateStyle: "medium" },
          { dateStyle: "long" },
          { dateStyle: "full" },
          { year: "numeric", month: "short", day: "numeric" },
          { weekday: "short", year: "numeric", month: "short", day: "numeric" },
          { weekday: "long", year: "numeric", month: "numeric", day: "numeric" },
          // As the page writes a time.
          { dateStyle: "medium", timeStyle: "medium" },
        ] as const) {
          const written = at.toLocaleString(locale, { ...options, calendar: "gregory" });
          assert.equal(readLocalDates(written, locale), wanted, `${locale}: ${written}`);
        }
      }
    }
  });

  for (const [text, locale, wanted] of [
    ["27.11.2026", "en-US", "2026-11-27"],
    ["03.04.2026", "en-US", "2026-04-03"],
    ["03/04/2026", "en-US", "2026-03-04"],
    ["03/04/2026", "en-GB", "2026-04-03"],
    ["27/11/2026", "en-US", "2026-11-27"],
    ["11/27/2026", "de", "2026-11-27"],
    ["2026-11-27", "en-US", "2026-11-27"],
    ["2026/11/27", "de", "2026-11-27"],
    ["2026年11月27日", "ja", "2026-11-27"],
    ["2026. 11. 27.", "ko", "2026-11-27"],
    ["11.2026", "de", "2026-11"],
    ["11/2026", "en-US", "2026-11"],
    ["2026/11", "en-US", "2026-11"],
    ["1.11.2026 – 7.11.2026", "de", "2026-11-01/2026-11-07"],
    ["1.11.2026-7.11.2026", "de", "2026-11-01/2026-11-07"],
    ["2026/11/01～2026/11/07", "ja", "2026-11-01/2026-11-07"],
    ["2026年11月27日(金)", "ja", "2026-11-27"],
    ["5 thg 1, 2026", "vi", "2026-01-05"],
    ["27. Nov. 2026", "de", "2026-11-27"],
    ["mar 2026", "es-ES", "2026-03"],
    ["martes, 3 de marzo de 2026", "es-ES", "2026-03-03"],
    ["Friday", "en-US", undefined],
    ["27 November 2026", "en-US", "2026-11-27"],
    ["november 2026", "de", "2026-11"],
    ["27. NOVEMBRE 2026", "fr", "2026-11-27"],
    ["Nov 31, 2026", "en-US", undefined],
    ["Nov 27", "en-US", undefined],
    ["ORDER 27 2026", "en-US", undefined],
    ["ORDER-2026-11", "de", undefined],
    ["2026", "de", undefined],
    ["4711", "de", undefined],
    ["27.11.26", "de", undefined],
    ["1.2.3", "de", undefined],
  ] as const) {
    it(`${text} is ${wanted ?? "none"} in ${locale}`, () => {
      assert.equal(readLocalDates(text, locale), wanted);
    });
  }
});
