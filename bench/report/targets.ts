import { commandNames } from "../parts/download-commands.ts";
import { flowNames } from "../parts/download-flows.ts";
import type { DownloadRow } from "../parts/downloads.ts";
import type { Results } from "../results.ts";
import { find } from "./calls.ts";
import { secondsOf } from "./downloads.ts";
import { codesWanted, heapEach, keptOfSixteen, startMore } from "./others.ts";
import { count, fileSize, kilobytes, megabytes, times, unique } from "./table.ts";

/** A target of the package on one runtime, and what was measured. */
export interface Target {
  readonly runtime: string;
  readonly what: string;
  readonly wanted: string;
  readonly got: string;
  readonly isReached: boolean;
}

type Compare = "least" | "most";

/** The targets of the package, as far as they were measured. */
export function targets({ parts }: Results): Target[] {
  const all: Target[] = [];
  const add = (
    runtime: string,
    what: string,
    [compare, limit, say]: readonly [Compare, number, (value: number) => string],
    value: number | null | undefined,
  ): void => {
    if (value === null || value === undefined || Number.isNaN(value)) {
      return;
    }
    const isReached = compare === "least" ? value >= limit : value <= limit;
    const wanted = `${compare === "least" ? "at least" : "at most"} ${say(limit)}`;
    all.push({ runtime, what, wanted, got: say(value), isReached });
  };

  const calls = parts.calls?.rows ?? [];
  for (const runtime of unique(calls.map((row) => row.runtime))) {
    const ratio = (
      call: "media-list" | "measure",
      inFlight: number,
      other: "core" | "undici",
      key: "callsPerSecond" | "cpuUsPerCall",
    ): number | null => {
      const ours = find(calls, runtime, call, inFlight, "ours");
      const theirs = find(calls, runtime, call, inFlight, other);
      return ours === undefined || theirs === undefined ? null : ours[key] / theirs[key];
    };
    const list = "media-list, 16 in flight:";
    add(
      runtime,
      `${list} calls per second, compared with core`,
      ["least", 4, times],
      ratio("media-list", 16, "core", "callsPerSecond"),
    );
    add(
      runtime,
      `${list} processor time per call, compared with core`,
      ["most", 0.25, times],
      ratio("media-list", 16, "core", "cpuUsPerCall"),
    );
    add(
      runtime,
      `${list} calls per second, compared with undici alone`,
      ["least", 0.6, times],
      ratio("media-list", 16, "undici", "callsPerSecond"),
    );
    const measure = "measure, one device:";
    add(
      runtime,
      `${measure} calls per second, compared with core`,
      ["least", 2, times],
      ratio("measure", 1, "core", "callsPerSecond"),
    );
    add(
      runtime,
      `${measure} processor time per call, compared with core`,
      ["most", 0.5, times],
      ratio("measure", 1, "core", "cpuUsPerCall"),
    );
  }

  const downloads = parts.downloads?.rows ?? [];
  for (const row of downloads.filter((one) => one.contender === flowNames.ours && one.runtime !== null)) {
    const runtime = row.runtime ?? "";
    const what = `${fileSize(row.bytes)}, ${row.atOnce === 1 ? "one" : row.atOnce} at a time:`;
    const memoryLimit = (row.atOnce === 1 ? 100 : 200) * 1e6;
    if (row.atOnce === 1) {
      add(
        runtime,
        `${what} time, compared with \`curl -o\``,
        ["most", 1.6, times],
        ratioTo(downloads, row, commandNames.curl),
      );
      add(
        runtime,
        `${what} time, compared with \`${commandNames.checked}\``,
        ["most", 0.5, times],
        ratioTo(downloads, row, commandNames.checked),
      );
    }
    add(runtime, `${what} memory above idle`, ["most", memoryLimit, megabytes], row.memoryBytes);
  }

  for (const row of parts.together?.rows ?? []) {
    const what = `${row.atOnce} videos of ${fileSize(row.bytes)} at a time, ${row.postsPerSecond} records a second:`;
    const milliseconds = (ms: number): string => `${ms.toFixed(1)} ms`;
    add(row.runtime, `${what} p99 of the event loop's delay`, ["most", 20, milliseconds], row.delayP99Ms);
  }

  for (const { runtime, kind, perSecond } of parts.codes?.rows ?? []) {
    add(runtime, `${kind}: scans per second on one core`, ["least", codesWanted, count], perSecond);
  }

  const devices = parts.devices?.rows ?? [];
  for (const row of devices.filter((one) => one.devices === 1_000)) {
    const what = "1,000 devices:";
    const heap = heapEach(devices, row);
    const startMs = startMore(devices, row);
    add(row.runtime, `${what} memory per device, idle`, ["most", 30e3, kilobytes], heap?.idle);
    add(row.runtime, `${what} memory per device, after use`, ["most", 30e3, kilobytes], heap?.used);
    add(
      row.runtime,
      `${what} additional time to start`,
      ["most", 2, (s) => `${s.toFixed(2)} s`],
      startMs === null ? null : startMs / 1000,
    );
    add(
      row.runtime,
      `${what} calls per second, compared with 16 devices`,
      ["least", 0.8, times],
      keptOfSixteen(devices, row, "callsPerSecond"),
    );
  }

  for (const row of (parts.jobs?.rows ?? []).filter(({ jobs }) => jobs === 10_000)) {
    const what = "10,000 archive jobs:";
    add(row.runtime, `${what} memory above idle, all waiting`, ["most", 100e6, megabytes], row.waitingBytes);
  }

  for (const { runtime, bytesPerSecond, sumBytesPerSecond } of parts.verify?.rows ?? []) {
    const ratio = sumBytesPerSecond === null ? null : bytesPerSecond / sumBytesPerSecond;
    add(
      runtime,
      "verify packages: bytes per second, compared with `sha256sum`",
      ["least", 0.8, times],
      ratio,
    );
  }

  for (const { database, packages, search, medianMs } of parts.search?.rows ?? []) {
    add(
      database,
      `search ${count(packages)} packages: ${search}`,
      ["most", 10, (ms) => `${ms.toFixed(1)} ms`],
      medianMs,
    );
  }

  const loads = parts.load?.rows ?? [];
  for (const row of loads.filter((one) => one.package.startsWith("@dimflow/"))) {
    add(row.runtime, "time to load all node types", ["most", 100, (ms) => `${ms.toFixed(0)} ms`], row.loadMs);
    add(
      row.runtime,
      "size when installed, with dependencies",
      ["most", 15e6, (bytes) => `${(bytes / 1e6).toFixed(1)} MB`],
      row.installedBytes,
    );
  }
  return all;
}

function ratioTo(rows: readonly DownloadRow[], row: DownloadRow, command: string): number | null {
  const theirs = secondsOf(rows, row, command);
  return row.seconds === null || theirs === null ? null : row.seconds / theirs;
}
