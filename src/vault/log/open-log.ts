import { randomUUID } from "node:crypto";
import { type Database, type Statement, lockLog, marksFor } from "../../database/database.ts";
import { type LogLine, type LogTable, foundLineOf, lineOf, selectFound } from "../../database/log-table.ts";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { packageVersion } from "../../package/package-files.ts";
import { indexNumber } from "../packages/package-index.ts";
import type { Vault } from "../vault.ts";
import { LogFilesReader, lastLines, logParts } from "./log-files.ts";
import { type LogEvent, columnsOf, entryOf, isFoundOtherwise, readEvent } from "./events.ts";
import { blockLines } from "./tree.ts";

const linesAtOnce = 500;

/** A log in its database, and where its lines lie beside the packages. */
export interface OpenedLog {
  readonly table: LogTable;
  readonly vault: Vault;
}

/** Puts the lines of this process beside the packages. Resolves when they are durable; rejects with ERR_STORE or the system's error. */
export async function publishLog({ table, vault }: OpenedLog): Promise<void> {
  await table.publish((writer, lines) => vault.appendLog(table.store, writer, lines));
  if (vault.kind === "s3") {
    table.tidyAfter(blockLines, (published) =>
      vault.compactLog(table.store, published, (first, end) => table.lines(first, end)),
    );
  }
}

/** The same for the lines that say of some packages that they were archived, whoever has added them. */
export async function publishArchived(
  { table, vault }: OpenedLog,
  packageIds: readonly string[],
): Promise<void> {
  await table.publishArchived(packageIds, (writer, lines) => vault.appendLog(table.store, writer, lines));
}

/** The same for the lines that others have left: processes that were killed. */
export async function publishLeftLog({ table, vault }: OpenedLog): Promise<void> {
  await table.publishLeft((writer, lines) => vault.appendLog(table.store, writer, lines));
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

/** Adds a line and puts it beside the packages. Rejects as `readyLog` and `publishLog` do. */
export async function addToLog(
  log: OpenedLog,
  database: Pick<Database, "transaction">,
  event: LogEvent,
): Promise<void> {
  await readyLog(log, database);
  await database.transaction([lockLog, ...log.table.append(entryOf(event))]);
  await publishLog(log);
}

/** Opens the log for a worker that archives, says so in it, and puts beside the packages what a kill has left. Rejects as `readyLog` does. */
export async function openLog(log: OpenedLog, database: Database, worker: string): Promise<void> {
  const at = new Date().toISOString();
  const { name, version } = packageVersion();
  await addToLog(log, database, { what: "opened", at, worker, software: `${name} ${version}` });
  await publishLeftLog(log);
}

/**
 * Takes the lines that the database does not have from beside the packages. Rejects with ERR_STORE where a line there is another one than in
 * the database, or the lines there have a gap.
 */
export async function catchUp(
  { table, vault }: OpenedLog,
  database: Pick<Database, "transaction">,
): Promise<void> {
  const { root, disk } = vault;
  const ends = await lastLines(root, table.store, disk);
  if (ends.length === 0) {
    return;
  }
  const size = await sizeOf(database);
  const refuse = (n: number): never => {
    const facts = { surface: "store", operation: "open" } as const;
    const path = vault.addressOf([...logParts, table.store].join("/"));
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
    ...lines.flatMap(({ line }) => {
      const event = readEvent(line);
      return event?.what === "named" ? indexNumber(event.package, event.number) : [];
    }),
  ];
}

/** How many lines a database says that its log has. */
async function sizeOf(database: Pick<Database, "transaction">): Promise<number> {
  const [[head = {}] = []] = await database.transaction([{ sql: "SELECT size FROM log_head" }]);
  return Number(head["size"]);
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

/** Puts right the columns by which the lines are found in a database, where they are not those of what the line says. */
export async function mendColumns(database: Pick<Database, "transaction">): Promise<void> {
  for (let at = 0; ;) {
    const [rows = []] = await database.transaction([{ sql: selectFound, values: [at, linesAtOnce] }]);
    const changed = rows.map(foundLineOf).filter(isFoundOtherwise);
    if (changed.length > 0) {
      await database.transaction(
        changed.map(({ n, line }) => {
          const { what, packageId, sha256, transactionId } = columnsOf(readEvent(line));
          return {
            sql: "UPDATE log SET what = ?, package_id = ?, sha256 = ?, transaction_id = ? WHERE n = ?",
            values: [what, packageId, sha256, transactionId, n],
          };
        }),
      );
    }
    if (rows.length < linesAtOnce) {
      return;
    }
    at = Number(rows.at(-1)?.["n"]) + 1;
  }
}

/**
 * Reads all lines beside the packages into a database that has none. A log that was damaged is read as far as it can be: yields what is
 * wrong with it.
 */
export async function* readWholeLog(
  { table, vault }: OpenedLog,
  database: Pick<Database, "transaction">,
): AsyncGenerator<string> {
  // The first line that is put in counts them anew.
  const before = await sizeOf(database);
  const reader = new LogFilesReader(vault.root, table.store, vault.disk);
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
  const lost = Math.max(before, Number(found["size"])) - Number(found["lines"]);
  if (lost > 0) {
    yield lost === 1 ? "1 line of the log is missing" : `${lost} lines of the log are missing`;
  }
}

/**
 * Puts those lines of a database beside the packages that are not there, as after the log there was lost. Yields which lines there are
 * other ones; returns how many were put back.
 */
export async function* putBack(
  { table, vault }: OpenedLog,
  database: Pick<Database, "transaction">,
): AsyncGenerator<string, number> {
  const size = await sizeOf(database);
  const isThere = new Uint8Array(size);
  const reader = new LogFilesReader(vault.root, table.store, vault.disk);
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
      await vault.appendLog(table.store, writer, lines);
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
