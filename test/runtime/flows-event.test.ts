import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import type { NodeAPI } from "node-red";
import { FlowsEvent } from "../../src/runtime/config/flows-event.ts";

describe("an event of the flows", () => {
  const open = (): { events: EventEmitter; started: FlowsEvent } => {
    const events = new EventEmitter();
    return { events, started: new FlowsEvent({ events } as unknown as NodeAPI, "flows:started") };
  };

  it("is told to each once, with one listener for all", () => {
    const { events, started } = open();
    const told: number[] = [];
    for (let index = 0; index < 50; index++) {
      started.next(() => void told.push(index));
    }
    assert.equal(events.listenerCount("flows:started"), 1);
    events.emit("flows:started");
    events.emit("flows:started");
    assert.deepEqual(told, [...Array(50).keys()]);
    assert.equal(events.listenerCount("flows:started"), 0);
  });

  it("is not told to who has taken it back, and goes on for who comes while it is told", () => {
    const { events, started } = open();
    const told: string[] = [];
    const forget = started.next(() => void told.push("never"));
    started.next(() => {
      told.push("first");
      started.next(() => void told.push("second"));
    });
    forget();
    forget();
    events.emit("flows:started");
    assert.deepEqual(told, ["first"]);
    events.emit("flows:started");
    assert.deepEqual(told, ["first", "second"]);
    started.next(() => undefined)();
    assert.equal(events.listenerCount("flows:started"), 0);
  });
});
