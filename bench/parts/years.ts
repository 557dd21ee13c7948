import { mkdtemp, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { migrations } from "../../src/database/schema.ts";
import { SqliteDatabase } from "../../src/database/sqlite-database.ts";
import { type Query, searchIndex } from "../../src/evidence/search.ts";
import { forkAndHear } from "../fork.ts";
import { median } from "../median.ts";
import type { Progress } from "../progress.ts";
import { startServer } from "../server-process.ts";
import { costOf } from "./job.ts";

/** What an archive costs that has so many packages. */
export interface YearRow {
  readonly packages: number;
  /** One more. */
  readonly archiveMs: number;
  readonly archiveCpuMs: number;
  /** Of the database, for each package. */
  readonly databaseBytes: number;
  /** The newest 25 packages, and those of a text, in the index. */
  readonly newestMs: number;
  readonly searchMs: number;
  readonly verifyCpuSeconds: number;
  /** When nothing is old enough. */
  readonly pruneCpuSeconds: number;
  readonly rebuildCpuSeconds: number;
}

export interface YearSizes {
  readonly packages: readonly number[];
  /** How many more are archived one after the other at each size. */
  readonly more: number;
  readonly rounds: number;
  /** An existing folder on the disk to write to. */
  readonly folder: string;
}

const mediaBytes = 2_000;
const fillAtOnce = 16;
/** As many as the page asks for. */
const limit = 25;

/** Fills an archive with jobs, and measures at each size what one more, looking up and the upkeep take. */
export async function measureYears(sizes: YearSizes, progress: Progress): Promise<YearRow[]> {
  const root = await mkdtemp(join(sizes.folder, "bench-years-"));
  const server = await startServer(0);
  try {
    const rows: YearRow[] = [];
    let filled = 0;
    for (const packages of sizes.packages) {
      const run = { contender: "archive", root, cloud: server.cloud, mediaBytes } as const;
      const before = packages - sizes.more;
      progress(`archiving ${packages} packages`);
      const fill = { ...run, from: filled, warm: 0, count: before - filled, atOnce: fillAtOnce };
      await costOf(fill);
      progress(`at ${packages} packages: one more`);
      const warm = Math.floor(sizes.more / 4);
      const one = await costOf({ ...run, from: before, warm, count: sizes.more - warm, atOnce: 1 });
      filled = packages;
      rows.push({
        packages,
        archiveMs: one.ms,
        archiveCpuMs: one.cpuMs,
        ...(await measureAt(root, packages, sizes.rounds, progress)),
      });
    }
    return rows;
  } finally {
    await server.stop();
    await rm(root, { recursive: true, force: true });
  }
}

type AtSize = Omit<YearRow, "archiveCpuMs" | "archiveMs" | "packages">;

async function measureAt(
  root: string,
  packages: number,
  rounds: number,
  progress: Progress,
): Promise<AtSize> {
  const [folder, file] = [join(root, "packages"), join(root, "store.sqlite")];
  const upkeep = async (what: string, database: string): Promise<number> => {
    progress(`at ${packages} packages: ${what}`);
    const { heard, stop } = await forkAndHear<{ cpuSeconds: number }>("upkeep-process.ts", [
      what,
      folder,
      database,
    ]);
    await stop();
    return heard.cpuSeconds;
  };
  const database = await SqliteDatabase.open({ file, migrations });
  const timeOf = async (query: Query): Promise<number> => {
    const times: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const startedAt = performance.now();
      await searchIndex(database, query, limit);
      times.push(performance.now() - startedAt);
    }
    return median(times);
  };
  const newestMs = await timeOf({ by: "all" });
  const searchMs = await timeOf({ by: "text", value: String(Math.floor(packages / 2)) });
  await database.close();
  const verifyCpuSeconds = await upkeep("verify", file);
  const pruneCpuSeconds = await upkeep("prune", file);
  const rebuilt = join(root, "rebuilt.sqlite");
  const rebuildCpuSeconds = await upkeep("rebuild", rebuilt);
  await rm(rebuilt);
  return {
    databaseBytes: (await stat(file)).size / packages,
    newestMs,
    searchMs,
    verifyCpuSeconds,
    pruneCpuSeconds,
    rebuildCpuSeconds,
  };
}
