import type { CallSizes } from "./parts/calls.ts";
import type { CodeSizes } from "./parts/codes.ts";
import type { DeviceSizes } from "./parts/devices.ts";
import type { DownloadSizes } from "./parts/downloads.ts";
import type { BareSizes } from "./parts/job.ts";
import type { JobSizes } from "./parts/jobs.ts";
import type { LogSizes } from "./parts/log.ts";
import type { LoadSizes } from "./parts/load.ts";
import type { ScanSizes } from "./parts/scan.ts";
import type { SearchSizes } from "./parts/search.ts";
import type { TogetherSizes } from "./parts/together.ts";
import type { VerifySizes } from "./parts/verify.ts";
import type { YearSizes } from "./parts/years.ts";

export interface Sizes {
  readonly calls: CallSizes;
  readonly downloads: DownloadSizes;
  readonly together: TogetherSizes;
  readonly scan: ScanSizes;
  readonly codes: CodeSizes;
  readonly devices: DeviceSizes;
  readonly jobs: JobSizes;
  readonly job: BareSizes;
  readonly verify: VerifySizes;
  readonly log: LogSizes;
  readonly search: SearchSizes;
  readonly years: YearSizes;
  readonly load: LoadSizes;
}

const megabyte = 1e6;
const gigabyte = 1e9;

/** What is measured, and how long. `isLong`: also what takes half an hour. */
export function fullSizes(folder: string, isLong: boolean): Sizes {
  return {
    calls: { inFlight: [1, 16, 64], rounds: 3, windowMs: 1_000 },
    downloads: {
      folder,
      sizes: [
        { bytes: 512 * megabyte, atOnce: 1, rounds: 7 },
        { bytes: 512 * megabyte, atOnce: 20, rounds: 1 },
        { bytes: 4 * gigabyte, atOnce: 1, rounds: 3 },
        { bytes: 4 * gigabyte, atOnce: 20, rounds: 1 },
      ],
    },
    together: { atOnce: 20, bytes: 50 * megabyte, videos: 200, postsPerSecond: 100, folder },
    scan: { parcels: 500, folder },
    codes: { rounds: 10, scansEach: 100_000 },
    devices: { devices: [0, 10, 16, 100, 1_000], rounds: 3, windowMs: 800 },
    jobs: { jobs: [100, 1_000, 10_000], waitMs: 20_000, folder },
    job: { jobs: 300, rounds: 5, folder },
    verify: { packages: 16, videoBytes: 100 * megabyte, pictureBytes: megabyte / 2, rounds: 5, folder },
    log: { lines: [1_000, 100_000, 1_000_000], rounds: 200, folder },
    search: { packages: 1_000_000, rounds: 21, folder },
    years: { packages: [1_000, 10_000, ...(isLong ? [100_000] : [])], more: 100, rounds: 21, folder },
    load: {
      rounds: 9,
      others: [
        "node-red-contrib-home-assistant-websocket",
        "@flowfuse/node-red-dashboard",
        "node-red-contrib-s7",
      ],
    },
  };
}

/** Only shows that everything runs; its results mean nothing. */
export function quickSizes(folder: string): Sizes {
  return {
    calls: { inFlight: [1, 4], rounds: 1, windowMs: 100 },
    downloads: { folder, sizes: [{ bytes: 8 * megabyte, atOnce: 1, rounds: 1 }] },
    together: { atOnce: 2, bytes: 8 * megabyte, videos: 4, postsPerSecond: 100, folder },
    scan: { parcels: 5, folder },
    codes: { rounds: 1, scansEach: 1_000 },
    devices: { devices: [0, 10], rounds: 1, windowMs: 100 },
    jobs: { jobs: [10], waitMs: 500, folder },
    job: { jobs: 4, rounds: 1, folder },
    verify: { packages: 2, videoBytes: megabyte, pictureBytes: megabyte / 10, rounds: 1, folder },
    log: { lines: [100, 1_000], rounds: 3, folder },
    search: { packages: 3_000, rounds: 2, folder },
    years: { packages: [12, 24], more: 4, rounds: 2, folder },
    load: { rounds: 1, others: ["node-red-contrib-s7"] },
  };
}
