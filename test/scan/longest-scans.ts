const units = [
  "]C1",
  "10A\x1d",
  "(10)",
  "00",
  "3100",
  "https://a/01/",
  "/01",
  "/10",
  "&1=1",
  "A<GS>",
  "\\(",
  "9400",
  "1 ",
  "%41",
  "a",
];

/** Scans of so many characters in which the parser has as much to do as possible. */
export function longestScans(length: number): string[] {
  return ["", "]C1", "]E0", "(00)", "https://a/01/1"].flatMap((start) =>
    units.map((unit) => (start + unit.repeat(length)).slice(0, length)),
  );
}
