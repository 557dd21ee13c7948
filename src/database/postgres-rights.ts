import type { Database } from "./database.ts";
import { schemaName } from "./postgres-failures.ts";
import { serverVersion } from "./postgres-sql.ts";

/** What a user of a PostgreSQL database may do with the tables of a store there. */
export interface PostgresRights {
  /** The user as SQL names it. */
  readonly user: string;
  /** The version of the server. */
  readonly version: string;
  /** Whether there are tables of a store. */
  readonly hasTables: boolean;
  /** Whether the user may do what a store does: change the rows of each table, or make the tables where there are none. */
  readonly isEnough: boolean;
  /** Whether others on the network could read what is sent. */
  readonly isOpen: boolean;
}

const schema = `to_regnamespace('${schemaName}')`;
const mayChange = ["SELECT", "INSERT", "UPDATE", "DELETE"]
  .map((right) => `has_table_privilege(oid, '${right}')`)
  .join(" AND ");

/** Reads what the user may do. Works also where there are no tables. Rejects with ERR_STORE. */
export async function readRights(database: Pick<Database, "transaction">): Promise<PostgresRights> {
  const [[facts = {}] = [], [tables = {}] = []] = await database.transaction([
    {
      sql: `SELECT quote_ident(current_user) AS user_name, ${serverVersion} AS version,
        CAST(CASE WHEN ${schema} IS NULL THEN has_database_privilege(current_database(), 'CREATE')
          ELSE has_schema_privilege(${schema}, 'CREATE') END AS INTEGER) AS may_create,
        CAST(coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false)
          OR inet_client_addr() IS NOT DISTINCT FROM inet_server_addr() AS INTEGER) AS is_safe`,
    },
    {
      sql: `SELECT count(*) AS count, CAST(bool_and(${mayChange}) AS INTEGER) AS may_change
        FROM pg_class WHERE relnamespace = ${schema} AND relkind = 'r'`,
    },
  ]);
  const hasTables = Number(tables["count"]) > 0;
  return {
    user: String(facts["user_name"]),
    version: String(facts["version"]),
    hasTables,
    isEnough: (hasTables ? tables["may_change"] : facts["may_create"]) === 1,
    isOpen: facts["is_safe"] !== 1,
  };
}
