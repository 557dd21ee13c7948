import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Machine } from "./machine.ts";
import type { CallRow } from "./parts/calls.ts";
import type { CodeRow } from "./parts/codes.ts";
import type { DeviceRow } from "./parts/devices.ts";
import type { DownloadRow } from "./parts/downloads.ts";
import type { BareRow } from "./parts/job.ts";
import type { JobRow } from "./parts/jobs.ts";
import type { LogRow } from "./parts/log.ts";
import type { LoadRow } from "./parts/load.ts";
import type { ScanRow } from "./parts/scan.ts";
import type { SearchRow } from "./parts/search.ts";
import type { TogetherRow } from "./parts/together.ts";
import type { VerifyRow } from "./parts/verify.ts";
import type { YearRow } from "./parts/years.ts";

export const partNames = [
  "calls",
  "downloads",
  "together",
  "scan",
  "codes",
  "devices",
  "jobs",
  "job",
  "verify",
  "log",
  "search",
  "years",
  "load",
] as const;
export type PartName = (typeof partNames)[number];

export interface Parts {
  readonly calls?: Measured<{ readonly rows: readonly CallRow[] }>;
  readonly downloads?: Measured<{ readonly rows: readonly DownloadRow[] }>;
  readonly together?: Measured<{ readonly rows: readonly TogetherRow[] }>;
  readonly scan?: Measured<{ readonly rows: readonly ScanRow[] }>;
  readonly codes?: Measured<{ readonly rows: readonly CodeRow[] }>;
  readonly devices?: Measured<{ readonly rows: readonly DeviceRow[] }>;
  readonly jobs?: Measured<{ readonly rows: readonly JobRow[] }>;
  readonly job?: Measured<{ readonly rows: readonly BareRow[] }>;
  readonly verify?: Measured<{ readonly rows: readonly VerifyRow[] }>;
  readonly log?: Measured<{ readonly rows: readonly LogRow[] }>;
  readonly search?: Measured<{ readonly rows: readonly SearchRow[] }>;
  readonly years?: Measured<{ readonly rows: readonly YearRow[] }>;
  readonly load?: Measured<{ readonly rows: readonly LoadRow[] }>;
}

type Measured<T> = T & {
  /** Date of the run: "2026-01-31". */
  readonly on: string;
};

/** The results of one computer: the last run of each part. */
export interface Results {
  readonly machine: Machine;
  readonly parts: Parts;
}

const file = join(import.meta.dirname, "results.json");

export async function readResults(): Promise<Results | null> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as Results;
  } catch {
    return null;
  }
}

export async function writeResults(results: Results): Promise<void> {
  await writeFile(file, `${JSON.stringify(results, null, 2)}\n`);
}

/** Adds new results to earlier ones of the same computer; results of another computer are dropped. */
export function merge(before: Results | null, { machine, parts }: Results): Results {
  const isSame = JSON.stringify(before?.machine) === JSON.stringify(machine);
  return { machine, parts: isSame ? { ...before?.parts, ...parts } : parts };
}
