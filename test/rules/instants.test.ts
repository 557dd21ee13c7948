import assert from "node:assert/strict";
import { matchTransaction } from "../../src/jobs/transactions.ts";
import { createWords } from "../../src/evidence/page/client/words.ts";
import { instantOf } from "../../src/rules/instants.ts";
import { measured, received } from "../archive/find/support.ts";

describe("times of the API, on a computer in New York", () => {
  const before = process.env["TZ"];
  beforeEach(() => {
    process.env["TZ"] = "America/New_York";
  });
  afterEach(() => {
    if (before === undefined) {
      delete process.env["TZ"];
    } else {
      process.env["TZ"] = before;
    }
  });

  const nine = Date.parse("2026-11-22T09:00:00.512Z");
  for (const [text, instant] of [
    ["2026-11-22T09:00:00.512Z", nine],
    ["2026-11-22T09:00:00.512", nine],
    ["2026-11-22 09:00:00.512", nine],
    [" 2026-11-22T09:00:00.5121234 ", nine],
    ["2026-11-22T10:00:00.512+01:00", nine],
    ["2026-11-22T04:00:00.512-0500", nine],
    ["2026-11-22T10:00:00.512+01", nine],
    ["11/22/2026 9:00:00 AM", nine - 512],
    ["11/22/2026 09:00:00", nine - 512],
    ["2026-12-31T23:59:60.512Z", Date.parse("2026-12-31T23:59:59.512Z")],
    ["2026-12-31T23:59:60", Date.parse("2026-12-31T23:59:59Z")],
    ["2026-11-22T09:60:00Z", NaN],
    ["Sun, 22 Nov 2026 09:00:00 GMT", nine - 512],
    ["2026-11-22", Date.parse("2026-11-22T00:00Z")],
    ["", NaN],
    ["yesterday", NaN],
  ] as const) {
    it(`reads ${JSON.stringify(text)} as UTC where it names no zone`, () => {
      assert.equal(instantOf(text), instant);
    });
  }

  it("are shown by the evidence page as what they are", () => {
    const words = createWords("en-US", {});
    assert.equal(words.time("2026-11-22T09:00:00.512"), words.time("2026-11-22T09:00:00.512Z"));
  });

  it("let the record with the device's own time be found, with a zone or without", () => {
    const sought = measured("A", 0, { deviceUtcTime: "2026-11-22T09:00:00.512Z" });
    const other = measured("B", 1, { deviceUtcTime: "2026-11-22T09:00:01.207Z" });
    const match = matchTransaction(
      sought,
      [other],
      [
        received("2", 3, { dateTimeUtc: "2026-11-22T09:00:01.207" }),
        received("1", 3.2, { dateTimeUtc: "2026-11-22T09:00:00.512" }),
      ],
    );
    assert.equal(match.kind === "one" ? match.candidate.record.transactionId : match.kind, "1");
  });
});
