/** Rows of a chart in the order of time, from counts of hours in UTC. A chart knows an hour by its name: no two have the same. */
function rowsByHour(counts) {
  const language = env.get("LANGUAGE");
  const named = counts
    .toSorted((one, other) => one.hour.localeCompare(other.hour))
    .map(({ hour, series, count }) => {
      const at = new Date(`${hour}:00:00Z`);
      const day = at.toLocaleDateString(language, { month: "numeric", day: "numeric" });
      return { day, time: `${String(at.getHours()).padStart(2, "0")}:00`, series, count };
    });
  const different = (nameOf) => new Set(named.map(nameOf)).size;
  const withDay = ({ day, time }) => `${day} ${time}`;
  const nameOf = different(({ time }) => time) < different(withDay) ? withDay : ({ time }) => time;
  const rows = new Map();
  for (const one of named) {
    const { series, count } = one;
    const hour = nameOf(one);
    const key = JSON.stringify([hour, series]);
    // When summer time ends, the same hour comes twice.
    rows.set(key, { hour, series, count: count + (rows.get(key)?.count ?? 0) });
  }
  return [...rows.values()];
}
