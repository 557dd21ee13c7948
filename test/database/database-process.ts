/**
 * A process that uses a database beside the test's own, started with `fork`: it says what it did, one message each, and ends
 * when its parent disconnects.
 *
 * own: opens the database as Node-RED does.  write: the same, and says the number of each transaction that is durable.
 * leave: opens it, and has nothing else to do.
 * fail: writes until a transaction fails, says what has failed, and writes once more when it is told to.
 * fill: writes until its disk is full, then as much as there is space for again.
 * visit: opens it to write, looks at it and closes it, as the sqlite3 command does.
 * backup: copies it with SQLite, to the same name with .backup behind it.
 * read: begins to read, as a program that queries the tables does.  lock: begins to write, as none should.
 */
import { once } from "node:events";
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { SqliteDatabase } from "../../src/database/sqlite-database.ts";
import { SqliteFile } from "../../src/database/sqlite-file.ts";
import { migrations } from "./notes-schema.ts";

const [, , file = "", action = ""] = process.argv;
const insertNote = "INSERT INTO notes (text) VALUES (?)";
/** Until the process ends: a database that nobody refers to is closed when it is collected, with its locks. */
const kept: DatabaseSync[] = [];
const say = (message: unknown): void => void process.send?.(message);

process.on("disconnect", () => process.exit());
await act().catch((error: unknown) => say(String(error)));

async function act(): Promise<void> {
  switch (action) {
    case "own":
      await SqliteDatabase.open({ file, migrations });
      return say("open");
    case "leave":
      await SqliteDatabase.open({ file, migrations });
      process.channel?.unref();
      return;
    case "write":
      return write(await SqliteDatabase.open({ file, migrations }));
    case "fail":
      return fail(await SqliteDatabase.open({ file, migrations }));
    case "fill":
      return fill(await SqliteDatabase.open({ file, migrations }));
    case "read": {
      const database = new DatabaseSync(file, { readOnly: true });
      kept.push(database);
      database.exec("BEGIN");
      return say(database.prepare("SELECT count(*) AS count FROM notes").get()?.["count"]);
    }
    case "backup":
      new DatabaseSync(file, { readOnly: true }).exec(`VACUUM INTO '${file}.backup'`);
      return say("copied");
    case "visit": {
      const database = new DatabaseSync(file);
      // A prepared statement would keep the file open until it is collected.
      database.exec("SELECT count(*) FROM sqlite_schema");
      database.close();
      return say("visited");
    }
    case "lock": {
      const database = new DatabaseSync(file);
      kept.push(database);
      database.exec("BEGIN IMMEDIATE");
      return say("locked");
    }
    default:
      throw new Error(`unknown action ${action}`);
  }
}

/** Says how many transactions were durable before one failed, and then whether another one is. */
async function fail(database: SqliteDatabase): Promise<void> {
  const insert = (text: string) => database.transaction([{ sql: insertNote, values: [text] }]);
  for (let written = 0; ; written += 1) {
    try {
      await insert(String(written));
    } catch (error) {
      say({ written, failure: String(error) });
      break;
    }
  }
  await once(process, "message");
  await insert("afterwards");
  say("stored");
}

/** Says what the full disk did, and what was stored in the end. A file named filler takes space until then. */
async function fill(database: SqliteDatabase): Promise<void> {
  const insert = (text: string) => database.transaction([{ sql: insertNote, values: [text] }]);
  let written = 0;
  const failures: string[] = [];
  while (failures.length === 0) {
    await insert(`${written} ${"x".repeat(10_000)}`).then(
      () => (written += 1),
      (error: unknown) => failures.push(String(error)),
    );
  }
  await database.close();
  // Until then its thread has the file.
  await database.ended;
  rmSync(join(dirname(file), "filler"));
  const again = SqliteFile.open({
    as: "own",
    file,
    migrations,
    busyTimeoutMs: 0,
    mustExist: true,
    besideFromBytes: Infinity,
  });
  if ("reason" in again) {
    throw new Error(again.reason);
  }
  // One commit; the second request alone is too large.
  const together = again.commit([
    { id: 1, statements: [{ sql: insertNote, values: ["small"] }] },
    { id: 2, statements: [{ sql: insertNote, values: ["y".repeat(5_000_000)] }] },
    { id: 3, statements: [{ sql: "SELECT count(*) AS count FROM notes" }] },
  ]);
  again.close();
  say({ written, failures, together });
}

async function write(database: SqliteDatabase): Promise<void> {
  for (let number = 0; ; number += 1) {
    await database.transaction([{ sql: insertNote, values: [`${number} of ${process.pid}`] }]);
    say(number);
  }
}
