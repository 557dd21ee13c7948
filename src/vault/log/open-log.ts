import { randomUUID } from "node:crypto";
import { type Database, type Statement, lockLog, marksFor } from "../../database/database.ts";
import { type LogLine, type LogTable, lineOf } from "../../database/log-table.ts";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { packageVersion } from "../../package/package-files.ts";
import type { ArchiveFiles } from "../files/archive-files.ts";
import { LogFilesReader, lastLines, logParts } from "./log-files.ts";
import { columnsOf, entryOf, readEvent } from "./events.ts";
import { blockLines } from "./tree.ts";

const linesAtOnce = 500;

/** A log in its database, and where its lines lie beside the packages. */
export interface OpenedLog {
  readonly table: LogTable;
  readonly files: ArchiveFiles;
}

/** Puts the lines of this process beside the packages. Resolves when they are durable; rejects with ERR_STORE or the system's error. */
export async function publishLog({ table, files }: OpenedLog): Promise<void> {
  await table.publish((writer, lines) => files.appendLog(table.store, writer, lines));
  if (files.kind === "s3") {
    table.tidyAfter(blockLines, (published) =>
      files.compactLog(table.store, published, (first, end) => table.lines(first, end)),
    );
  }
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

/**
 * Takes the lines that the database does not have from beside the packages. Rejects with ERR_STORE where a line there is another one than in
 * the database, or the lines there have a gap.
 */
export async function catchUp(
  { table, files }: OpenedLog,
  database: Pick<Database, "transaction">,
): Promise<void> {
  const { root, disk } = files;
  const ends = await lastLines(root, table.store, disk);
  if (ends.length === 0) {
    return;
  }
  const [head = []] = await database.transaction([{ sql: "SELECT size FROM log_head" }]);
  const size = Number(head[0]?.["size"]);
  const refuse = (n: number): never => {
    const facts = { surface: "store", operation: "open" } as const;
    const path = files.addressOf([...logParts, table.store].join("/"));
    throw new DimensionerError("logDiffers", facts, { path, count: n });
  };
  const known = await linesIn(
    database,
    ends.map(({ n }) => n),
  );
  for (const { n, line } of ends) {
    if (n < size && known.get(n) !== line) {
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

/**
 * The statements that add lines, at least one, with the numbers that they have beside the packages. The first one has a row for each line
 * whose number was not there before.
 */
export function insertLines(lines: readonly LogLine[]): Statement[] {
  return [
    {
      sql: `INSERT INTO log (n, what, package_id, sha256, transaction_id, writer, line)
        VALUES ${lines.map(() => "(?, ?, ?, ?, ?, '', ?)").join(", ")} ON CONFLICT (n) DO NOTHING RETURNING n`,
      values: lines.flatMap(({ n, line }) => {
        const { what, packageId, sha256, transactionId } = columnsOf(readEvent(line));
        return [n, what, packageId, sha256, transactionId, line];
      }),
    },
    { sql: "UPDATE log_head SET size = coalesce((SELECT max(n) + 1 FROM log), 0)" },
  ];
}

/** The lines with these numbers that a database has. */
async function linesIn(
  database: Pick<Database, "transaction">,
  numbers: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const [rows = []] = await database.transaction([
    { sql: `SELECT n, line FROM log WHERE n IN (${marksFor(numbers)})`, values: numbers },
  ]);
  return new Map(rows.map(lineOf).map(({ n, line }) => [n, line]));
}

/** Those of some lines, which a database has with another content. */
async function differingIn(
  database: Pick<Database, "transaction">,
  lines: readonly LogLine[],
): Promise<number[]> {
  const known = await linesIn(
    database,
    lines.map(({ n }) => n),
  );
  return lines.filter(({ n, line }) => (known.get(n) ?? line) !== line).map(({ n }) => n);
}

/**
 * Reads all lines beside the packages into a database that has none. A log that was damaged is read as far as it can be: yields what is
 * wrong with it.
 */
export async function* readWholeLog(
  { table, files }: OpenedLog,
  database: Pick<Database, "transaction">,
): AsyncGenerator<string> {
  const reader = new LogFilesReader(files.root, table.store, files.disk);
  for await (const read of reader.read()) {
    for (let from = 0; from < read.length; from += linesAtOnce) {
      const lines = read.slice(from, from + linesAtOnce);
      const [, added = []] = await database.transaction([lockLog, ...insertLines(lines)]);
      if (added.length < lines.length) {
        yield* (await differingIn(database, lines)).map(sayTwo);
      }
    }
  }
  yield* [...reader.strays].map(sayStray);
  const [[found = {}] = []] = await database.transaction([
    { sql: "SELECT size, (SELECT count(*) FROM log) AS lines FROM log_head" },
  ]);
  const lost = Number(found["size"]) - Number(found["lines"]);
  if (lost > 0) {
    yield lost === 1 ? "1 line of the log is missing" : `${lost} lines of the log are missing`;
  }
}

/**
 * Puts those lines of a database beside the packages that are not there, as after the log there was lost. Yields which lines there are
 * other ones; returns how many were put back.
 */
export async function* putBack(
  { table, files }: OpenedLog,
  database: Pick<Database, "transaction">,
): AsyncGenerator<string, number> {
  const [[head] = []] = await database.transaction([{ sql: "SELECT size FROM log_head" }]);
  const size = Number(head?.["size"]);
  const isThere = new Uint8Array(size);
  const reader = new LogFilesReader(files.root, table.store, files.disk);
  for await (const read of reader.read()) {
    for (let from = 0; from < read.length; from += linesAtOnce) {
      const lines = read.slice(from, from + linesAtOnce).filter(({ n }) => n < size);
      lines.forEach(({ n }) => (isThere[n] = 1));
      yield* lines.length === 0 ? [] : (await differingIn(database, lines)).map(sayTwo);
    }
  }
  yield* [...reader.strays].map(sayStray);
  const writer = `rebuild-${randomUUID()}`;
  let count = 0;
  for (let next = isThere.indexOf(0); next >= 0;) {
    const end = (Math.floor(next / blockLines) + 1) * blockLines;
    const lines = (await table.lines(next, end)).filter(({ n }) => isThere[n] === 0);
    if (lines.length > 0) {
      await files.appendLog(table.store, writer, lines);
      count += lines.length;
    }
    next = isThere.indexOf(0, end);
  }
  return count;
}

function sayTwo(n: number): string {
  return `the line ${n} of the log is there in two ways: one of the two was changed`;
}

function sayStray(path: string): string {
  return `${path} is a link, or no file of a log: it was not read`;
}
