import { readFile } from "node:fs/promises";
import * as v from "valibot";
import { packageFile } from "../../package/package-files.ts";
import { interpolate, type Value } from "../../errors/interpolation.ts";
import { formatBytes } from "../../rules/bytes.ts";
import type { Language } from "../../rules/languages.ts";
import { reportTexts, type ReportTextKey } from "./report-texts.ts";

/** The texts and formats of one language. */
export interface ReportTexts {
  readonly language: Language;
  text(key: ReportTextKey, values?: Readonly<Record<string, Value>>): string;
  number(value: number): string;
  size(bytes: number): string;
}

const catalog = v.object({ report: v.optional(v.record(v.string(), v.string()), {}) });

/** Reads the texts of a language from its catalog; a text that it does not have is in English. */
export async function readReportTexts(language: Language): Promise<ReportTexts> {
  const file = packageFile(`nodes/device/locales/${language}/device.json`);
  const { report } = v.parse(catalog, JSON.parse(await readFile(file, "utf8")));
  // Numbers as they were measured: rounding would change them, and a separator for thousands may look like a point.
  const numbers = new Intl.NumberFormat(language, { useGrouping: false, maximumFractionDigits: 20 });
  return {
    language,
    text: (key, values = {}) => interpolate(report[key] ?? reportTexts[key], values),
    number: (value) => numbers.format(value),
    size: (bytes) => formatBytes(bytes, language),
  };
}
