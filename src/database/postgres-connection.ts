import type { Duplex } from "node:stream";
import type { Client, ClientConfig, PoolClient } from "pg";
import { textOfThrown } from "../errors/interpolation.ts";
import type { PostgresAddress } from "./postgres-address.ts";
import { schemaName } from "./postgres-failures.ts";
import { connectionTls, tlsOfThread } from "./postgres-tls.ts";

type Listener = (...given: unknown[]) => void;

/**
 * The client of the driver, so that an answer of the server that the driver cannot read ends the connection. The driver throws it where
 * nothing catches it, which ends the process: a server that asks for a login by GSSAPI or SSPI is enough.
 */
export function guardedClient(DriverClient: typeof Client): typeof Client {
  return class extends DriverClient {
    constructor(config?: string | ClientConfig) {
      super(config);
      const { connection } = this;
      const attach: unknown = Reflect.get(connection, "attachListeners");
      if (typeof attach === "function") {
        const attachGuarded = (stream: Duplex): void => {
          Reflect.apply(attach, connection, [guarded(stream)]);
        };
        Reflect.set(connection, "attachListeners", attachGuarded);
      }
    }
  };
}

/** What the driver listens to of a stream, also of that of TLS. */
function guarded(stream: Duplex): { on(event: string, listener: Listener): void } {
  return {
    on(event, listener) {
      stream.on(event, (...given: unknown[]) => {
        try {
          listener(...given);
        } catch (error) {
          stream.destroy(error instanceof Error ? error : new Error(textOfThrown(error)));
        }
      });
    },
  };
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
