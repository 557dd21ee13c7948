import { testSeed } from "../support/seed.ts";
import { fuzz } from "./fuzz.ts";
import { readers } from "./readers.ts";

describe("a reader of bytes from outside, given what was found before", () => {
  for (const name of Object.keys(readers)) {
    it(`throws what it documents, in linear time and memory: ${name}`, async () => {
      await fuzz(name, 0, testSeed);
    });
  }
});
