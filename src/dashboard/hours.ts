/** How often something happened in an hour: `hour` is in UTC, such as 2026-11-25T08. */
export interface HourCount {
  readonly hour: string;
  readonly series: string;
  readonly count: number;
}

/** A time as every page writes it: 17:52, with the day if that is not the day of `now`. */
export function timeOf(at: number, now: number, language: string): string {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date(now).toDateString();
  return date.toLocaleString(language, {
    ...(isToday ? {} : { day: "numeric", month: "short", year: "numeric" }),
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
}

/** Rows of a chart in the order of time, from counts of hours in UTC. A chart knows an hour by its name: no two have the same. */
export function rowsByHour(counts: readonly HourCount[], language: string): HourCount[] {
  const named = counts
    .toSorted((one, other) => one.hour.localeCompare(other.hour))
    .map(({ hour, series, count }) => {
      const at = new Date(`${hour}:00:00Z`);
      const day = at.toLocaleDateString(language, { month: "numeric", day: "numeric" });
      const time = `${String(at.getHours()).padStart(2, "0")}:00`;
      return { time, withDay: `${day} ${time}`, series, count };
    });
  const times = new Set(named.map(({ time }) => time)).size;
  const isAmbiguous = times < new Set(named.map(({ withDay }) => withDay)).size;
  const rows = new Map<string, HourCount>();
  for (const { time, withDay, series, count } of named) {
    const hour = isAmbiguous ? withDay : time;
    const key = JSON.stringify([hour, series]);
    // When summer time ends, the same hour comes twice.
    rows.set(key, { hour, series, count: count + (rows.get(key)?.count ?? 0) });
  }
  return [...rows.values()];
}
