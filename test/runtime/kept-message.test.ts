import assert from "node:assert/strict";
import { runInNewContext } from "node:vm";
import { keepMessage, readKept } from "../../src/runtime/action/command-journal.ts";

/** What comes back of a message after a restart. */
const kept = (msg: object): object => readKept(keepMessage({ _msgid: "1", ...msg }));

describe("what the store keeps of a message", () => {
  it("is the message, where all of it has a JSON that says the same", () => {
    const msg = { payload: { order: [1, "two", null, true] }, topic: "parcels" };
    assert.deepEqual(kept(msg), { _msgid: "1", ...msg });
  });

  it("is the object that a function node has made, which has another prototype", () => {
    const payload: unknown = runInNewContext("({ order: [{ id: 7 }] })");
    assert.deepEqual(kept({ payload }), { _msgid: "1", payload: { order: [{ id: 7 }] } });
  });

  it("names what it lacks: Buffers, dates, functions, circles, what throws, and what is too deep", () => {
    const circle: { self?: object } = {};
    circle.self = circle;
    let deep: object = {};
    for (let level = 0; level < 100; level++) {
      deep = { deep };
    }
    const none = { payload: Buffer.from("x"), nested: { picture: Buffer.from("y") }, at: new Date() };
    const others = { res: { send: () => undefined }, circle, big: 1n, infinite: Infinity, deep };
    const msg = Object.defineProperty({ topic: "kept", ...none, ...others }, "thrower", {
      enumerable: true,
      get: () => {
        throw new Error("no");
      },
    });
    assert.deepEqual(readKept(keepMessage(Object.assign(msg, { _msgid: "1" }))), {
      topic: "kept",
      _msgid: "1",
      leftOut: ["payload", "nested", "at", "res", "circle", "big", "infinite", "deep", "thrower"],
    });
  });

  it("is at most 64 kB, and keeps what is small beside what is large", () => {
    const text = keepMessage({
      _msgid: "1",
      payload: "x".repeat(200_000),
      more: "y".repeat(60_000),
      topic: "small",
    });
    assert.ok(text.length < 65_000, `${text.length}`);
    assert.deepEqual([readKept(text)["topic"], readKept(text)["leftOut"]], ["small", ["payload"]]);
  });

  it("is nothing where the database has another text", () => {
    assert.deepEqual(readKept("{"), {});
  });
});
