import assert from "node:assert/strict";
import { TaskQueue, type Task } from "../../src/jobs/run/task-queue.ts";
import { VirtualClock } from "./virtual-clock.ts";

/** A task that says when it has begun, and ends when it is told to. */
function scripted(name: string, begun: string[]): Task & { end(): void } {
  const done = Promise.withResolvers<void>();
  return {
    run: () => {
      begun.push(name);
      return done.promise;
    },
    end: () => done.resolve(),
  };
}

describe("archive: the queue of a step", () => {
  it("runs so many tasks at a time, in their order, those that go first before all others", async () => {
    const begun: string[] = [];
    const queue = new TaskQueue(2);
    const [a, b, c, d, e] = ["a", "b", "c", "d", "e"].map((name) => scripted(name, begun));
    assert.ok(a && b && c && d && e);
    assert.deepEqual(
      [queue.add(a), queue.add(b), queue.add(c), queue.add(d, true), queue.add(e)],
      [true, true, false, false, false],
    );
    assert.deepEqual(begun, ["a", "b"]);
    queue.delete(c);
    a.end();
    b.end();
    await queue.settled();
    assert.deepEqual(begun, ["a", "b", "d", "e"]);
    d.end();
    e.end();
    await queue.settled();
  });

  it("has each task keep its place for a while, but not those that go first", async () => {
    const clock = new VirtualClock(Number.POSITIVE_INFINITY);
    try {
      const begun: string[] = [];
      const queue = new TaskQueue(1, 100);
      const first = scripted("first", begun);
      const [paced, last] = [scripted("paced", begun), scripted("last", begun)];
      const startedMs = performance.now();
      queue.add(first, true);
      queue.add(paced);
      queue.add(last);
      first.end();
      await queue.settled();
      assert.deepEqual(begun, ["first", "paced"]);
      paced.end();
      await queue.settled();
      assert.deepEqual(begun, ["first", "paced"]);
      clock.fireNext();
      assert.deepEqual(begun, ["first", "paced", "last"]);
      assert.equal(Math.round(performance.now() - startedMs), 100);
      last.end();
      await queue.settled();
    } finally {
      clock.close();
    }
  });
});
