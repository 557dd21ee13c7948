/** A cell; null if it is empty. */
export type Cell = string | null;

/** A table in Markdown with columns of equal width; the first is text, the others are figures. */
export function table(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const cells = [head, ...rows.map((row) => row.map((cell) => cell ?? "–"))];
  const minimum = 3;
  const widths = head.map((_, column) => Math.max(minimum, ...cells.map((row) => row[column]?.length ?? 0)));
  const pad = (cell: string, column: number): string => {
    const width = widths[column] ?? 0;
    return column === 0 ? cell.padEnd(width) : cell.padStart(width);
  };
  const rule = widths.map((width, column) =>
    column === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`,
  );
  const [first = [], ...others] = cells.map((row) => row.map(pad));
  return [first, rule, ...others].map((row) => `| ${row.join(" | ")} |`).join("\n");
}

export function count(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

/** A number with three significant digits. */
export function figure(value: number): string {
  return value >= 100 ? count(value) : value.toPrecision(3);
}

export function times(value: number): string {
  return `${value.toFixed(2)}×`;
}

export function megabytes(bytes: number): string {
  return `${count(bytes / 1e6)} MB`;
}

export function kilobytes(bytes: number): string {
  return `${(bytes / 1e3).toFixed(1)} kB`;
}

/** The size of a file: "512 MB", "4 GB". */
export function fileSize(bytes: number): string {
  return bytes >= 1e9 ? `${bytes / 1e9} GB` : megabytes(bytes);
}

export function unique<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}
