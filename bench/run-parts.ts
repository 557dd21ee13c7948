import { measureCalls } from "./parts/calls.ts";
import { measureCodes } from "./parts/codes.ts";
import { measureDevices } from "./parts/devices.ts";
import { measureDownloads } from "./parts/downloads.ts";
import { measureJob } from "./parts/job.ts";
import { measureJobs } from "./parts/jobs.ts";
import { measureLoad } from "./parts/load.ts";
import { measureLog } from "./parts/log.ts";
import { measureScan } from "./parts/scan.ts";
import { measureSearch } from "./parts/search.ts";
import { measureTogether } from "./parts/together.ts";
import { measureVerify } from "./parts/verify.ts";
import { measureYears } from "./parts/years.ts";
import type { Progress } from "./progress.ts";
import type { PartName, Parts } from "./results.ts";
import type { Runtime } from "./runtimes.ts";
import type { Sizes } from "./sizes.ts";

/** Runs one part on each runtime. */
export async function runPart(
  name: PartName,
  runtimes: readonly Runtime[],
  sizes: Sizes,
  progress: Progress,
): Promise<Parts> {
  const on = new Date().toISOString().slice(0, 10);
  const each = async <T>(run: (runtime: Runtime) => Promise<T>): Promise<T[]> => {
    const all: T[] = [];
    for (const runtime of runtimes) {
      all.push(await run(runtime));
    }
    return all;
  };
  switch (name) {
    case "calls":
      return { calls: { on, rows: (await each((one) => measureCalls(one, sizes.calls, progress))).flat() } };
    case "downloads":
      return { downloads: { on, rows: await measureDownloads(runtimes, sizes.downloads, progress) } };
    case "together": {
      const rows = await each((one) => measureTogether(one, sizes.together, progress));
      return { together: { on, rows } };
    }
    case "scan":
      return { scan: { on, rows: await each((one) => measureScan(one, sizes.scan, progress)) } };
    case "codes":
      return { codes: { on, rows: measureCodes(sizes.codes, progress) } };
    case "devices": {
      const rows = (await each((one) => measureDevices(one, sizes.devices, progress))).flat();
      return { devices: { on, rows } };
    }
    case "jobs":
      return { jobs: { on, rows: (await each((one) => measureJobs(one, sizes.jobs, progress))).flat() } };
    case "job":
      return { job: { on, rows: await measureJob(sizes.job, progress) } };
    case "verify":
      return { verify: { on, rows: await measureVerify(sizes.verify, progress) } };
    case "log":
      return { log: { on, rows: await measureLog(sizes.log, progress) } };
    case "search":
      return { search: { on, rows: await measureSearch(sizes.search, progress) } };
    case "years":
      return { years: { on, rows: await measureYears(sizes.years, progress) } };
    case "load":
      return { load: { on, rows: (await each((one) => measureLoad(one, sizes.load, progress))).flat() } };
  }
}
