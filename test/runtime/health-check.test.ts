import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { HealthCheck } from "../../src/runtime/config/health.ts";
import { VirtualClock } from "../archive/virtual-clock.ts";

describe("the health check", () => {
  let running: HealthCheck;
  let heard: string[];
  /** When each check began. */
  let beganAt: number[];
  let isThere: boolean;
  let clock: VirtualClock;

  const start = (intervalMs: number, random = (): number => 0): void => {
    running = new HealthCheck({
      intervalMs,
      random,
      check: () => {
        beganAt.push(performance.now());
        return isThere ? Promise.resolve() : Promise.reject(new Error("gone"));
      },
      onUp: (isRecovery) => heard.push(isRecovery ? "again" : "up"),
      onDown: (error) => heard.push((error as Error).message),
    });
  };
  const checks = async (count: number): Promise<void> => {
    for (let done = 0; done < count; done++) {
      clock.fireNext();
      await turn();
    }
  };
  const pauses = (): number[] => beganAt.slice(1).map((at, index) => Math.round(at - (beganAt[index] ?? 0)));

  beforeEach(() => {
    heard = [];
    beganAt = [];
    isThere = true;
    clock = new VirtualClock(Number.POSITIVE_INFINITY);
  });
  afterEach(() => {
    running.close();
    clock.close();
  });

  it("tells each change once, and nothing in between", async () => {
    start(2);
    await checks(5);
    isThere = false;
    await checks(4);
    isThere = true;
    await checks(4);
    assert.deepEqual(heard, ["up", "gone", "again"]);
  });

  it("tells at once that nobody is there at first, and that the first sign of life is a recovery", async () => {
    isThere = false;
    start(2);
    await checks(3);
    isThere = true;
    await checks(2);
    assert.deepEqual(heard, ["gone", "again"]);
  });

  it("doubles its pauses while there is no answer, up to ten intervals, and takes them back afterwards", async () => {
    isThere = false;
    start(10);
    await checks(8);
    isThere = true;
    await checks(3);
    assert.deepEqual(pauses(), [10, 20, 40, 80, 100, 100, 100, 100, 10, 10]);
  });

  it("spreads checks by shortening pauses a little", async () => {
    start(1_000, () => 1);
    await checks(2);
    assert.deepEqual(pauses(), [800]);
  });

  it("never runs two checks at once, and hears nothing of one that was running at close", async () => {
    let abort: AbortSignal | undefined;
    let runs = 0;
    const hung = withResolvers();
    running = new HealthCheck({
      intervalMs: 1,
      random: () => 0,
      check: (signal) => {
        abort = signal;
        runs++;
        return hung.promise;
      },
      onUp: () => heard.push("up"),
      onDown: () => heard.push("down"),
    });
    await checks(1);
    assert.equal(clock.isDueSoon, false, "the next check waits for the end of this one");
    assert.equal(runs, 1);
    running.close();
    assert.equal(abort?.aborted, true);
    hung.reject(new Error("aborted"));
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(heard, []);
  });
});

function withResolvers(): { promise: Promise<void>; reject: (error: Error) => void } {
  let fail: (error: Error) => void = () => undefined;
  const promise = new Promise<void>((_, reject) => {
    fail = reject;
  });
  return { promise, reject: (error) => fail(error) };
}
