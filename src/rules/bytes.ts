const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;

/** Formats bytes in a language: "12.3 MB", in German "12,3 MB". */
export function formatBytes(bytes: number, language: string): string {
  let value = bytes;
  let step = 0;
  // A number that would be rounded up to 1000 is shown in the next unit.
  while (value >= 999.5 && step < units.length - 1) {
    value /= 1000;
    step++;
  }
  const digits = step === 0 || value >= 99.95 ? 0 : 1;
  return new Intl.NumberFormat(language, {
    style: "unit",
    unit: units[step] ?? "terabyte",
    // "96 byte" is no plural.
    unitDisplay: step === 0 ? "long" : "short",
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  }).format(value);
}
