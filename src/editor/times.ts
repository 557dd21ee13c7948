import { instantOf } from "../rules/instants.ts";

const units = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
] as const;

/** "3 minutes ago", in the editor's language; undefined for an invalid time. */
export function ago(time: string): string | undefined {
  const seconds = (instantOf(time) - Date.now()) / 1000;
  if (Number.isNaN(seconds)) {
    return undefined;
  }
  // If the other clock is ahead, the time must not appear to be in the future.
  const past = Math.min(0, seconds);
  const [unit, length] = units.find(([, one]) => -past >= one) ?? ["second", 1];
  return new Intl.RelativeTimeFormat(RED.i18n.lang(), { numeric: "auto" }).format(
    Math.round(past / length),
    unit,
  );
}
