import { DimensionerError } from "../errors/dimensioner-error.ts";

/** Where a PostgreSQL database is. */
export interface PostgresAddress {
  /** As it was given, without a password. What is missing in it comes from the environment, as for PostgreSQL's own programs. */
  readonly url: string;
  /** Blank: the password comes from the environment, too. */
  readonly password: string;
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
export function readPostgresUrl(text: string, password = ""): PostgresAddress {
  const facts = { surface: "store", operation: "database" } as const;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && (url.password !== "" || url.searchParams.has("password"))) {
    throw new DimensionerError("postgresPassword", facts);
  }
  // Options would replace those that the statements of a store need.
  if (url === undefined || url.searchParams.has("options") || !/^postgres(?:ql)?:\/\//i.test(text)) {
    throw new DimensionerError("postgresAddress", facts, { value: text });
  }
  return { url: text, password, name: `postgres://${url.host}${url.pathname}` };
}

/** What pg treats as `verify-full`, with a warning in the log that a later version will check less. */
const otherModes: ReadonlySet<string> = new Set(["prefer", "require", "verify-ca"]);

/** The address with the password, as only the connection itself needs it. */
export function connectionString({ url: text, password }: PostgresAddress): string {
  const url = new URL(text);
  const { searchParams } = url;
  const isOther =
    otherModes.has(searchParams.get("sslmode") ?? "") && searchParams.get("uselibpqcompat") !== "true";
  if (password === "" && !isOther) {
    return text;
  }
  if (isOther) {
    searchParams.set("sslmode", "verify-full");
  }
  if (password !== "") {
    // Not before the host, which the environment may name instead.
    searchParams.set("password", password);
  }
  return url.href;
}
