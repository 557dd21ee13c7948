import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { DeliveryQueue } from "../../src/webhook/delivery-queue.ts";

describe("webhook/delivery-queue", () => {
  it("hands on one a turn, in order, never within push", async () => {
    const got: string[] = [];
    const queue = new DeliveryQueue<{ n: number }>(10, ({ n }, waiting) => got.push(`${n}/${waiting}`));
    [1, 2, 3].forEach((n) => assert.ok(queue.push({ n })));
    assert.deepEqual(got, []);
    await turn();
    assert.deepEqual(got, ["1/2"]);
    await turn();
    await turn();
    assert.deepEqual(got, ["1/2", "2/1", "3/0"]);
    assert.ok(queue.push({ n: 4 }), "and goes on after it was empty");
    await turn();
    assert.equal(got.at(-1), "4/0");
  });

  it("takes no more than its limit", async () => {
    const queue = new DeliveryQueue<{ n: number }>(2, () => undefined);
    assert.deepEqual(
      [1, 2, 3].map((n) => queue.push({ n })),
      [true, true, false],
    );
    assert.equal(queue.isFull, true);
    await turn();
    assert.ok(queue.push({ n: 4 }));
    assert.equal(new DeliveryQueue(0, () => undefined).push({}), false);
  });

  it("hands nothing on after close, and leaves the rest to the queue that follows", async () => {
    const got: number[] = [];
    const first = new DeliveryQueue<{ n: number }>(5, ({ n }) => got.push(n));
    [1, 2, 3].forEach((n) => first.push({ n }));
    await turn();
    const left = first.close();
    await turn();
    assert.deepEqual(got, [1]);
    const second = new DeliveryQueue<{ n: number }>(1, ({ n }) => got.push(n), left);
    assert.equal(second.push({ n: 9 }), false, "what was left counts");
    await turn();
    await turn();
    assert.deepEqual(got, [1, 2, 3]);
  });

  it("goes on after a delivery that throws", async () => {
    const got: number[] = [];
    const thrown: unknown[] = [];
    const uncaught = (error: unknown): void => void thrown.push(error);
    const others = process.listeners("uncaughtException");
    process.removeAllListeners("uncaughtException").once("uncaughtException", uncaught);
    try {
      const queue = new DeliveryQueue<{ n: number }>(5, ({ n }) => {
        got.push(n);
        if (n === 1) {
          throw new Error("broken");
        }
      });
      queue.push({ n: 1 });
      queue.push({ n: 2 });
      await turn();
      await turn();
      await turn();
    } finally {
      process.removeListener("uncaughtException", uncaught);
      others.forEach((listener) => process.on("uncaughtException", listener));
    }
    assert.deepEqual(got, [1, 2]);
    assert.equal(thrown.length, 1);
  });
});
