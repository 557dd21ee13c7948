import { instantOf, isUnset } from "../../../rules/instants.ts";
import { visibleText } from "../../../rules/visible-text.ts";
import type english from "./texts/en-US.json";
import type { Evidence } from "./shapes.ts";

export type TextKey = keyof typeof english;

/** The texts of the page in one language, and how it writes numbers and times. */
export interface Words {
  readonly lang: string;
  say(key: TextKey, values?: Readonly<Record<string, string | number>>): string;
  /** The text for a reason of the server; one that is newer than this page is shown as it is. */
  sayReason(reason: string): string;
  /** What a verification has found; `problem` is English, for a kind that is newer than this page. */
  /** What a time of a package is of. */
  sayWhich(time: string): string;
  sayFinding(finding: { readonly kind: string; readonly problem: string }): string;
  time(iso: string): string;
  /** In numbers, as the search field reads it. */
  day(date: Date): string;
  bytes(count: number): string;
}

export function createWords(lang: string, texts: Readonly<Record<string, string>>): Words {
  const times = new Intl.DateTimeFormat(lang, { dateStyle: "medium", timeStyle: "medium" });
  const days = new Intl.DateTimeFormat(undefined, { calendar: "gregory" });
  const say: Words["say"] = (key, values = {}) =>
    (texts[key] ?? key).replace(/__(\w+?)__/g, (mark, name: string) =>
      isolated(visibleText(String(values[name] ?? mark))),
    );
  return {
    lang,
    say,
    sayWhich: (time) => texts[`time.${time}`] ?? time,
    sayFinding: ({ kind, problem }) => texts[`finding.${kind}`] ?? problem,
    sayReason: (reason) => texts[`reason.${reason}`] ?? reason,
    time(iso) {
      if (isUnset(iso)) {
        return say("notSet");
      }
      const at = instantOf(iso);
      return Number.isNaN(at) ? iso : times.format(at);
    },
    day: (date) => days.format(date),
    bytes(count) {
      const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;
      const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, count)) / 3));
      const format = {
        style: "unit",
        unit: units[power] ?? "byte",
        maximumFractionDigits: power > 1 ? 1 : 0,
      };
      return new Intl.NumberFormat(lang, format as Intl.NumberFormatOptions).format(count / 1000 ** power);
    },
  };
}

/** A name from right to left, such as a Hebrew one, would take a number behind it, such as a date, to its other side. */
function isolated(text: string): string {
  return /[\p{Script=Hebrew}\p{Script=Arabic}]/u.test(text) ? `\u2068${text}\u2069` : text;
}

/** What people call a package: its reference or, without one, an ID. */
export function nameOf(one: Evidence): string {
  return visibleText(
    one.transactionReference ??
      one.barcodeReference ??
      one.customReference1 ??
      one.customReference2 ??
      one.customReference3 ??
      one.transactionId ??
      one.packageId,
  );
}

function numbersOf(lang: string): Intl.NumberFormat {
  return new Intl.NumberFormat(lang, { maximumFractionDigits: 3, useGrouping: false });
}

/** `1.27 kg` */
export function weightOf(
  { weight, unit }: { readonly weight: number; readonly unit: string },
  { lang }: Pick<Words, "lang">,
): string {
  return `${numbersOf(lang).format(weight)} ${unit}`.trim();
}

/** `33.5 × 21 × 12.5 cm, 1.27 kg`; "" if nothing was measured. */
export function sizeOf(one: Evidence, { lang }: Words): string {
  const number = numbersOf(lang);
  const { length, width, height, weight } = one;
  const parts: string[] = [];
  if (length !== null && width !== null && height !== null) {
    const sizes = [length, width, height].map((size) => number.format(size)).join(" × ");
    parts.push(`${sizes} ${one.dimsUnitOfMeasure ?? ""}`.trim());
  }
  if (weight !== null) {
    parts.push(weightOf({ weight, unit: one.weightUnitOfMeasure ?? "" }, { lang }));
  }
  return parts.join(", ");
}
