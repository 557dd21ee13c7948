/** The schema of the databases that show how databases work, whatever stores keep in them. */
export const migrations: readonly (readonly string[])[] = [
  ["CREATE TABLE notes (note_id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE)"],
];
