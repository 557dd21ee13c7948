import type { Migrations } from "../../src/database/database.ts";

/** The schema of the databases that show how databases work, whatever stores keep in them. */
export const migrations: Migrations = [
  ["CREATE TABLE notes (note_id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE)"],
];
