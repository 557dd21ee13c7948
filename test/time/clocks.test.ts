import assert from "node:assert/strict";
import { PeerClock } from "../../src/time/clocks.ts";

const hourMs = 3_600_000;
const dateOf = (aheadMs: number): string => new Date(Date.now() + aheadMs).toUTCString();
const isAbout = (actual: number | null, expected: number): void => {
  assert.ok(actual !== null && Math.abs(actual - expected) <= 2_000, `${actual} is not about ${expected}`);
};

describe("the clock of a peer", () => {
  it("is told by the Date of each answer, and by nothing that is none", () => {
    const clock = new PeerClock();
    for (const date of [
      undefined,
      "",
      "0",
      "tomorrow 1 GMT",
      "2026-11-28T10:00:00Z",
      ["a", "b"],
      "Sat, 99 Foo 2026 10:00:00 GMT",
    ]) {
      clock.note({ date });
      assert.equal(clock.aheadMs(), null, String(date));
    }
    clock.note({ date: dateOf(0) });
    assert.equal(clock.aheadMs(), 0);
    clock.note({ date: dateOf(hourMs) });
    isAbout(clock.aheadMs(), hourMs);
  });

  it("is not told by what a proxy has kept, with an Age or without", () => {
    const clock = new PeerClock();
    clock.note({ date: dateOf(-hourMs), age: "3600" });
    assert.equal(clock.aheadMs(), null);
    clock.note({ date: dateOf(-hourMs), age: "0" });
    isAbout(clock.aheadMs(), -hourMs);
    const kept = dateOf(-hourMs);
    clock.note({ date: kept });
    clock.note({ date: dateOf(0) });
    clock.note({ date: kept });
    clock.note({ date: kept });
    assert.equal(clock.aheadMs(), 0);
  });

  it("may be put back: then its next answers agree", () => {
    const clock = new PeerClock();
    clock.note({ date: dateOf(0) });
    clock.note({ date: dateOf(-hourMs) });
    clock.note({ date: dateOf(-hourMs + 2_000) });
    isAbout(clock.aheadMs(), -hourMs);
  });

  it("that was never set is as far behind as it says, and no time to count by", () => {
    const clock = new PeerClock();
    clock.note({ date: new Date(0).toUTCString() });
    isAbout(clock.aheadMs(), -Date.now());
    isAbout(clock.now().getTime(), Date.now());
  });
});
