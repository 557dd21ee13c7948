import type { Clocks, Station } from "./types.ts";

/** The clock of the day is corrected all the time, by less than this. */
const leastMs = 1_000;

/** Where somebody has set the clock since a moment, moves what waits by as much: no time has passed for a recording or a command. */
export function followClock(
  stations: Readonly<Record<string, Station>>,
  before: Clocks | undefined,
  { at, steady, origin }: Clocks,
): void {
  const byMs = before?.origin === origin ? at - before.at - (steady - before.steady) : 0;
  if (Math.abs(byMs) < leastMs) {
    return;
  }
  for (const station of Object.values(stations)) {
    const { jobAt, recordingSince, phaseAt, labelOf, notice, clients } = station;
    station.phaseAt = phaseAt + byMs;
    station.jobAt = jobAt && jobAt + byMs;
    station.recordingSince = recordingSince && recordingSince + byMs;
    station.clients = Object.fromEntries(
      Object.entries(clients).map(([client, seenAt]) => [client, seenAt + byMs]),
    );
    if (labelOf !== null) {
      // The notice that asks for a label is known by its time.
      station.notice = notice?.at === labelOf.at ? { ...notice, at: notice.at + byMs } : notice;
      station.labelOf = { ...labelOf, at: labelOf.at + byMs };
    }
  }
}
