import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { DeliveryQueue, type Target } from "../../src/webhook/delivery-queue.ts";

const most = { items: 10_000, bytes: 1_000_000 };

/** As the receiver does it. */
function push<T>(queue: DeliveryQueue<T>, item: T, bytes: number, limits: typeof most): boolean {
  const hasRoom = queue.hasRoom(bytes, limits);
  if (hasRoom) {
    queue.push(item, bytes);
  }
  return hasRoom;
}

describe("the delivery queue of a webhook", () => {
  const into = (got: unknown[]): Target<number> => ({
    deliver: (item, waiting) => void got.push(`${item}/${waiting}`),
    unreached: () => [],
  });
  const untilEmpty = async (queue: DeliveryQueue<number>): Promise<number> => {
    let turns = 0;
    for (; queue.size > 0; turns++) {
      await turn();
    }
    return turns;
  };

  it("hands on in order, never within push", async () => {
    const got: unknown[] = [];
    const queue = new DeliveryQueue<number>();
    queue.resume(into(got));
    [1, 2, 3].forEach((item) => assert.ok(push(queue, item, 1, most)));
    assert.deepEqual(got, []);
    await untilEmpty(queue);
    assert.deepEqual(got, ["1/2", "2/1", "3/0"]);
    assert.ok(push(queue, 4, 1, most), "and goes on after it was empty");
    await untilEmpty(queue);
    assert.equal(got.at(-1), "4/0");
  });

  it("takes no more items and no more bytes than may wait, counting what is on its way", async () => {
    const queue = new DeliveryQueue<number>();
    const few = { items: 2, bytes: 100 };
    assert.deepEqual(
      [1, 2, 3].map((item) => push(queue, item, 10, few)),
      [true, true, false],
    );
    queue.resume({ deliver: () => undefined, unreached: () => [] });
    await untilEmpty(queue);
    queue.hold();
    assert.deepEqual(
      [60, 60, 40].map((bytes) => push(queue, 0, bytes, few)),
      [true, false, true],
    );
  });

  it("hands on nothing while it is held, and all of it after that", async () => {
    const got: unknown[] = [];
    const queue = new DeliveryQueue<number>();
    push(queue, 1, 1, most);
    await turn();
    assert.deepEqual(got, []);
    queue.resume(into(got));
    queue.hold();
    await turn();
    assert.deepEqual(got, []);
    queue.resume(into(got));
    await untilEmpty(queue);
    assert.deepEqual(got, ["1/0"]);
  });

  it("hands on again, first of all, what did not arrive", async () => {
    const got: number[] = [];
    const queue = new DeliveryQueue<number>();
    [1, 2, 3].forEach((item) => push(queue, item, 1, most));
    queue.resume({
      deliver(item) {
        got.push(item);
        queue.hold();
      },
      unreached: (items) => items,
    });
    await turn();
    await turn();
    assert.deepEqual([got, queue.size], [[1], 3]);
    queue.resume({ deliver: (item) => void got.push(item), unreached: () => [] });
    await untilEmpty(queue);
    assert.deepEqual(got, [1, 1, 2, 3]);
  });

  it("empties a burst in few turns where nothing slow follows, and in turns of some milliseconds where it does", async () => {
    const queue = new DeliveryQueue<number>();
    const fill = (): void => Array.from({ length: 2_000 }).forEach((_, item) => push(queue, item, 1, most));
    fill();
    queue.resume({ deliver: () => undefined, unreached: () => [] });
    assert.ok((await untilEmpty(queue)) < 50);

    fill();
    let inTurn = 0;
    let mostInTurn = 0;
    queue.resume({
      deliver() {
        // The flow behind works in the next turn, as nodes do.
        setImmediate(() => spin(2));
        mostInTurn = Math.max(mostInTurn, ++inTurn);
      },
      unreached() {
        inTurn = 0;
        return [];
      },
    });
    for (let turns = 0; turns < 20; turns++) {
      await turn();
    }
    mostInTurn = 0;
    for (let turns = 0; turns < 20; turns++) {
      await turn();
    }
    assert.ok(mostInTurn >= 1 && mostInTurn <= 8, `${mostInTurn} in one turn`);
    queue.resume({ deliver: () => undefined, unreached: () => [] });
    await untilEmpty(queue);
  });

  it("hands on few in one turn where that itself is slow, as it is where a message is copied", async () => {
    const queue = new DeliveryQueue<number>();
    const fill = (count: number): void =>
      Array.from({ length: count }).forEach((_, item) => push(queue, item, 1, most));
    // After a burst that nothing slow followed, the next turn may be as large as one can be.
    fill(2_000);
    queue.resume({ deliver: () => undefined, unreached: () => [] });
    await untilEmpty(queue);
    fill(30);
    let inTurn = 0;
    let mostInTurn = 0;
    queue.resume({
      deliver() {
        spin(2);
        mostInTurn = Math.max(mostInTurn, ++inTurn);
      },
      unreached() {
        inTurn = 0;
        return [];
      },
    });
    await untilEmpty(queue);
    assert.ok(mostInTurn >= 1 && mostInTurn <= 3, `${mostInTurn} in one turn`);
  });
});

function spin(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until;) {
    Math.sqrt(until);
  }
}
