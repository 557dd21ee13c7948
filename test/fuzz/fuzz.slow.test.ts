import { testSeed } from "../support/seed.ts";
import { fuzz } from "./fuzz.ts";
import { readers } from "./readers.ts";

/** How long each reader is given changed inputs; minutes each night. */
const seconds = Number(process.env["FUZZ_SECONDS"] ?? 8);

describe("a reader of bytes from outside", function () {
  this.timeout((seconds + 170) * 1_000);

  for (const name of Object.keys(readers)) {
    it(`throws what it documents, in linear time and memory, for any bytes: ${name}`, async () => {
      const { tried, outcomes } = await fuzz(name, seconds, testSeed);
      if (process.env["FUZZ_SECONDS"] !== undefined) {
        console.log(`${name}: ${tried} inputs, ${outcomes} different outcomes`);
      }
    });
  }
});
