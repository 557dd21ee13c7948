import assert from "node:assert/strict";
import bwipjs from "bwip-js";
import * as fc from "fast-check";
import { read, withCheckDigit } from "./support.ts";

/** Whether bwip-js draws it: it checks the identifiers, the lengths, the characters and the check digits of GS1 codes. */
function draws(text: string): boolean {
  try {
    bwipjs.raw({ bcid: "gs1-128", text, parsefnc: true });
    return true;
  } catch {
    return false;
  }
}

describe("our reading of codes compared with bwip-js", () => {
  it("agrees on which element strings are valid", () => {
    const digits = (length: number) => fc.stringMatching(new RegExp(`^\\d{${length}}$`));
    const perhapsRight = (text: string) =>
      fc.boolean().map((isRight) => (isRight ? withCheckDigit(text) : `${text}7`));
    const key = (ai: string, length: number) =>
      digits(length)
        .chain(perhapsRight)
        .map((value) => `(${ai})${value}`);
    const lot = fc.stringMatching(/^[A-Z0-9]{1,22}$/).map((value) => `(10)${value}`);
    const expiry = fc.stringMatching(/^\d{2}(?:0[0-9]|1[0-3])[0-3]\d$/).map((value) => `(17)${value}`);
    const netWeight = digits(6).map((value) => `(3102)${value}`);
    const count = fc.stringMatching(/^\d{1,9}$/).map((value) => `(37)${value}`);
    const order = fc.stringMatching(/^[A-Z0-9]{1,32}$/).map((value) => `(400)${value}`);
    const shipTo = key("410", 12);
    // bwip-js also checks which identifiers go together: these do, in any order.
    const elementString = fc
      .oneof(
        ...[lot, expiry, netWeight, count, order, shipTo].map((one) => fc.tuple(one)),
        fc.tuple(key("01", 13), lot, expiry, order),
        fc.tuple(key("00", 17), order, shipTo),
        fc.tuple(key("00", 17), key("02", 13), count, lot),
      )
      .chain((all) => fc.shuffledSubarray(all, { minLength: all.length }))
      .map((all) => all.join(""));
    fc.assert(
      fc.property(elementString, (text) => {
        const { scan } = read(text);
        assert.equal(
          scan.elements.every(({ checked }) => checked) && scan.elements.length > 0,
          draws(text),
          text,
        );
      }),
      { numRuns: 10_000 },
    );
  });

  it("agrees on check digits of EAN, UPC, ITF-14, Identcode and Leitcode", () => {
    const symbologies = [
      ["ean13", 13, "]E0"],
      ["ean8", 8, "]E4"],
      ["upca", 12, "]E0"],
      ["itf14", 14, "]I1"],
    ] as const;
    for (const [bcid, length, aim] of symbologies) {
      fc.assert(
        fc.property(fc.stringMatching(new RegExp(`^[1-9]\\d{${length - 1}}$`)), (text) => {
          let isDrawn = true;
          try {
            bwipjs.raw({ bcid, text });
          } catch {
            isDrawn = false;
          }
          assert.equal(
            read(`${aim}${text}`).scan.gtin === text.padStart(14, "0"),
            isDrawn,
            `${bcid} ${text}`,
          );
        }),
        { numRuns: 100 },
      );
    }
    for (const [bcid, length, service] of [
      ["identcode", 12, "Paket Identcode (12)"],
      ["leitcode", 14, "Paket Leitcode (14)"],
    ] as const) {
      fc.assert(
        fc.property(fc.stringMatching(new RegExp(`^\\d{${length}}$`)), (text) => {
          let isDrawn = true;
          try {
            bwipjs.raw({ bcid, text });
          } catch {
            isDrawn = false;
          }
          const found = read(text).scan.carriers.find((carrier) => carrier.service === service);
          assert.equal(found?.checkDigit, isDrawn, `${bcid} ${text}`);
        }),
        { numRuns: 100 },
      );
    }
  });
});
