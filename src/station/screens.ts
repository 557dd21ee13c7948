import { type CaughtError, fill } from "../dashboard/function-node.ts";
import { rowsByHour } from "../dashboard/hours.ts";
import { say } from "./notices.ts";
import { decide, leave } from "./begin.ts";
import { cancel, labelledParcel } from "./packer.ts";
import { failed, sendAgain, settle } from "./results.ts";
import { entryOf, isBusy, placeOf, stationNamed, type Run } from "./state.ts";
import type {
  CloudMessage,
  EvidenceState,
  HelloMessage,
  Parcel,
  PublishedStation,
  ScreenState,
  ShownParcel,
  Station,
  StatusMessage,
} from "./types.ts";

// What the screens show, and what happens without the packer: time, and the state of devices and clouds.

/** A page says now and then that it is there, and which state it shows. */
export function greeted(run: Run, station: Station, { payload, _client }: HelloMessage): void {
  const { now, out } = run;
  const { version, boot, reference, isMade } = payload;
  const client = _client.socketId;
  const isNew = station.clients[client] === undefined;
  station.clients[client] = now;
  if (boot && boot !== station.boot && reference && station.phase === "idle" && station.notice === null) {
    say(run, station, "error", fill(run.t.restarted, { reference }));
    run.changed.add(station);
  }
  if (isNew || boot !== station.boot || version !== station.version) {
    sendState(run, station, client, true);
  } else {
    out.screen.push({
      topic: "alive",
      station: station.name,
      payload: { now },
      _client: { socketId: client },
    });
  }
  if (isNew || isMade) {
    sendChart(run, station, client);
  }
}

/** The checks report changes only: a device that was away between two of them counts as they have found it. */
function forgetFailure({ now, peers, settings, changed }: Run, station: Station, device: string): void {
  const { checked, failedAt } = peers[device] ?? {};
  if (checked && failedAt !== undefined && now - failedAt > settings.answerWithinMs) {
    peers[device] = { ...checked, checked };
    changed.add(station);
  }
}

/** What was not discarded is tried again after the same time, but not while a check finds that the device is away. */
function isForgotten(
  { now, peers, settings }: Run,
  { jobAt, recordingSince }: Station,
  device: string,
): boolean {
  const isAway = peers[device]?.checked?.ok === false;
  return !isAway && now - Math.max(jobAt, recordingSince) > settings.forgottenAfterMs;
}

/** Each second. */
export function ticked(run: Run, station: Station): void {
  const place = placeOf(run, station);
  if (place === undefined) {
    return;
  }
  forgetFailure(run, station, place.device);
  sendAgain(run, station);
  settle(run, station);
  decide(run, station);
  const { phase, parcel, labelOf } = station;
  if (labelOf !== null && labelledParcel(run, station) === undefined) {
    // The next scan is that of a parcel again, and nothing may ask for a label any more.
    station.notice = station.notice?.at === labelOf.at ? null : station.notice;
    station.labelOf = null;
    run.changed.add(station);
  }
  if (phase === "question" && run.now - station.jobAt > run.settings.forgottenAfterMs) {
    leave(station);
    run.changed.add(station);
  } else if (phase === "recording" && parcel !== null && isForgotten(run, station, place.device)) {
    cancel(run, station, parcel, true);
    run.changed.add(station);
  } else if (isBusy(phase) && run.now - station.jobAt > run.settings.answerWithinMs) {
    failed(run, station, phase, { message: run.t.noAnswer, cause: { outcome: "unknown" } });
    run.changed.add(station);
  }
  for (const [client, seenAt] of Object.entries(station.clients)) {
    if (run.now - seenAt > 60_000) {
      delete station.clients[client];
    }
  }
}

/** What a device shows as its status. */
export function noted(run: Run, { status }: StatusMessage): void {
  const { peers, settings, t } = run;
  const { fill: colour, text, source, clockAhead } = status;
  const before = peers[source.name];
  const ok = colour === "green";
  const clock = clockAhead === undefined ? {} : { clockAhead };
  const checked = { ok, text: ok ? t.answers : text, ...clock };
  peers[source.name] = { ...checked, checked };
  if (before?.text !== checked.text || before.ok !== ok) {
    Object.values(run.stations)
      .filter(({ name }) => settings.places[name]?.device === source.name)
      .forEach((one) => {
        run.changed.add(one);
        doubt(run, one);
      });
  }
}

/** One of the clouds has answered, or not. */
export function cloudAnswered(
  { clouds, stations, settings, t, changed }: Run,
  { cloud, error }: CloudMessage,
): void {
  const silent = ["ERR_UNREACHABLE", "ERR_TIMEOUT", "ERR_CONNECTION_LOST"].includes(error?.code ?? "");
  const answer = { ok: !error, text: !error ? t.answers : silent ? t.noDevice : t.notReady };
  if (clouds[cloud]?.text !== answer.text) {
    clouds[cloud] = answer;
    Object.values(stations)
      .filter(({ name }) => settings.places[name]?.cloud === cloud)
      .forEach((one) => changed.add(one));
  }
}

/** A device that cannot be reached may have been switched off: then it does not record any more. */
function doubt(run: Run, station: Station): void {
  const { parcel, phase } = station;
  const isFilmed = phase === "recording" || (phase === "measuring" && !parcel?.result);
  if (isFilmed && parcel?.video && run.peers[placeOf(run, station)?.device ?? ""]?.ok === false) {
    parcel.doubt = true;
  }
}

/** A command that went through, or that found no device, says the same as the next check would. */
export function heardFrom(run: Run, station: Station, error: CaughtError | undefined): void {
  const { peers, t, now } = run;
  const { device = "" } = placeOf(run, station) ?? {};
  if (error?.code === "ERR_UNREACHABLE") {
    peers[device] = { ...peers[device], ok: false, text: t.noDevice, failedAt: now };
    doubt(run, station);
  } else if (!error) {
    const { failedAt: _, ...before } = peers[device] ?? {};
    peers[device] = { ...before, ok: true, text: t.answers };
  }
}

/** Shows what has changed to all who look at a station. */
export function showChanges(run: Run): void {
  for (const one of run.changed) {
    one.version += 1;
    one.phaseAt = one.phase === one.lastPhase ? one.phaseAt : run.now;
    one.lastPhase = one.phase;
    for (const client of Object.keys(one.clients)) {
      sendState(run, one, client, false);
      if (one.chart) {
        sendChart(run, one, client);
      }
    }
    one.chart = false;
  }
}

function sendState(run: Run, station: Station, socketId: string, withTexts: boolean): void {
  const { now, t, peers, clouds, settings } = run;
  const { boot, version, phase, operator, notice, inputs, unknown, recordingSince, name } = station;
  const { inquiry, labelOf, knowsBadges } = station;
  const { device = "", cloud } = placeOf(run, station) ?? {};
  const { parcels, failures, since, until } = station.shift;
  const peer = peers[device];
  const isBadge = new RegExp(settings.badge).test(settings.badgeExample);
  const payload: ScreenState = {
    boot,
    version,
    now,
    phase,
    operator,
    withSignIn: settings.withSignIn,
    label: device,
    notice,
    inputs,
    since: recordingSince,
    unknown,
    parcel: shownOf(station.parcel ?? station.shown),
    asked: inquiry && { reference: inquiry.reference, note: inquiry.note, color: inquiry.color },
    labelOf: (labelOf === null ? undefined : entryOf(station, labelOf.parcel)?.reference) ?? "",
    badge: isBadge && !knowsBadges ? settings.badgeExample : "",
    readsAloud: settings.readsAloud,
    // What its check has found can name addresses and settings, which are for the supervisor.
    device: peer === undefined ? null : { ok: peer.ok, text: peer.ok ? t.answers : t.noDevice },
    ...(cloud ? { cloud: clouds[cloud] ?? null } : {}),
    shift: { parcels, failures, since, until },
    history: station.history.flatMap((one) => shownOf(one) ?? []),
    ...(withTexts ? { texts: t, language: settings.language } : {}),
  };
  run.out.screen.push({ topic: "state", station: name, _client: { socketId }, payload });
}

function sendChart({ t, settings, out }: Run, { shift }: Station, socketId: string): void {
  const counts = Object.entries(shift.hours).flatMap(([hour, { parcels, failures }]) => [
    { hour, series: t.parcels, count: parcels },
    { hour, series: t.failures, count: failures },
  ]);
  out.chart.push({ payload: rowsByHour(counts, settings.language), _client: { socketId } });
}

function shownOf(parcel: Parcel | null): ShownParcel | null {
  if (parcel === null) {
    return null;
  }
  const packages = parcel.packages.map(({ id, evidence, holds, link }) => ({ id, evidence, holds, link }));
  const { billable } = parcel;
  const shown =
    billable !== null && "problem" in billable ? { problem: "", reason: billable.reason } : billable;
  const labels = parcel.labels.map(({ number }) => number);
  return { ...parcel, labels, billable: shown, packages, evidence: evidenceOf(parcel) };
}

/** How the evidence of a parcel is: of several packages, the one that needs somebody most. */
function evidenceOf({ packages }: Parcel): EvidenceState | "" {
  const worstFirst = ["failed", "incomplete", "late", "waiting", "saved"] as const;
  return worstFirst.find((state) => packages.some(({ evidence }) => evidence === state)) ?? "";
}

/** What example 31, the supervisor's page, reads: how every station of this tab is, whether a page shows it or not. */
export function published(run: Run): PublishedStation[] {
  return Object.entries(run.settings.places).flatMap(([name, { device }]) => {
    const one = stationNamed(run, name);
    if (one === undefined) {
      return [];
    }
    const { phase, phaseAt, operator, history, shift, parcel, problem } = one;
    const shown = history.map((entry) => ({
      id: entry.id,
      reference: entry.reference,
      operator: entry.operator,
      at: entry.at,
      state: entry.state,
      evidence: evidenceOf(entry),
      summary: entry.result?.summary ?? "",
    }));
    const states = history.flatMap(({ packages }) => packages.map(({ evidence }) => evidence));
    return {
      name,
      device,
      peer: run.peers[device],
      phase,
      phaseAt,
      doubt: parcel?.doubt === true,
      recorded: parcel?.recorded === true,
      operator,
      parcel: parcel?.reference ?? null,
      problem,
      ...shift,
      history: shown,
      last: shown[0] ?? null,
      waiting: states.filter((state) => state === "waiting" || state === "late").length,
    };
  });
}
