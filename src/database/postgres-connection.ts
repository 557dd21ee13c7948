import type { PoolClient } from "pg";
import { codeOf, connectProblem, isUntrusted } from "../errors/connect-problem.ts";
import { DimensionerError, isDimensionerError } from "../errors/dimensioner-error.ts";
import { beginning, textOfThrown } from "../errors/interpolation.ts";
import type { SentenceKey } from "../errors/sentences.ts";
import {
  type Database,
  type SqlValue,
  databaseTime,
  fromPackagesWithTriples,
  hasSearchText,
  lockLog,
  reachOfTriples,
  skipLocked,
} from "./database.ts";
import { type PostgresAddress, connectionTls, tlsOfThread } from "./postgres-address.ts";

/** The first version of PostgreSQL that is supported. */
export const oldestVersion = 14;

/** The PostgreSQL schema that contains the tables of a store. */
export const schemaName = "dimensioner";

/** The codes of PostgreSQL (appendix A of its manual) for a transaction that conflicts with another one. */
const conflicts: ReadonlySet<string> = new Set([
  "40001", // serialization_failure
  "40P01", // deadlock_detected
]);

/** The classes of codes for values that the tables do not take: the same statement fails again. */
const refusals: ReadonlySet<string> = new Set([
  "22", // data_exception
  "23", // integrity_constraint_violation
  "54", // program_limit_exceeded
]);

/** The sentences for codes that people can do something about. */
const sentenceOfCode: ReadonlyMap<string, SentenceKey> = new Map([
  ["28000", "postgresLogin"], // invalid_authorization_specification
  ["28P01", "postgresLogin"], // invalid_password
  ["42501", "postgresDenied"], // insufficient_privilege
  ["3D000", "postgresMissing"], // invalid_catalog_name
  ["53300", "postgresUnreachable"], // too_many_connections
  ["57P01", "postgresUnreachable"], // admin_shutdown
  ["57P02", "postgresUnreachable"], // crash_shutdown
  ["57P03", "postgresUnreachable"], // cannot_connect_now
]);

/** Whether a transaction failed because another one ran at the same time: nothing was changed, and it can be repeated. */
export function isConflict(error: unknown): boolean {
  return conflicts.has(codeOf(error));
}

/** Whether a transaction failed because of its own values, and not because of the state of the database. */
export function isRefused(error: unknown): error is DimensionerError {
  return (
    isDimensionerError(error) &&
    error.sentence === "postgresFailed" &&
    refusals.has(codeOf(error.cause).slice(0, 2))
  );
}

/** Whether PostgreSQL has reported the error; otherwise it is one of the connection. */
export function isFromServer(error: unknown): boolean {
  // Errors of the system have codes as well, such as ECONNRESET. PostgreSQL's have five characters.
  return codeOf(error).length === 5 && error instanceof Error && "severity" in error;
}

/**
 * Whether a transaction failed because of its own values or of another transaction, and would have failed on any connection.
 * Everything else may be a matter of the connection: it may lead to a server that only copies another one since a failover.
 */
export function isOfTransaction(error: unknown): boolean {
  return isFromServer(error) && (isConflict(error) || refusals.has(codeOf(error).slice(0, 2)));
}

/** Creates the ERR_STORE for a connection that could not be opened, or for a transaction that failed. */
export function postgresError(address: PostgresAddress, error: unknown): DimensionerError {
  const values = { path: address.name, problem: connectProblem(error), name: schemaName };
  if (isFromServer(error)) {
    return failure(sentenceOf(error), values, error);
  }
  const host = error instanceof Error && "hostname" in error ? String(error.hostname) : "";
  if (host.includes(",")) {
    return failure("postgresHosts", { value: host }, error);
  }
  const sentence = connectSentence(error);
  const mode = address.tls === undefined ? (new URL(address.url).searchParams.get("sslmode") ?? "") : "";
  return sentence === "postgresTls" && otherModes.has(mode)
    ? failure("postgresTlsMode", { ...values, value: mode }, error)
    : failure(sentence, values, error);
}

function sentenceOf(error: unknown): SentenceKey {
  const [code, text] = [codeOf(error), textOfThrown(error)];
  // protocol_violation, feature_not_supported: PostgreSQL itself knows all that is sent.
  if (["08P01", "0A000"].includes(code) && /startup parameter|command-line option/i.test(text)) {
    return "postgresPooler";
  }
  // No login was tried yet.
  if (["08P01", "28000"].includes(code) && /\bpg_hba\b|\bSSL\b|\bTLS\b/i.test(text)) {
    return "postgresNotAllowed";
  }
  // A pooler that has no connection to the server: connection_exception.
  return sentenceOfCode.get(code) ?? (code.startsWith("08") ? "postgresUnreachable" : "postgresFailed");
}

/** Creates the ERR_STORE for a server that does not respond in time. */
export function unansweredPostgresError(database: string, withinMs: number): DimensionerError {
  return failure("postgresUnanswered", { path: database, seconds: withinMs / 1000 });
}

/** Creates the ERR_STORE for a server that is too old. */
export function oldServerError(database: string, version: string): DimensionerError {
  return failure("postgresOld", { path: database, value: beginning(version), least: oldestVersion });
}

/** Creates the ERR_STORE for a database that cannot keep all texts. */
export function encodingError(database: string, encoding: string): DimensionerError {
  return failure("postgresEncoding", { path: database, value: beginning(encoding) });
}

/** Creates the ERR_STORE for a connection that lacks settings, each as `name = value`. */
export function settingsError(database: string, settings: readonly string[]): DimensionerError {
  return failure("postgresSettings", { path: database, value: beginning(settings.join(", ")) });
}

/** Creates the ERR_STORE for a database without the tables of a store, where nothing may be created. */
export function noTablesError(database: string): DimensionerError {
  return failure("postgresNoTables", { path: database });
}

/** Creates the ERR_STORE for tables that a newer version has migrated. */
export function newerTablesError(database: string): DimensionerError {
  return failure("storeNewer", { path: database });
}

/** Creates the ERR_STORE for a transaction after the close. */
export function closedPostgresError(database: string): DimensionerError {
  return failure("storeClosed", { path: database });
}

function connectSentence(error: unknown): SentenceKey {
  // The only files that are read for a connection are those of its certificates.
  const isOfFile = error instanceof Error && "syscall" in error && error.syscall === "open";
  return isOfFile || isUntrusted(error) ? "postgresTls" : "postgresUnreachable";
}

function failure(
  sentence: SentenceKey,
  values: ConstructorParameters<typeof DimensionerError>[2],
  cause?: unknown,
): DimensionerError {
  return new DimensionerError(sentence, { surface: "store", operation: "store", cause }, values);
}

/** What the driver needs for a connection to a database. */
interface Connection {
  /** With the password, as only the connection itself needs it. */
  readonly connectionString: string;
  readonly ssl?: ReturnType<typeof connectionTls>;
}

/** What the driver treats as `verify-full`, with a warning in the log that a later version will check less. */
const otherModes: ReadonlySet<string> = new Set(["prefer", "require", "verify-ca"]);

/** Returns what the driver needs. */
export function connectionTo({ url: text, password, tls = tlsOfThread() }: PostgresAddress): Connection {
  const url = new URL(text);
  const { searchParams } = url;
  const isOther =
    otherModes.has(searchParams.get("sslmode") ?? "") && searchParams.get("uselibpqcompat") !== "true";
  if (password === "" && tls === undefined && !isOther) {
    return { connectionString: text };
  }
  if (password !== "") {
    // Not before the host, which the environment may name instead.
    searchParams.set("password", password);
  }
  if (tls !== undefined) {
    // The driver would take this one.
    searchParams.delete("sslmode");
    return { connectionString: url.href, ssl: connectionTls(tls) };
  }
  if (isOther) {
    searchParams.set("sslmode", "verify-full");
  }
  return { connectionString: url.href };
}

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
    // No statement of a store takes so long that it would pay to compile it, or to start processes for it.
    jit: "off",
    max_parallel_workers_per_gather: "0",
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
    user: beginning(String(facts["user_name"])),
    version: beginning(String(facts["version"])),
    hasTables,
    isEnough: (hasTables ? tables["may_change"] : facts["may_create"]) === 1,
    isOpen: facts["is_safe"] !== 1,
  };
}

/** As a statement can use an index with it, it is the time at which the statement begins. */
const postgresTime = `to_char(timezone('UTC', statement_timestamp()) + CAST(? AS INTERVAL),
  'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') COLLATE "C"`;

const postgresTriples = `FROM packages WHERE trigrams(search_words) @> string_to_array(btrim(?, '"'), '" "')`;

const postgresReach = `SELECT '"' || triple || '"' AS triple, 100 / part AS reach
  FROM pg_stats, unnest(CAST(CAST(most_common_elems AS TEXT) AS TEXT[]), most_common_elem_freqs) AS known(triple, part)
  WHERE schemaname = '${schemaName}' AND tablename = 'packages_words' AND part > 0
    AND '"' || triple || '"' IN (SELECT value FROM json_array_elements_text(CAST(? AS JSON)) AS sought(value))`;

/** The version of the server. Some distributions add that of their package, behind a space. */
export const serverVersion = "split_part(current_setting('server_version'), ' ', 1)";

/**
 * Returns a statement of the store as PostgreSQL writes it: each `?` that is not within a text becomes `$1`, `$2` and
 * so on.
 */
export function translateStatement(sql: string): string {
  const translated = sql
    .replaceAll(databaseTime, postgresTime)
    .replaceAll(fromPackagesWithTriples, postgresTriples)
    .replaceAll(reachOfTriples, postgresReach)
    .replaceAll(hasSearchText, "strpos(search_words, ?) > 0")
    .replaceAll(skipLocked, "FOR UPDATE SKIP LOCKED")
    .replaceAll(lockLog.sql, "LOCK TABLE log_head IN EXCLUSIVE MODE");
  let last = 0;
  return translated.replace(/'[^']*'|\?/g, (found) => (found === "?" ? `$${(last += 1)}` : found));
}

/** The types of the store's columns, which the schema names as SQLite does. */
const types: readonly (readonly [sqlite: RegExp, postgres: string])[] = [
  [/\bINTEGER PRIMARY KEY AUTOINCREMENT\b/g, "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY"],
  // An INTEGER of PostgreSQL ends at two billion, which a video has in bytes.
  [/\bINTEGER\b/g, "BIGINT"],
  [/\bREAL\b/g, "DOUBLE PRECISION"],
  // SQLite compares texts by their bytes. Another order would find other texts between two bounds.
  [/\bTEXT\b/g, 'TEXT COLLATE "C"'],
];

/** Returns a statement of the schema as PostgreSQL writes it. */
export function translateSchema(sql: string): string {
  return types.reduce((translated, [sqlite, postgres]) => translated.replace(sqlite, postgres), sql);
}

/**
 * Returns a value as PostgreSQL can keep it. Its texts cannot contain U+0000, which a reference from outside may; the
 * replacement character takes its place, as it does in a text that is no valid Unicode.
 */
export function toPostgres(value: SqlValue): SqlValue {
  return typeof value === "string" ? value.replaceAll("\0", "\uFFFD") : value;
}
