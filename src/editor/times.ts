const units = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
] as const;

/** "3 minutes ago", in the editor's language; undefined where it is no time. Times are UTC, said or not, as the cloud has them. */
export function ago(time: string): string | undefined {
  const hasZone = /(?:z|[+-]\d\d:?\d\d)$/i.test(time);
  const seconds = (Date.parse(hasZone ? time : `${time}Z`) - Date.now()) / 1000;
  if (Number.isNaN(seconds)) {
    return undefined;
  }
  // A clock that is ahead shall not promise anything for tomorrow.
  const past = Math.min(0, seconds);
  const [unit, length] = units.find(([, one]) => -past >= one) ?? ["second", 1];
  return new Intl.RelativeTimeFormat(RED.i18n.lang(), { numeric: "auto" }).format(
    Math.round(past / length),
    unit,
  );
}
