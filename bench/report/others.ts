import type { CodeRow } from "../parts/codes.ts";
import type { DeviceRow } from "../parts/devices.ts";
import type { BareRow } from "../parts/job.ts";
import type { JobRow } from "../parts/jobs.ts";
import type { LoadRow } from "../parts/load.ts";
import type { LogRow } from "../parts/log.ts";
import type { ScanRow } from "../parts/scan.ts";
import type { SearchRow } from "../parts/search.ts";
import type { TogetherRow } from "../parts/together.ts";
import type { VerifyRow } from "../parts/verify.ts";
import type { YearRow } from "../parts/years.ts";
import { count, figure, fileSize, kilobytes, megabytes, table, times } from "./table.ts";

export function togetherSection(rows: readonly TogetherRow[]): string {
  return table(
    [
      "videos",
      "seconds",
      "event loop late, p50 / p99 / most",
      "records",
      "p50 / p99 until stored",
      "memory above idle",
    ],
    rows.map((row) => [
      `${row.videos} of ${fileSize(row.bytes)}, ${row.atOnce} at a time, ${row.runtime}`,
      figure(row.seconds),
      `${figure(row.delayP50Ms)} / ${figure(row.delayP99Ms)} / ${figure(row.delayMaxMs)} ms`,
      `${count(row.posts)}, ${row.postsPerSecond}/s`,
      `${figure(row.postP50Ms)} / ${figure(row.postP99Ms)} ms`,
      megabytes(row.memoryBytes),
    ]),
  );
}

export function scanSection(rows: readonly ScanRow[]): string {
  return table(
    ["runtime", "parcels", "p50", "p99", "parcels/s", "CPU a parcel"],
    rows.map((row) => [
      row.runtime,
      count(row.parcels),
      `${figure(row.p50Ms)} ms`,
      `${figure(row.p99Ms)} ms`,
      figure(row.parcelsPerSecond),
      `${figure(row.cpuMsPerParcel)} ms`,
    ]),
  );
}

/** The target: scans per second on one core. */
export const codesWanted = 200_000;

export function codesSection(rows: readonly CodeRow[]): string {
  return table(
    ["code", "scans a second", "of the target"],
    rows.map(({ kind, perSecond, runtime }) => [
      `${kind}, ${runtime}`,
      count(perSecond),
      times(perSecond / codesWanted),
    ]),
  );
}

/** What each device adds to the heap: idle, and idle again after it was used. */
export function heapEach(rows: readonly DeviceRow[], row: DeviceRow): { idle: number; used: number } | null {
  const none = rows.find(({ runtime, devices }) => runtime === row.runtime && devices === 0);
  return none === undefined || row.devices === 0
    ? null
    : {
        idle: (row.heapBytes - none.heapBytes) / row.devices,
        used: (row.usedHeapBytes - none.usedHeapBytes) / row.devices,
      };
}

/** How much longer Node-RED takes to start with the devices. */
export function startMore(rows: readonly DeviceRow[], row: DeviceRow): number | null {
  const none = rows.find(({ runtime, devices }) => runtime === row.runtime && devices === 0);
  return none === undefined ? null : row.startMs - none.startMs;
}

/** The calls per second to this number of devices, as a fraction of those to sixteen. */
export function keptOfSixteen(
  rows: readonly DeviceRow[],
  row: DeviceRow,
  rate: "callsPerSecond" | "undiciPerSecond",
): number | null {
  const sixteen = rows.find(({ runtime, devices }) => runtime === row.runtime && devices === 16)?.[rate];
  const calls = row[rate];
  return calls === null || sixteen === undefined || sixteen === null ? null : calls / sixteen;
}

export function devicesSection(rows: readonly DeviceRow[]): string {
  return table(
    [
      "devices",
      "start",
      "heap each, idle",
      "heap each, after use",
      "calls/s",
      "of 16",
      "undici alone",
      "of 16",
    ],
    rows.map((row) => {
      const heap = heapEach(rows, row);
      const kept = keptOfSixteen(rows, row, "callsPerSecond");
      const keptByUndici = keptOfSixteen(rows, row, "undiciPerSecond");
      return [
        `${count(row.devices)}, ${row.runtime}`,
        `${count(row.startMs)} ms`,
        heap === null ? null : kilobytes(heap.idle),
        heap === null ? null : kilobytes(heap.used),
        row.callsPerSecond === null ? null : count(row.callsPerSecond),
        kept === null ? null : times(kept),
        row.undiciPerSecond === null ? null : count(row.undiciPerSecond),
        keptByUndici === null ? null : times(keptByUndici),
      ];
    }),
  );
}

export function jobsSection(rows: readonly JobRow[]): string {
  return table(
    ["jobs at once", "a job", "CPU a job", "memory above idle", "all waiting"],
    rows.map((row) => [
      `${count(row.jobs)}, ${row.runtime}`,
      `${figure(row.msPerJob)} ms`,
      `${figure(row.cpuMsPerJob)} ms`,
      megabytes(row.memoryBytes),
      megabytes(row.waitingBytes),
    ]),
  );
}

export function jobSection(rows: readonly BareRow[]): string {
  return table(
    ["at a time", "a job", "the script", "ratio", "CPU of a job", "of the script", "ratio"],
    rows.map(({ atOnce, archive, bare }) => [
      String(atOnce),
      `${figure(archive.ms)} ms`,
      `${figure(bare.ms)} ms`,
      times(archive.ms / bare.ms),
      `${figure(archive.cpuMs)} ms`,
      `${figure(bare.cpuMs)} ms`,
      times(archive.cpuMs / bare.cpuMs),
    ]),
  );
}

const million = 1_000_000;

/** What a million packages cost if each further one costs as much as those between the last two sizes; null for fewer sizes. */
function millionOf(rows: readonly YearRow[], key: Exclude<keyof YearRow, "packages">): number | null {
  const [one, other] = rows.slice(-2);
  if (one === undefined || other === undefined) {
    return null;
  }
  const each = (other[key] - one[key]) / (other.packages - one.packages);
  return other[key] + Math.max(0, each) * (million - other.packages);
}

export function yearsSection(rows: readonly YearRow[]): string {
  const ms = (value: number): string => `${figure(value)} ms`;
  const seconds = (value: number): string => `${figure(value)} s`;
  const [verify, prune, rebuild] = (
    ["verifyCpuSeconds", "pruneCpuSeconds", "rebuildCpuSeconds"] as const
  ).map((key) => millionOf(rows, key));
  const cpu = (value: number | null | undefined): string | null =>
    value === null || value === undefined ? null : seconds(value);
  return table(
    [
      "packages",
      "one more",
      "its CPU",
      "database a package",
      "newest",
      "search",
      "verify, CPU",
      "prune, nothing due, CPU",
      "rebuild, CPU",
    ],
    [
      ...rows.map((row) => [
        count(row.packages),
        ms(row.archiveMs),
        ms(row.archiveCpuMs),
        kilobytes(row.databaseBytes),
        ms(row.newestMs),
        ms(row.searchMs),
        seconds(row.verifyCpuSeconds),
        seconds(row.pruneCpuSeconds),
        seconds(row.rebuildCpuSeconds),
      ]),
      [`${count(million)}, calculated`, null, null, null, null, null, cpu(verify), cpu(prune), cpu(rebuild)],
    ],
  );
}

export function verifySection(rows: readonly VerifyRow[]): string {
  return table(
    ["packages", "a second", "cores used", "`sha256sum`, a second", "ratio"],
    rows.map(({ runtime, packages, bytes, bytesPerSecond, coresUsed, sumBytesPerSecond }) => [
      `${packages} with ${megabytes(bytes)}, ${runtime}`,
      megabytes(bytesPerSecond),
      figure(coresUsed),
      sumBytesPerSecond === null ? "not installed" : megabytes(sumBytesPerSecond),
      sumBytesPerSecond === null ? "–" : times(bytesPerSecond / sumBytesPerSecond),
    ]),
  );
}

export function logSection(rows: readonly LogRow[]): string {
  const ms = (value: number): string => `${figure(value)} ms`;
  return table(
    ["lines", "one more", "first root", "root", "first proof", "next proof"],
    rows.map((row) => [
      count(row.lines),
      ...[row.appendMs, row.firstRootMs, row.rootMs, row.proofMs, row.nextProofMs].map(ms),
    ]),
  );
}

export function loadSection(rows: readonly LoadRow[]): string {
  return table(
    ["package", "files of nodes", "load", "installed"],
    rows.map((row) => [
      `${row.package}, ${row.runtime}`,
      row.nodeTypes === null ? null : count(row.nodeTypes),
      row.problem ?? (row.loadMs === null ? null : `${count(row.loadMs)} ms`),
      row.installedBytes === null ? null : `${(row.installedBytes / 1e6).toFixed(1)} MB`,
    ]),
  );
}

export function searchSection(rows: readonly SearchRow[]): string {
  return table(
    ["search", "found", "median", "most"],
    rows.map(({ database, packages, search, found, medianMs, mostMs }) => [
      `${search}, ${count(packages)} packages, ${database}`,
      String(found),
      `${figure(medianMs)} ms`,
      `${figure(mostMs)} ms`,
    ]),
  );
}
