import assert from "node:assert/strict";
import { Semaphore } from "../../src/jobs/semaphore.ts";
import { VirtualClock } from "../archive/virtual-clock.ts";

describe("archive: how many jobs do the same work at a time", () => {
  /** Enters, and says when it is let in. */
  const entering =
    (semaphore: Semaphore, begun: string[]) =>
    (name: string, isUrgent = false) => {
      const waiting = { go: () => void begun.push(name) };
      if (semaphore.enter(waiting, isUrgent)) {
        waiting.go();
      }
      return waiting;
    };

  it("is limited, in the order in which they came, the urgent ones first", () => {
    const begun: string[] = [];
    const semaphore = new Semaphore(2);
    const enter = entering(semaphore, begun);
    const [, , third] = [enter("a"), enter("b"), enter("c"), enter("d", true), enter("e")];
    assert.deepEqual(begun, ["a", "b"]);
    assert.equal(semaphore.cancel(third), true);
    semaphore.leave();
    semaphore.leave();
    assert.deepEqual(begun, ["a", "b", "d", "e"]);
    assert.equal(semaphore.cancel(third), false);
  });

  it("is limited in a time as well, except for those that are urgent", () => {
    const clock = new VirtualClock(Number.POSITIVE_INFINITY);
    try {
      const begun: string[] = [];
      const semaphore = new Semaphore(1, 100);
      const enter = entering(semaphore, begun);
      const startedMs = performance.now();
      enter("urgent", true);
      enter("paced");
      enter("last");
      semaphore.leave(startedMs, true);
      assert.deepEqual(begun, ["urgent", "paced"]);
      semaphore.leave(startedMs);
      assert.deepEqual(begun, ["urgent", "paced"]);
      clock.fireNext();
      assert.deepEqual(begun, ["urgent", "paced", "last"]);
      assert.equal(Math.round(performance.now() - startedMs), 100);
    } finally {
      clock.close();
    }
  });
});
