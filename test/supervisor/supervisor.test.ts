import assert from "node:assert/strict";
import {
  acknowledge,
  barsOf,
  docksOf,
  openAlarms,
  problemsOf,
  rowsOf,
  sayClock,
  shownDock,
  updateAlarms,
  type Known,
} from "../../src/supervisor/supervisor.ts";
import type { PublishedStation, PublishedTab } from "../../src/station/types.ts";
import { onMessage } from "../../src/supervisor/nodes/supervisor.ts";
import { contextOf } from "../support/function-context.ts";
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
      clocksApartSeconds: 60,
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

  it("tell of a tab that has stopped, also if the clock was put back since", () => {
    for (const hours of [-1, 1, 24 * 365]) {
      const all = known();
      const at = all.now + hours * 3_600_000;
      const peer = { ok: true, text: "" };
      const stations = [
        { name: "dock-1", device: "Dock 1", phase: "idle", peer } as unknown as PublishedStation,
      ];
      const stopped = { ...all, tabs: { tab: { tab: "30 Packing station", at, stations } } };
      assert.ok(problemsOf(stopped, docksOf(stopped)).has("stopped 30 Packing station"), `${hours} h`);
    }
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

  it("tell of a clock that is too far from this computer's, and the page how far any is", () => {
    const fleet = (clockAhead: number | null) => {
      kept.fleet = { devices: [], clockAhead };
      return problemsOf(known(), docksOf(known())).get("clock cloud") ?? "";
    };
    assert.deepEqual([fleet(null), fleet(0), fleet(-59)], ["", "", ""]);
    assert.match(fleet(60), /^The clock of the cloud, compared with this computer's: 60 s ahead\./);
    assert.match(fleet(-90_000), /: 25 h behind\./);
    assert.match(fleet(-400 * 86_400), /: 400 d behind\./);
    const words = [null, 0, 5, -150].map((ahead) => sayClock(known(), ahead));
    assert.deepEqual(words, ["not known", "agrees", "5 s ahead", "3 min behind"]);
    kept.fleet = null;
  });

  it("name a silent device as it is registered, or by its code or ID if it has no name there", () => {
    const unnamed = { name: null, registrationCode: null, appVersion: null, terminal: null };
    const devices = [
      { ...unnamed, id: "1", name: "Dock 5", registrationCode: "ABCD2345" },
      { ...unnamed, id: "2", registrationCode: "WXYZ2345" },
      { ...unnamed, id: "3" },
    ].map((one) => ({ ...one, lastHeartbeatUtc: null, silentFor: null }));
    kept.fleet = { devices, clockAhead: null };
    const found = problemsOf(known(), docksOf(known()));
    assert.deepEqual(
      devices.map(({ id }) => found.get(`silent ${id}`)?.split(" has ")[0]),
      ["Dock 5", "WXYZ2345", "3"],
    );
    kept.fleet = null;
  });

  const dock = (name: string, device: string): PublishedStation => ({
    name,
    device,
    operator: "",
    phase: "check",
    phaseAt: 0,
    problem: null,
    since: 0,
    until: null,
    parcels: 1,
    failures: 0,
    hours: { "2026-11-25T07": { parcels: 1, failures: 0 } },
    doubt: false,
    recorded: false,
    parcel: "ORDER-1",
    history: [],
    last: null,
    waiting: 0,
  });

  it("come with a table that says the day of a parcel that was packed on another one", () => {
    const entry = {
      id: "1",
      reference: "A",
      operator: "",
      state: "confirmed",
      evidence: "",
      summary: "",
    } as const;
    const [today, earlier] = [new Date(2026, 10, 25, 17, 52), new Date(2026, 10, 23, 17, 52)];
    const history = [today, earlier].map((date) => ({ ...entry, at: date.getTime() }));
    const all = { ...known(), now: new Date(2026, 10, 25, 18).getTime() };
    const rows = rowsOf(all, [
      { ...dock("dock-1", "Dock 1"), history, label: "Dock 1", tab: "", runs: true },
    ]);
    assert.deepEqual(
      rows.map((row) => row[texts.en.columnTime]),
      ["17:52", "Nov 23, 2026, 17:52"],
    );
  });

  it("keep apart the stations of two flows that have the same name", () => {
    const tabs = ["North", "South"].map((tab): [string, PublishedTab] => [
      tab,
      { tab, at: now, stations: [dock("dock-1", tab)] },
    ]);
    const all = { ...known(), tabs: Object.fromEntries(tabs) };
    const told = [...problemsOf(all, docksOf(all)).values()]
      .filter((text) => text.includes("asking"))
      .map((text) => text.split(" ")[0]);
    assert.deepEqual(told, ["North", "South"]);
  });

  it("call a dock as the station does, by its device, and by its own name where that does not say which", () => {
    const stations = [
      dock("dock-1", "Dock 1"),
      dock("left", "Dock 2"),
      dock("right", "Dock 2"),
      dock("new", ""),
    ];
    const all = { ...known(), tabs: { tab: { tab: "30 Packing station", at: now, stations } } };
    const docks = docksOf(all);
    const labels = ["Dock 1", "Dock 2 (left)", "Dock 2 (right)", "new"];
    assert.deepEqual(
      docks.map((one) => shownDock(all, one).label),
      labels,
    );
    assert.deepEqual(
      barsOf(all, docks).map(({ series }) => series),
      labels,
    );
    const alarms = problemsOf(all, docks);
    assert.match(alarms.get("check Dock 1") ?? "", /^Dock 1 has been asking the packer/);
    assert.match(alarms.get("check Dock 2 (right)") ?? "", /^Dock 2 \(right\) has been asking/);
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

describe("the charts of the supervisor", () => {
  /** The Function node “Supervisor” after a start, without the rest of Node-RED. */
  function functionNode(): Parameters<typeof onMessage>[1] {
    const env: Readonly<Record<string, string>> = { LANGUAGE: "de", OLDEST_JOB: "30", FREE_SPACE: "0" };
    const given: Parameters<typeof onMessage>[1] = {
      node: { status: () => undefined },
      context: contextOf(),
      flow: contextOf(),
      global: contextOf(),
      env: { get: (name) => (env[name] ?? "60") as never },
      RED: { util: { generateId: () => "id", cloneMessage: structuredClone } },
    };
    given.flow.set("texts", texts);
    return given;
  }

  it("get their titles again with the first answers of the store, which a browser may hear that a deploy kept from it", () => {
    const given = functionNode();
    const store = { topic: "store", payload: { openJobs: 0 } } as never;
    const messages = [{ topic: "tick" } as const, store, { topic: "tick" } as const, store, store, store];
    const titles = messages.map((msg) => {
      const outputs = onMessage(msg, given).slice(-2).flat();
      return outputs.filter((one) => JSON.stringify(one)?.includes(texts.de.parcelsByHour)).length;
    });
    assert.deepEqual(titles, [1, 1, 0, 1, 1, 0]);
  });
});
