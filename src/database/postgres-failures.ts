import { codeOf, connectProblem, isUntrusted } from "../errors/connect-problem.ts";
import { DimensionerError, isDimensionerError } from "../errors/dimensioner-error.ts";
import type { SentenceKey } from "../errors/sentences.ts";

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
export function postgresError(database: string, error: unknown): DimensionerError {
  const code = isFromServer(error) ? codeOf(error) : undefined;
  const sentence =
    code === undefined ? connectSentence(error) : (sentenceOfCode.get(code) ?? "postgresFailed");
  return failure(sentence, { path: database, problem: connectProblem(error), name: schemaName }, error);
}

/** Creates the ERR_STORE for a server that does not respond in time. */
export function unansweredPostgresError(database: string, withinMs: number): DimensionerError {
  return failure("postgresUnanswered", { path: database, seconds: withinMs / 1000 });
}

/** Creates the ERR_STORE for a server that is too old. */
export function oldServerError(database: string, version: string): DimensionerError {
  return failure("postgresOld", { path: database, value: version, least: oldestVersion });
}

/** Creates the ERR_STORE for a connection that lacks settings, each as `name = value`. */
export function settingsError(database: string, settings: readonly string[]): DimensionerError {
  return failure("postgresSettings", { path: database, value: settings.join(", ") });
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
