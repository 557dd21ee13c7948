import assert from "node:assert/strict";
import { array, assert as check, constantFrom, integer, property, record } from "fast-check";
import { DueTimes } from "../../src/jobs/run/due-times.ts";
import { VirtualClock } from "./virtual-clock.ts";

const step = record({
  item: integer({ min: 0, max: 9 }),
  what: constantFrom("set", "delete", "pass"),
  ms: integer({ min: 0, max: 50 }),
});

describe("archive: the times at which jobs are due", () => {
  it("are those that were set last, in their order, whatever was set and deleted before", () => {
    check(
      property(array(step, { maxLength: 200 }), (steps) => {
        const clock = new VirtualClock(Number.POSITIVE_INFINITY);
        try {
          const due: number[] = [];
          const wanted = new Map<number, number>();
          const times = new DueTimes<number>((item) => {
            const atMs = wanted.get(item) ?? assert.fail(`${item} was not set`);
            assert.ok(atMs <= performance.now() + 1, "not before its time");
            assert.ok(
              [...wanted.values()].every((other) => other >= atMs),
              "the earliest first",
            );
            wanted.delete(item);
            due.push(item);
          });
          for (const { item, what, ms } of steps) {
            if (what === "set") {
              wanted.set(item, performance.now() + ms);
              times.set(item, performance.now() + ms);
            } else if (what === "delete") {
              wanted.delete(item);
              times.delete(item);
            } else if (clock.isDueSoon) {
              clock.fireNext();
            }
            assert.deepEqual(
              [...Array(10).keys()].filter((one) => times.has(one)),
              [...wanted.keys()].sort(),
            );
          }
          while (clock.isDueSoon) {
            clock.fireNext();
          }
          assert.equal(wanted.size, 0, "each comes");
        } finally {
          clock.close();
        }
      }),
    );
  });

  it("come with one timer for all", () => {
    const clock = new VirtualClock(Number.POSITIVE_INFINITY);
    try {
      const due: number[] = [];
      const times = new DueTimes<number>((item) => due.push(item));
      for (let item = 0; item < 1_000; item += 1) {
        times.set(item, performance.now() + 10);
      }
      clock.fireNext();
      assert.equal(due.length, 1_000);
      assert.equal(clock.isDueSoon, false);
    } finally {
      clock.close();
    }
  });
});
