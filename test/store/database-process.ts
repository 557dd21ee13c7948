/**
 * A process that uses a database beside the test's own, started with `fork`: it says what it did, one message each, and ends
 * when its parent lets go of it.
 *
 * own: opens the database as Node-RED does.  write: the same, and says the number of each transaction that is durable.
 * read: begins to read, as a program that queries the tables does.  lock: begins to write, as none should.
 */
import { DatabaseSync } from "node:sqlite";
import { SqliteDatabase } from "../../src/store/sqlite-database.ts";
import { migrations } from "./notes-schema.ts";

const [, , file = "", action = ""] = process.argv;
const say = (message: unknown): void => void process.send?.(message);

process.on("disconnect", () => process.exit());
await act().catch((error: unknown) => say(String(error)));

async function act(): Promise<void> {
  switch (action) {
    case "own":
      await SqliteDatabase.open({ file, migrations });
      return say("open");
    case "write":
      return write(await SqliteDatabase.open({ file, migrations }));
    case "read": {
      const database = new DatabaseSync(file, { readOnly: true });
      database.exec("BEGIN");
      return say(database.prepare("SELECT count(*) AS count FROM notes").get()?.["count"]);
    }
    case "lock":
      new DatabaseSync(file).exec("BEGIN IMMEDIATE");
      return say("locked");
    default:
      throw new Error(`unknown action ${action}`);
  }
}

async function write(database: SqliteDatabase): Promise<void> {
  for (let number = 0; ; number += 1) {
    await database.transaction([{ sql: "INSERT INTO notes (text) VALUES (?)", values: [`n${number}`] }]);
    say(number);
  }
}
