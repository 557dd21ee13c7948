import { fill } from "../dashboard/function-node.ts";
import { rowsByHour, timeOf, type HourCount } from "../dashboard/hours.ts";
import type { FleetDevice } from "../model/shapes.ts";
import type { PublishedTab } from "../station/types.ts";
import type { Texts } from "./texts.ts";
import type { Alarm, Dock, Kept, ShownDock } from "./types.ts";

// What is wrong, which alarms that makes, and what the page shows. An alarm stays until its cause is over and somebody has
// acknowledged it.

/** What the supervisor knows when a message comes. */
export interface Known {
  readonly now: number;
  readonly t: Texts;
  readonly language: string;
  readonly limits: {
    readonly oldestJobMinutes: number;
    readonly freeGigabytes: number;
    readonly silentAfterSeconds: number;
    readonly stoppedAfterMs: number;
    readonly clocksApartSeconds: number;
  };
  readonly tabs: Readonly<Record<string, PublishedTab>>;
  readonly kept: Kept;
}

const logLimit = 50;
const rowLimit = 50;
const minuteMs = 60_000;

function isRunning({ now, limits }: Known, { at }: PublishedTab): boolean {
  // A tab that has stopped before the clock was put back has told a time that is still to come.
  return Math.abs(now - at) < limits.stoppedAfterMs;
}

function stoppedKey(tab: string): string {
  return `stopped ${tab}`;
}

/** The docks of all tabs with packing stations. */
export function docksOf(known: Known): Dock[] {
  const all = Object.values(known.tabs).flatMap((one) =>
    one.stations.map((dock) => ({ ...dock, tab: one.tab, runs: isRunning(known, one) })),
  );
  return all.map((dock) => {
    const { name, device } = dock;
    const isOnly = all.filter((one) => one.device === device).length === 1;
    return { ...dock, label: device ? (isOnly ? device : `${device} (${name})`) : name };
  });
}

/** What is wrong now, each with a key of its own. */
export function problemsOf(known: Known, docks: readonly Dock[]): Map<string, string> {
  const { now, t, limits, kept } = known;
  const shown = (value: number, digits = 0): string =>
    value.toLocaleString(known.language, { maximumFractionDigits: digits });
  const found = new Map<string, string>();
  const say = (key: string, text: string, values: object) => found.set(key, fill(text, values));
  const compareClock = (key: string, name: string, ahead: number | null | undefined): void => {
    if (Math.abs(ahead ?? 0) >= limits.clocksApartSeconds) {
      say(`clock ${key}`, t.alarmClock, { name, clock: sayClock(known, ahead) });
    }
  };
  for (const { label, tab, runs, device, peer, phase, parcel, phaseAt } of docks) {
    if (!runs) {
      say(stoppedKey(tab), t.alarmStopped, { tab });
    } else {
      if (peer?.ok === false) {
        say(`device ${device}`, t.alarmDevice, { device, text: peer.text });
      }
      compareClock(`of ${device}`, device, peer?.clockAhead);
      if (phase === "check" && now - phaseAt > minuteMs) {
        say(`check ${label}`, t.alarmCheck, { name: label, parcel });
      }
    }
  }
  const { store, fleet } = kept;
  if (store !== null && "problem" in store) {
    say("store", t.alarmStore, store);
  } else if (store !== null) {
    const { oldestJobFor, openJobs, freeBytes, damaged } = store;
    if (oldestJobFor !== null && oldestJobFor > 60 * limits.oldestJobMinutes) {
      say("jobs", t.alarmJobs, { count: openJobs, minutes: shown(oldestJobFor / 60) });
    }
    if (freeBytes !== null && freeBytes < 1e9 * limits.freeGigabytes) {
      say("space", t.alarmSpace, { free: shown(freeBytes / 1e9, 1) });
    }
    if (damaged > 0) {
      say("damaged", t.alarmDamaged, { count: shown(damaged) });
    }
  }
  if (fleet !== null && "problem" in fleet) {
    say("fleet", t.alarmFleet, fleet);
  } else {
    compareClock("cloud", t.cloud, fleet?.clockAhead);
  }
  for (const { id, name, registrationCode, silentFor } of silentDevices(known) ?? []) {
    const text = silentFor === null ? t.alarmNeverHeard : t.alarmSilent;
    const device = { name: name ?? registrationCode ?? id, minutes: shown((silentFor ?? 0) / 60) };
    say(`silent ${id}`, text, device);
  }
  return found;
}

/** How far a clock is from this computer's, in words. */
export function sayClock(
  { t, language }: Pick<Known, "language" | "t">,
  ahead: number | null | undefined,
): string {
  if (ahead === null || ahead === undefined) {
    return t.notKnown;
  }
  const seconds = Math.abs(ahead);
  const units = [
    [86_400, t.days],
    [3_600, t.hours],
    [60, t.minutes],
  ] as const;
  // Two of a unit are more exact than one of the next.
  const [size, text] = units.find(([one]) => seconds >= 2 * one) ?? [1, t.seconds];
  const time = fill(text, { n: Math.round(seconds / size).toLocaleString(language) });
  return ahead === 0 ? t.clockAgrees : fill(ahead > 0 ? t.clockAhead : t.clockBehind, { time });
}

/** The devices of the cloud that have sent no heartbeat for long; null if they are not known. */
export function silentDevices({ kept: { fleet }, limits }: Known): readonly FleetDevice[] | null {
  if (fleet === null || "problem" in fleet) {
    return null;
  }
  return fleet.devices.filter(
    ({ silentFor }) => silentFor === null || silentFor >= limits.silentAfterSeconds,
  );
}

/**
 * Begins, continues and ends alarms, and returns those to tell of. One that is over stays until somebody has acknowledged it; if it
 * returns before that, it is told again.
 */
export function updateAlarms(
  { now, kept }: Known,
  found: ReadonlyMap<string, string>,
  newId: () => string,
): { readonly topic: string; readonly payload: string }[] {
  const begun: { topic: string; payload: string }[] = [];
  for (const [key, text] of found) {
    const alarm = kept.alarms[key];
    if (alarm === undefined || alarm.over !== null) {
      begun.push({ topic: key, payload: text });
    }
    if (alarm === undefined) {
      kept.alarms[key] = { id: newId(), key, text, since: now, by: "", at: null, over: null };
    } else {
      Object.assign(alarm, { text, over: null });
    }
  }
  for (const alarm of Object.values(kept.alarms)) {
    if (!found.has(alarm.key)) {
      alarm.over ??= now;
    }
    if (alarm.over !== null && alarm.by !== "") {
      kept.log.unshift(alarm);
      kept.log.length = Math.min(kept.log.length, logLimit);
      delete kept.alarms[alarm.key];
    }
  }
  return begun;
}

/**
 * Somebody has acknowledged an alarm. Returns the tabs to know of from now on: nothing else ends the alarm of a tab that was deleted,
 * and a tab that runs again writes its docks again within a second.
 */
export function acknowledge(
  known: Known,
  { id, name }: { readonly id: string; readonly name: string },
): Readonly<Record<string, PublishedTab>> {
  const { kept, now, tabs } = known;
  const by = name.trim().slice(0, 40);
  const alarm = Object.values(kept.alarms).find((one) => one.id === id);
  if (alarm === undefined || by === "" || alarm.by !== "") {
    return tabs;
  }
  Object.assign(alarm, { by, at: now });
  const others = Object.entries(tabs).filter(
    ([, one]) => isRunning(known, one) || stoppedKey(one.tab) !== alarm.key,
  );
  return Object.fromEntries(others);
}

/** The open alarms, the newest first. */
export function openAlarms({ kept }: Known): Alarm[] {
  return Object.values(kept.alarms).sort((one, other) => other.since - one.since);
}

/** What the page shows of a dock. */
export function shownDock(known: Known, dock: Dock): ShownDock {
  const { now, t } = known;
  const {
    name,
    label,
    runs,
    device,
    peer,
    phase,
    operator,
    parcel,
    parcels,
    failures,
    since,
    until,
    waiting,
    last,
  } = dock;
  const { problem } = dock;
  const workedMs = (until ?? now) - since;
  const recording = dock.doubt ? "recordingDoubt" : dock.recorded ? "recorded" : "recording";
  return {
    name,
    label,
    device,
    phase: runs ? phase : "stopped",
    state: runs ? t[phase === "recording" ? recording : phase] : t.stopped,
    operator,
    parcel: parcel ?? "",
    peer,
    clock: sayClock(known, peer?.clockAhead),
    parcels,
    failures,
    rate: workedMs < minuteMs ? null : Math.round((parcels * 60 * minuteMs) / workedMs),
    problem,
    waiting,
    last,
  };
}

/** The table of the last parcels, the newest first. Dashboard takes its headings from the names of the properties. */
export function rowsOf(
  { t, now, language }: Known,
  docks: readonly Dock[],
): Readonly<Record<string, string>>[] {
  const states = {
    packing: "",
    measured: t.parcel_measured,
    confirmed: t.parcel_confirmed,
    cancelled: t.parcel_cancelled,
  };
  const parcels = docks.flatMap(({ label, history }) => history.map((one) => ({ ...one, label })));
  return parcels
    .sort((one, other) => other.at - one.at)
    .slice(0, rowLimit)
    .map(({ at, label, operator, reference, summary, state, evidence }) => ({
      [t.columnTime]: timeOf(at, now, language),
      [t.columnDock]: label,
      [t.columnOperator]: operator,
      [t.columnParcel]: reference,
      [t.columnDimensions]: summary,
      [t.columnState]: states[state],
      [t.columnEvidence]: evidence === "" ? "" : t[`evidence_${evidence}`],
    }));
}

/** The parcels of each hour and dock. */
export function barsOf({ language }: Known, docks: readonly Dock[]): HourCount[] {
  const counts = docks.flatMap(({ label, hours }) =>
    Object.entries(hours).map(([hour, { parcels }]) => ({ hour, series: label, count: parcels })),
  );
  return rowsByHour(counts, language);
}
