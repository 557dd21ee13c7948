import { readFileSync, writeFileSync } from "node:fs";
import type { LoopResult } from "./protocol.ts";

const sampleEveryMs = 20;

/** Counts calls and measures their latencies, and the processor time and memory that the process takes for them. */
export class Meter {
  #startedAt = 0;
  #cpu = process.cpuUsage();
  #peakRss = 0;
  #sampler: NodeJS.Timeout | undefined;
  #latencies: number[] = [];

  get elapsedMs(): number {
    return performance.now() - this.#startedAt;
  }

  start(): void {
    forgetPeak();
    this.#peakRss = process.memoryUsage.rss();
    this.#sampler = setInterval(() => this.#sample(), sampleEveryMs);
    this.#cpu = process.cpuUsage();
    this.#startedAt = performance.now();
  }

  count(latencyMs: number): void {
    this.#latencies.push(latencyMs);
  }

  stop(): LoopResult {
    const ms = this.elapsedMs;
    const { user, system } = process.cpuUsage(this.#cpu);
    clearInterval(this.#sampler);
    this.#sample();
    const sorted = Float64Array.from(this.#latencies).sort();
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
    return {
      calls: sorted.length,
      ms,
      cpuMs: (user + system) / 1000,
      p50Ms: at(0.5),
      p99Ms: at(0.99),
      peakRssBytes: readPeak() ?? this.#peakRss,
    };
  }

  #sample(): void {
    this.#peakRss = Math.max(this.#peakRss, process.memoryUsage.rss());
  }
}

/** Linux keeps the peak itself, without gaps between samples. */
function forgetPeak(): void {
  try {
    writeFileSync("/proc/self/clear_refs", "5");
  } catch {
    // On other systems the samples are used.
  }
}

function readPeak(): number | undefined {
  try {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  } catch {
    return undefined;
  }
}
