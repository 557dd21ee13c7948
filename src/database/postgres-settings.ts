import type { PoolClient } from "pg";
import { schemaName } from "./postgres-failures.ts";

/**
 * What may be done with the tables of a store. `create` makes them where they are missing, and migrates older ones. `write` and
 * `read` need tables that exist, and `read` can change nothing. `look` is the same where there may be no tables.
 */
export type Access = "create" | "look" | "read" | "write";

/** The settings of each connection, which every user may change, as the driver sends them when it connects. */
export function sessionOptions(access: Access, answerWithinMs: number): string {
  const settings = {
    search_path: schemaName,
    default_transaction_isolation: isolationFor(access),
    default_transaction_read_only: isReading(access) ? "on" : "off",
    // What is confirmed has to be durable, whatever the server's own setting is.
    synchronous_commit: "on",
    statement_timeout: String(answerWithinMs),
    // Otherwise a worker that is suspended within a transaction would hold up all others.
    idle_in_transaction_session_timeout: String(answerWithinMs),
  };
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replaceAll(" ", "\\ ")}`)
    .join(" ");
}

/**
 * Reads which of the settings that a store relies on have not arrived, as an administrator can set them for a user; a connection
 * pooler may drop all of them. Whether a reader could change something then is a matter of the user's rights.
 */
export async function missingSettings(client: PoolClient, access: Access): Promise<readonly string[]> {
  const isolation = isolationFor(access);
  const needed: Readonly<Record<string, string>> = {
    search_path: schemaName,
    default_transaction_isolation: `'${isolation}'`,
    synchronous_commit: "on",
    statement_timeout: "'30s'",
    idle_in_transaction_session_timeout: "'30s'",
  };
  const { rows } = await client.query<{ readonly name: string }>(
    `SELECT name FROM pg_settings WHERE CASE name
        WHEN 'search_path' THEN setting <> $1
        WHEN 'default_transaction_isolation' THEN setting NOT IN ($2, 'serializable')
        WHEN 'synchronous_commit' THEN setting NOT IN ('on', 'remote_apply')
        WHEN 'statement_timeout' THEN setting = '0'
        WHEN 'idle_in_transaction_session_timeout' THEN setting = '0'
      END ORDER BY name`,
    [schemaName, isolation],
  );
  return rows.map(({ name }) => `${name} = ${needed[name] ?? "?"}`);
}

/** A server that only copies another one has no serializable transactions. */
function isolationFor(access: Access): string {
  return isReading(access) ? "repeatable read" : "serializable";
}

function isReading(access: Access): boolean {
  return access === "read" || access === "look";
}
