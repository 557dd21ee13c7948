import assert from "node:assert/strict";
import { readPeriod } from "../../src/rules/periods.ts";

describe("periods of time", () => {
  const now = new Date(2026, 10, 22, 12, 30);
  const local = (...at: [number, number, number, number?]): string => new Date(...at).toISOString();

  for (const [text, from, to] of [
    ["2026-11-22", local(2026, 10, 22), local(2026, 10, 23)],
    ["2026-11", local(2026, 10, 1), local(2026, 11, 1)],
    ["2026", local(2026, 0, 1), local(2027, 0, 1)],
    ["2026-11-01/2026-11-07", local(2026, 10, 1), local(2026, 10, 8)],
    ["2026-11-22T06:00/2026-11-22T14:00", local(2026, 10, 22, 6), local(2026, 10, 22, 14)],
    ["2026-11-22T06:00Z/2026-11-22T14:00+02:00", "2026-11-22T06:00:00.000Z", "2026-11-22T12:00:00.000Z"],
    ["today", local(2026, 10, 22), local(2026, 10, 23)],
    [" yesterday ", local(2026, 10, 21), local(2026, 10, 22)],
  ] as const) {
    it(`reads “${text}”`, () => assert.deepEqual(readPeriod(text, now), { from, to }));
  }

  it("reads the time that has just passed, up to now", () => {
    assert.deepEqual(readPeriod("24h", now), {
      from: new Date(now.getTime() - 86_400_000).toISOString(),
      to: new Date(now.getTime() + 1).toISOString(),
    });
  });

  for (const text of [
    "",
    "2026-02-31",
    "2026-13",
    "2026-11-07/2026-11-01",
    "1/2/3",
    "tomorrow",
    "0d",
    "2026-11-22T06:00",
    "999999y",
    "' OR 1",
  ]) {
    it(`does not take “${text}” for a period`, () => assert.equal(readPeriod(text, now), undefined));
  }
});
