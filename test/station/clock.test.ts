import assert from "node:assert/strict";
import perf_hooks from "node:perf_hooks";
import { onMessage } from "../../src/station/nodes/station.ts";
import { texts } from "../../src/station/texts.ts";
import type { Command, StationMessage } from "../../src/station/types.ts";
import { resultOf } from "../billing/support.ts";
import { contextOf } from "../support/function-context.ts";
import { WallClock } from "../model-based/wall-clock.ts";

type Given = Parameters<typeof onMessage>[1];
const hourMs = 3_600_000;

/** The Function node “Station” without the rest of Node-RED. */
function functionNode(): Given {
  const env: Record<string, unknown> = {
    LANGUAGE: "en",
    STATIONS: { "dock-1": { device: "Dock 1", cloud: "Cloud" } },
    SIGN_IN: false,
    BADGE: "^OP-(.+)$",
    ASK_IF_PACKED: false,
    ASK: "",
    ASK_WITHIN: "3",
    IGNORE_REPEATS: "0",
    FORGOTTEN_AFTER: "900",
    ANSWER_WITHIN: "70",
  };
  let ids = 0;
  const given: Given = {
    node: { status: () => undefined },
    context: contextOf(),
    flow: contextOf(),
    global: contextOf(),
    env: { get: (name) => env[name] as never },
    RED: { util: { generateId: () => String(++ids), cloneMessage: structuredClone } },
    crypto,
    perf_hooks,
  };
  given.flow.set("texts", texts);
  return given;
}

describe("a packing station whose computer's clock is set", () => {
  let clock: WallClock;
  beforeEach(() => {
    clock = new WallClock();
  });
  afterEach(() => clock.close());

  for (const jumpMs of [hourMs, 400 * 24 * hourMs, -hourMs, -400 * 24 * hourMs]) {
    it(`goes on with its recording and its measurement, ${jumpMs / hourMs} h later by that clock`, () => {
      const given = functionNode();
      let inputs = 0;
      const send = (msg: StationMessage): Command[] => {
        const [, video = [], measure = []] = onMessage(msg, given) ?? [];
        return [...video, ...measure] as Command[];
      };
      const scan = (): Command[] => {
        const _client = { socketId: "screen" };
        const from = { station: "dock-1", _client, input: `input ${++inputs}`, at: Date.now() };
        return send({ ...from, topic: "scan", payload: "PO-1", transactionReference: "PO-1" });
      };
      const answer = ({ topic, station, job, sentAt, parcel, proof }: Command): Command[] =>
        send({
          topic,
          station,
          job,
          sentAt,
          parcel,
          proof,
          payload: resultOf([18, 12, 9]),
        } as StationMessage);
      const phase = (): string | undefined => given.flow.get("stations")?.["dock-1"]?.phase;
      const tick = (): void => assert.deepEqual(send({ topic: "tick" }), [], "no command is sent");

      const [start = assert.fail("nothing is recorded")] = scan();
      clock.jump(jumpMs);
      tick();
      assert.equal(phase(), "starting");
      answer(start);
      assert.equal(phase(), "recording");
      clock.jump(jumpMs);
      tick();
      assert.equal(phase(), "recording");
      const [measure = assert.fail("nothing is measured")] = scan();
      assert.equal(measure.topic, "measure");
      clock.jump(jumpMs);
      tick();
      assert.equal(phase(), "measuring");
      answer(measure);
      assert.equal(phase(), "measured");
    });
  }

  it("still ends a recording that was forgotten before the clock was put back", () => {
    const given = functionNode();
    const _client = { socketId: "screen" };
    const from = { station: "dock-1", _client, input: "input", at: Date.now() } as const;
    const [, video = []] =
      onMessage({ ...from, topic: "scan", payload: "PO-1", transactionReference: "PO-1" }, given) ?? [];
    const [start = assert.fail("nothing is recorded")] = video as Command[];
    const { topic, station, job, sentAt, parcel, proof } = start;
    onMessage({ topic, station, job, sentAt, parcel, proof } as StationMessage, given);
    const steady = perf_hooks.performance;
    let waitedMs = 0;
    const late: Given = {
      ...given,
      perf_hooks: { performance: { timeOrigin: steady.timeOrigin, now: () => steady.now() + waitedMs } },
    };
    // A quarter of an hour and a minute pass, of which the clock says nothing.
    clock.jump(-hourMs);
    onMessage({ topic: "tick" }, late);
    for (let minute = 0; minute < 16; minute += 1) {
      waitedMs += 60_000;
      clock.jump(60_000);
      onMessage({ topic: "tick" }, late);
    }
    assert.equal(given.flow.get("stations")?.["dock-1"]?.phase, "cancelling");
  });
});
