import { DimensionerError } from "../errors/dimensioner-error.ts";

/** Where a PostgreSQL database is. It contains no password. */
export interface PostgresAddress {
  /** As it was given. What is missing in it comes from the environment, as for PostgreSQL's own programs. */
  readonly url: string;
  /** As messages name it: without the options. */
  readonly name: string;
}

/** Whether a text names a PostgreSQL database, and not a file. */
export function isPostgresUrl(text: string): boolean {
  return /^postgres(?:ql)?:/i.test(text);
}

/**
 * Reads `postgres://user@host:5432/name?sslmode=verify-full`. Throws ERR_CONFIG if that is no address of a database, or
 * contains a password: other users of the computer can see the arguments of a command.
 */
export function readPostgresUrl(text: string): PostgresAddress {
  const facts = { surface: "store", operation: "database" } as const;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && (url.password !== "" || url.searchParams.has("password"))) {
    throw new DimensionerError("postgresPassword", facts);
  }
  if (url === undefined || !/^postgres(?:ql)?:\/\//i.test(text)) {
    throw new DimensionerError("postgresAddress", facts, { value: text });
  }
  return { url: text, name: `postgres://${url.host}${url.pathname}` };
}
