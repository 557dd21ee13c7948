import type { PoolClient } from "pg";
import type { Migrations } from "./database.ts";
import type { PostgresAddress } from "./postgres-address.ts";
import {
  type Access,
  encodingError,
  missingSettings,
  newerTablesError,
  noTablesError,
  oldServerError,
  oldestVersion,
  schemaName,
  settingsError,
  translateSchema,
} from "./postgres-connection.ts";

export interface TableOptions {
  readonly address: PostgresAddress;
  /** The statements that lead from each version of the schema to the next, as SQLite writes them. */
  readonly migrations: Migrations;
  readonly access: Access;
}

/** The key of the advisory lock that whoever creates or migrates tables holds: "dimensio" in ASCII. */
const lockKey = "7235434558759594351";

/**
 * Creates the tables of a store, or migrates them to the newest version, if the access allows it. Several processes may
 * do so at the same time: they wait for each other. Returns whether the tables were created. Rejects with ERR_STORE, or
 * with PostgreSQL's error.
 */
export async function prepareTables(
  client: PoolClient,
  { address, migrations, access }: TableOptions,
): Promise<boolean> {
  const server = String(await firstValue(client, "SHOW server_version"));
  if (Number.parseInt(server, 10) < oldestVersion) {
    throw oldServerError(address.name, server);
  }
  const encoding = String(await firstValue(client, "SHOW server_encoding"));
  if (encoding !== "UTF8") {
    throw encodingError(address.name, encoding);
  }
  const missing = await missingSettings(client, access);
  if (missing.length > 0) {
    throw settingsError(address.name, missing);
  }
  const isNew = access === "create" && (await createTables(client, migrations));
  const version = await findVersion(client);
  if (version > migrations.length) {
    throw newerTablesError(address.name);
  }
  if (version === 0 && access !== "look") {
    throw noTablesError(address.name);
  }
  return isNew;
}

/** Returns whether there were no tables. Leaves newer ones as they are. */
async function createTables(client: PoolClient, migrations: Migrations): Promise<boolean> {
  // A serializable transaction would see the tables as they were before it waited for the lock.
  await client.query("BEGIN ISOLATION LEVEL READ COMMITTED");
  try {
    await client.query(`SELECT pg_advisory_xact_lock(${lockKey})`);
    const version = await findVersion(client);
    if (version < migrations.length) {
      await migrate(client, version, migrations);
    }
    await client.query("COMMIT");
    return version === 0;
  } catch (error) {
    await client.query("ROLLBACK").catch(() => undefined);
    throw error;
  }
}

/** The version of the tables; 0 if there are none. */
async function findVersion(client: PoolClient): Promise<number> {
  const table = await firstValue(client, `SELECT to_regclass('${schemaName}.schema_version')`);
  return table === null ? 0 : Number(await firstValue(client, "SELECT version FROM schema_version"));
}

async function migrate(client: PoolClient, from: number, migrations: Migrations): Promise<void> {
  if (from === 0) {
    // CREATE SCHEMA IF NOT EXISTS needs the right to create one, even if there is one.
    const schema = await firstValue(client, `SELECT to_regnamespace('${schemaName}')`);
    if (schema === null) {
      await client.query(`CREATE SCHEMA ${schemaName}`);
    }
    await client.query("CREATE TABLE schema_version (version BIGINT NOT NULL)");
    await client.query("INSERT INTO schema_version VALUES (0)");
  }
  const statements = migrations.slice(from).flat();
  for (const sql of statements.flatMap((one) =>
    typeof one === "string" ? translateSchema(one) : one.postgres,
  )) {
    await client.query(sql);
  }
  await client.query("UPDATE schema_version SET version = $1", [migrations.length]);
}

async function firstValue(client: PoolClient, sql: string): Promise<unknown> {
  const { rows } = await client.query<Record<string, unknown>>(sql);
  return Object.values(rows[0] ?? {})[0];
}
