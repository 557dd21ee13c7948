import { type Database, type Statement, lockLog } from "../../database/database.ts";
import { type LogLine, type LogTable, lineOf } from "../../database/log-table.ts";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { packageVersion } from "../../package/package-files.ts";
import type { ArchiveFiles } from "../files/archive-files.ts";
import { LogFilesReader, lastLines, logParts } from "./log-files.ts";
import { columnsOf, entryOf, readEvent } from "./events.ts";

const linesAtOnce = 500;

/** A log in its database, and where its lines lie beside the packages. */
export interface OpenedLog {
  readonly table: LogTable;
  readonly files: ArchiveFiles;
}

/** Puts the lines of this process beside the packages. Resolves when they are durable; rejects with ERR_STORE or the system's error. */
export async function publishLog({ table, files }: OpenedLog): Promise<void> {
  await table.publish((writer, lines) => files.appendLog(table.store, writer, lines));
}

/** The same for the lines that others have left: processes that were killed. */
export async function publishLeftLog({ table, files }: OpenedLog): Promise<void> {
  await table.publishLeft((writer, lines) => files.appendLog(table.store, writer, lines));
}

/**
 * To be called before a line is added. A database that is older than the log beside the packages, such as one that was restored from a
 * backup, takes the later lines from there, or two lines would have one number; a database whose lines are other ones is refused:
 * ERR_STORE. It is done once for each process; as long as the packages cannot be reached, it rejects with ERR_STORE or the system's error.
 */
export async function readyLog(log: OpenedLog, database: Pick<Database, "transaction">): Promise<void> {
  const { table } = log;
  await table.ready(async () => {
    await catchUp(log, database);
    const begun = entryOf({ what: "begun", at: new Date().toISOString(), store: table.store });
    const isEmpty = { sql: "(SELECT size FROM log_head) = 0", values: [] };
    await database.transaction([lockLog, ...table.append(begun, isEmpty)]);
  });
}

/** Opens the log for a worker that archives, says so in it, and puts beside the packages what a kill has left. Rejects as `readyLog` does. */
export async function openLog(log: OpenedLog, database: Database, worker: string): Promise<void> {
  await readyLog(log, database);
  const at = new Date().toISOString();
  const { name, version } = packageVersion();
  const opened = entryOf({ what: "opened", at, worker, software: `${name} ${version}` });
  await database.transaction([lockLog, ...log.table.append(opened)]);
  await publishLog(log);
  await publishLeftLog(log);
}

async function catchUp({ table, files }: OpenedLog, database: Pick<Database, "transaction">): Promise<void> {
  const { root, disk } = files;
  const ends = await lastLines(root, table.store, disk);
  if (ends.length === 0) {
    return;
  }
  const [head = [], known = []] = await database.transaction([
    { sql: "SELECT size FROM log_head" },
    {
      sql: `SELECT n, line FROM log WHERE n IN (${ends.map(() => "?").join(", ")})`,
      values: ends.map(({ n }) => n),
    },
  ]);
  const size = Number(head[0]?.["size"]);
  const refuse = (n: number): never => {
    const facts = { surface: "store", operation: "open" } as const;
    const path = files.addressOf([...logParts, table.store].join("/"));
    throw new DimensionerError("logDiffers", facts, { path, count: n });
  };
  const lines = new Map(known.map(lineOf).map(({ n, line }) => [n, line]));
  for (const { n, line } of ends) {
    if (n < size && lines.get(n) !== line) {
      refuse(n);
    }
  }
  if (ends.every(({ n }) => n < size)) {
    return;
  }
  const later = new Map<number, string>();
  for await (const read of new LogFilesReader(root, table.store, disk).read(size)) {
    for (const { n, line } of read) {
      if (n >= size) {
        if ((later.get(n) ?? line) !== line) {
          refuse(n);
        }
        later.set(n, line);
      }
    }
  }
  const rows = [...later].map(([n, line]) => ({ n, line })).toSorted((one, other) => one.n - other.n);
  rows.forEach(({ n }, index) => {
    if (n !== size + index) {
      refuse(size + index);
    }
  });
  for (let from = 0; from < rows.length; from += linesAtOnce) {
    await database.transaction([lockLog, ...insertLines(rows.slice(from, from + linesAtOnce))]);
  }
}

/** The statements that add lines with the numbers that they have beside the packages. */
export function insertLines(lines: readonly LogLine[]): Statement[] {
  return [
    ...lines.map(({ n, line }): Statement => {
      const { what, packageId, sha256, transactionId } = columnsOf(readEvent(line));
      return {
        sql: `INSERT INTO log (n, what, package_id, sha256, transaction_id, writer, line)
          VALUES (?, ?, ?, ?, ?, '', ?) ON CONFLICT (n) DO NOTHING`,
        values: [n, what, packageId, sha256, transactionId, line],
      };
    }),
    { sql: "UPDATE log_head SET size = coalesce((SELECT max(n) + 1 FROM log), 0)" },
  ];
}
