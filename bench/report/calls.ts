import type { CallContender, CallRow } from "../parts/calls.ts";
import { count, figure, table, times, unique } from "./table.ts";

export function find(
  rows: readonly CallRow[],
  runtime: string,
  call: CallRow["call"],
  inFlight: number,
  contender: CallContender,
): CallRow | undefined {
  return rows.find(
    (row) =>
      row.runtime === runtime &&
      row.call === call &&
      row.inFlight === inFlight &&
      row.contender === contender,
  );
}

export function callsSection(rows: readonly CallRow[]): string {
  return unique(rows.map(({ runtime }) => runtime))
    .map((runtime) =>
      [`### ${runtime}`, callsTable(rows, runtime), storedTable(rows, runtime)].filter(Boolean).join("\n\n"),
    )
    .join("\n\n");
}

/** What it costs that a store keeps each command while it is running; empty if that was not measured. */
function storedTable(all: readonly CallRow[], runtime: string): string {
  const rows = all.filter((row) => row.runtime === runtime && row.contender === "stored");
  if (rows.length === 0) {
    return "";
  }
  const cells = rows.map((row) => {
    const { callsPerSecond, cpuUsPerCall, p50Ms, p99Ms } = row;
    const without = find(all, runtime, row.call, row.inFlight, "ours");
    const ratio = (value: number, other: number | undefined) =>
      other === undefined ? null : times(value / other);
    return [
      `${row.call} with a store, ${row.inFlight}`,
      count(callsPerSecond),
      `${count(cpuUsPerCall)} µs`,
      `${figure(p50Ms)} / ${figure(p99Ms)} ms`,
      ratio(callsPerSecond, without?.callsPerSecond),
      ratio(p50Ms, without?.p50Ms),
      ratio(cpuUsPerCall, without?.cpuUsPerCall),
    ];
  });
  const head = [
    "call, in flight",
    "calls/s",
    "CPU a call",
    "p50 / p99",
    "of without",
    "p50 of without",
    "CPU of without",
  ];
  return table(head, cells);
}

function callsTable(rows: readonly CallRow[], runtime: string): string {
  const ours = rows.filter((row) => row.runtime === runtime && row.contender === "ours");
  return table(
    [
      "call, in flight",
      "calls/s",
      "CPU a call",
      "p50 / p99",
      "core calls/s",
      "core CPU",
      "undici calls/s",
      "undici CPU",
      "of core",
      "CPU of core",
      "of undici",
    ],
    ours.map((row) => {
      const core = find(rows, runtime, row.call, row.inFlight, "core");
      const undici = find(rows, runtime, row.call, row.inFlight, "undici");
      const ratio = (value: number, other: number | undefined) =>
        other === undefined ? null : times(value / other);
      return [
        `${row.call}, ${row.inFlight}`,
        count(row.callsPerSecond),
        `${count(row.cpuUsPerCall)} µs`,
        `${figure(row.p50Ms)} / ${figure(row.p99Ms)} ms`,
        core === undefined ? null : count(core.callsPerSecond),
        core === undefined ? null : `${count(core.cpuUsPerCall)} µs`,
        undici === undefined ? null : count(undici.callsPerSecond),
        undici === undefined ? null : `${count(undici.cpuUsPerCall)} µs`,
        ratio(row.callsPerSecond, core?.callsPerSecond),
        ratio(row.cpuUsPerCall, core?.cpuUsPerCall),
        ratio(row.callsPerSecond, undici?.callsPerSecond),
      ];
    }),
  );
}
