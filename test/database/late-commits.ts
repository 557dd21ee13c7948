import { sharedPostgres } from "../support/shared-postgres.ts";

/** Makes the function of a trigger that has a transaction wait when it is committed, as on a busy server. */
export const makeWait = `
  CREATE FUNCTION dimensioner.wait() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NULL; END $$;`;

/** Holds all commits up that the trigger has wait, until the returned function is called. */
export async function holdCommits(databaseName: string): Promise<() => Promise<void>> {
  return await (await sharedPostgres()).hold("SELECT pg_advisory_lock(1)", databaseName);
}

/** Resolves when a commit is held up. */
export async function untilHeldUp(databaseName: string): Promise<void> {
  await (
    await sharedPostgres()
  ).until(`SELECT 1 FROM pg_stat_activity WHERE datname = '${databaseName}' AND wait_event = 'advisory'`);
}
