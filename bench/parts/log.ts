import { randomInt } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Database, lockLog } from "../../src/database/database.ts";
import type { LogTable } from "../../src/database/log-table.ts";
import { StoreDatabases } from "../../src/database/store-databases.ts";
import { type LogEvent, entryOf } from "../../src/vault/log/events.ts";
import { leafHash, rootByPath, LogTree } from "../../src/vault/log/tree.ts";
import { median } from "../median.ts";
import type { Progress } from "../progress.ts";

/** What the log of a store costs when it has so many lines. */
export interface LogRow {
  readonly lines: number;
  /** One more line in a transaction of its own. */
  readonly appendMs: number;
  /** The root of all lines, when no root of a block of lines is kept yet, and when they are. */
  readonly firstRootMs: number;
  readonly rootMs: number;
  /** A path from any line to the root: the first one, and one after it. */
  readonly proofMs: number;
  readonly nextProofMs: number;
}

export interface LogSizes {
  readonly lines: readonly number[];
  readonly rounds: number;
  readonly folder: string;
}

const linesAtOnce = 5_000;

/** Fills the log of a store in a database of its own, and measures it at each size. */
export async function measureLog({ lines, rounds, folder }: LogSizes, progress: Progress): Promise<LogRow[]> {
  const root = await mkdtemp(join(folder, "bench-log-"));
  const databases = new StoreDatabases();
  const { database, log, release } = await databases.open({ kind: "file", file: join(root, "store.sqlite") });
  try {
    const rows: LogRow[] = [];
    let filled = 0;
    for (const size of lines) {
      for (; filled < size; filled += linesAtOnce) {
        progress(`the log: ${filled} of ${size} lines`);
        await append(database, log, filled, Math.min(linesAtOnce, size - filled));
      }
      filled = size;
      progress(`the log: measuring at ${size} lines`);
      rows.push(await measureAt({ database, log, size, rounds }));
      // Those that were added while it was measured.
      filled += rounds;
    }
    return rows;
  } finally {
    await release();
    await rm(root, { recursive: true });
  }
}

interface At {
  readonly database: Database;
  readonly log: LogTable;
  readonly size: number;
  readonly rounds: number;
}

async function measureAt({ database, log, size, rounds }: At): Promise<LogRow> {
  const firstRootMs = await timeOf(() => new LogTree(database).rootOf(size));
  const root = await new LogTree(database).rootOf(size);
  const [roots, proofs, next, appends]: number[][] = [[], [], [], []];
  for (let round = 0; round < rounds; round++) {
    roots?.push(await timeOf(() => new LogTree(database).rootOf(size)));
    const tree = new LogTree(database);
    const n = randomInt(size);
    proofs?.push(await timeOf(() => tree.proofOf(n, size)));
    next?.push(await timeOf(() => tree.proofOf(randomInt(size), size)));
    const [[row] = []] = await database.transaction([
      { sql: "SELECT line FROM log WHERE n = ?", values: [n] },
    ]);
    const reached = rootByPath(leafHash(String(row?.["line"])), n, size, await tree.proofOf(n, size));
    if (reached?.equals(root) !== true) {
      throw new Error(`the line ${n} does not lead to the root of ${size} lines`);
    }
  }
  for (let round = 0; round < rounds; round++) {
    appends?.push(await timeOf(() => append(database, log, size + round, 1)));
  }
  return {
    lines: size,
    appendMs: median(appends ?? []),
    firstRootMs,
    rootMs: median(roots ?? []),
    proofMs: median(proofs ?? []),
    nextProofMs: median(next ?? []),
  };
}

async function append(database: Database, log: LogTable, from: number, count: number): Promise<void> {
  const lines = Array.from({ length: count }, (_, index) => log.append(entryOf(eventOf(from + index))));
  await database.transaction([lockLog, ...lines.flat()]);
}

/** A line as a package has it. */
function eventOf(n: number): LogEvent {
  const at = new Date(1_790_000_000_000 + n * 1_000).toISOString();
  const id = n.toString(16).padStart(12, "0");
  return {
    what: "archived",
    at,
    package: `5f0c2f9e-7f1a-4c6d-9a43-${id}`,
    path: `${at.slice(0, 10)}/ORDER-${n}-${id}`,
    sha256: id.padStart(64, "0"),
    archived: at,
    supplements: null,
  };
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}
