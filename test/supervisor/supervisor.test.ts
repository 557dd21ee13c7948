import assert from "node:assert/strict";
import {
  acknowledge,
  docksOf,
  openAlarms,
  problemsOf,
  updateAlarms,
  type Known,
} from "../../src/supervisor/supervisor.ts";
import { texts } from "../../src/supervisor/texts.ts";
import type { Kept } from "../../src/supervisor/types.ts";

describe("the alarms of the supervisor, without Node-RED", () => {
  const kept: Kept = { alarms: {}, log: [], store: null, fleet: null };
  let now = Date.UTC(2026, 10, 25, 8);
  let ids = 0;

  function known(): Known {
    const limits = {
      oldestJobMinutes: 30,
      freeGigabytes: 10,
      silentAfterSeconds: 900,
      stoppedAfterMs: 10_000,
    };
    const tabs = { tab: { tab: "30 Packing station", at: now, stations: [] } };
    return { now, t: texts.en, language: "en", limits, tabs, kept };
  }

  /** What is told after a second in which the store has become so. */
  function told(freeBytes: number, damaged = 0): string[] {
    now += 1_000;
    kept.store = {
      openJobs: 0,
      oldestJobAtUtc: null,
      oldestJobFor: null,
      unhandledRecords: 0,
      databaseBytes: 0,
      freeBytes,
      totalBytes: 1e12,
      oldestVerificationAtUtc: null,
      neverVerified: 0,
      damaged,
    };
    const all = known();
    return updateAlarms(all, problemsOf(all, docksOf(all)), () => String(++ids)).map(
      ({ payload }) => payload,
    );
  }

  it("are told once, stay after their cause is over, and are told again if it returns", () => {
    assert.deepEqual(told(20e9), []);
    const [first] = told(9.5e9);
    assert.match(first ?? "", /^Only 9\.5 GB are free/);
    assert.deepEqual(told(9.4e9), []);
    assert.deepEqual(told(20e9), []);
    assert.equal(openAlarms(known()).length, 1);
    assert.equal(told(9e9).length, 1);
  });

  it("tell of packages that were damaged when they were last verified", () => {
    const [alarm, ...others] = told(9e9, 2);
    assert.match(alarm ?? "", /when they were last verified: 2\./);
    assert.deepEqual([others, told(9e9, 2)], [[], []]);
    const { id = "" } = openAlarms(known()).find(({ key }) => key === "damaged") ?? {};
    acknowledge(known(), { id, name: "Ben" });
    assert.deepEqual(told(9e9), []);
    kept.log.length = 0;
  });

  it("end when their cause is over and somebody has acknowledged them by name", () => {
    const [{ id } = { id: "" }] = openAlarms(known());
    acknowledge(known(), { id, name: "  " });
    assert.equal(openAlarms(known())[0]?.by, "");
    acknowledge(known(), { id, name: " Anna " });
    acknowledge(known(), { id, name: "Ben" });
    told(9e9);
    assert.equal(openAlarms(known())[0]?.by, "Anna");
    told(20e9);
    assert.deepEqual(openAlarms(known()), []);
    assert.deepEqual(
      kept.log.map(({ by }) => by),
      ["Anna"],
    );
  });
});
