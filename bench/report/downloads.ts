import { commandNames } from "../parts/download-commands.ts";
import type { DownloadRow } from "../parts/downloads.ts";
import { figure, fileSize, megabytes, table, times, unique } from "./table.ts";

/** How long a contender took, by the name of its commands. */
export function secondsOf(
  rows: readonly DownloadRow[],
  { bytes, atOnce }: Pick<DownloadRow, "bytes" | "atOnce">,
  contender: string,
): number | null {
  const found = rows.find(
    (row) => row.bytes === bytes && row.atOnce === atOnce && row.contender === contender,
  );
  return found?.seconds ?? null;
}

export function downloadsSection(rows: readonly DownloadRow[]): string {
  const sizes = unique(rows.map(({ bytes, atOnce }) => `${bytes} ${atOnce}`)).map((key) =>
    rows.filter(({ bytes, atOnce }) => `${bytes} ${atOnce}` === key),
  );
  return sizes.map(sizeSection).join("\n\n");
}

function sizeSection(rows: readonly DownloadRow[]): string {
  const [first] = rows;
  if (first === undefined) {
    return "";
  }
  const { bytes, atOnce, problem } = first;
  const title = `### ${fileSize(bytes)}, ${atOnce === 1 ? "one" : atOnce} at a time`;
  return rows.length === 1 && problem !== null
    ? `${title}\n\nNot measured: ${problem}.`
    : `${title}\n\n${sizeTable(rows)}`;
}

function sizeTable(rows: readonly DownloadRow[]): string {
  const [first] = rows;
  if (first === undefined) {
    return "";
  }
  const curl = secondsOf(rows, first, commandNames.curl);
  const checked = secondsOf(rows, first, commandNames.checked);
  const ratio = (seconds: number | null, other: number | null) =>
    seconds === null || other === null ? null : times(seconds / other);
  return table(
    ["contender", "seconds", "of curl", "of curl, sync and sha256sum", "memory above idle"],
    rows.map((row) => [
      row.runtime === null ? `\`${row.contender}\`` : `${row.contender}, ${row.runtime}`,
      row.problem ?? (row.seconds === null ? null : figure(row.seconds)),
      ratio(row.seconds, curl),
      ratio(row.seconds, checked),
      row.memoryBytes === null ? null : megabytes(row.memoryBytes),
    ]),
  );
}
