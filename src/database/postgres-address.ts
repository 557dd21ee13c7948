import { type ConnectionOptions, checkServerIdentity } from "node:tls";
import * as v from "valibot";
import { DimensionerError } from "../errors/dimensioner-error.ts";
import { recordLimits } from "../model/parse-json.ts";
import { jsonText } from "../model/json-text.ts";

/** Where a PostgreSQL database is. */
export interface PostgresAddress {
  /** As it was given, without a password. What is missing in it comes from the environment, as for PostgreSQL's own programs. */
  readonly url: string;
  /** Blank: the password comes from the environment, too. */
  readonly password: string;
  /** As messages name it: without the options. */
  readonly name: string;
  /** Replaces what the address says about TLS. */
  readonly tls?: PostgresTls | undefined;
}

/** A PostgreSQL database as the dialog of a store names it. */
interface PostgresServer {
  /** As `readDatabaseHost` returns it. */
  readonly host: string;
  readonly port: number;
  readonly databaseName: string;
  /** Blank: from the environment. */
  readonly user: string;
  readonly password: string;
  readonly tls: PostgresTls | undefined;
}

/** Returns the address of a database. */
export function addressOfServer({ user, password, tls, ...server }: PostgresServer): PostgresAddress {
  const place = `${server.host}:${server.port}/${encodeURI(server.databaseName).replace(/[?#]/g, encodeURIComponent)}`;
  const userInfo = user === "" ? "" : `${encodeURIComponent(user)}@`;
  // What the command-line tools do with this address. They know nothing of the certificates.
  const mode =
    tls === undefined ? "" : `?sslmode=${tls.rejectUnauthorized === false ? "no-verify" : "verify-full"}`;
  return { url: `postgres://${userInfo}${place}${mode}`, password, name: `postgres://${place}`, tls };
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
  const hosts = /^postgres(?:ql)?:\/\/(?:[^/?#]*@)?([^/?#]*,[^/?#]*)/i.exec(text)?.[1];
  if (hosts !== undefined) {
    throw new DimensionerError("postgresHosts", facts, { value: hosts });
  }
  if (url !== undefined && (url.password !== "" || url.searchParams.has("password"))) {
    throw new DimensionerError("postgresPassword", facts);
  }
  // Options would replace those that the statements of a store need.
  if (url === undefined || url.searchParams.has("options") || !/^postgres(?:ql)?:\/\//i.test(text)) {
    throw new DimensionerError("postgresAddress", facts, { value: withoutUserInfo(text) });
  }
  return { url: text, password, name: `postgres://${url.host}${url.pathname}` };
}

/** The password may be what makes it no address: one with a slash that is not encoded. */
function withoutUserInfo(text: string): string {
  return text.replace(/\/\/.*@/s, "//");
}

/** How a server has a client log in, as `require_auth` names it; `none` where it asks for no password. */
export type LoginMethod = "md5" | "none" | "password" | "scram-sha-256";

/** How a server may have a client log in. */
export interface LoginMethods {
  /** As it was given; blank if nothing was. */
  readonly given: string;
  has(method: LoginMethod): boolean;
}

/**
 * Reads the option `require_auth` of an address, or PGREQUIREAUTH, as PostgreSQL's own programs do: a list of methods with commas
 * between them, or of those that are not allowed, each with an exclamation mark before it.
 */
export function loginMethodsOf(
  { url }: Pick<PostgresAddress, "url">,
  environment: NodeJS.ProcessEnv = process.env,
): LoginMethods {
  const given = new URL(url).searchParams.get("require_auth") ?? environment["PGREQUIREAUTH"] ?? "";
  const named = given.split(",").map((name) => name.trim());
  const isExcluding = named.every((name) => name.startsWith("!"));
  return {
    given,
    has: (method) => (isExcluding ? !named.includes(`!${method}`) : named.includes(method)),
  };
}

const text = v.exactOptional(v.string());
const postgresTls = v.object({
  ca: text,
  cert: text,
  key: text,
  passphrase: text,
  /** The name that the server's certificate has, if it is not that of the host. */
  servername: text,
  rejectUnauthorized: v.exactOptional(v.boolean()),
});

/** How the connections to a database are encrypted: certificates and keys as PEM. */
export type PostgresTls = v.InferOutput<typeof postgresTls>;

/** The same as Node.js has it. */
type GivenTls = Pick<
  ConnectionOptions,
  "ca" | "cert" | "key" | "passphrase" | "servername" | "rejectUnauthorized"
>;

/** The variable in the environment of a thread that contains it, as JSON. The variables of PostgreSQL's programs name files. */
const variable = "DIMENSIONER_POSTGRES_TLS";

/** Takes over settings of Node.js. */
export function readPostgresTls({ ca, cert, key, ...given }: GivenTls): PostgresTls {
  return v.parse(postgresTls, { ...given, ...pemOf({ ca, cert, key }) });
}

/** Those that are given, as texts. */
function pemOf(given: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const texts = Object.entries(given).map(([name, value]) => [name, String(value)] as const);
  return Object.fromEntries(texts.filter(([name]) => given[name] !== undefined));
}

/** Lets all connections of this thread be encrypted like this, where the functions that it calls know an address only. */
export function encryptInThread(tls: PostgresTls): void {
  process.env[variable] = JSON.stringify(tls);
}

/** How the connections of this thread are encrypted; undefined if the address alone says it. */
export function tlsOfThread(): PostgresTls | undefined {
  const given = process.env[variable];
  return given === undefined ? undefined : v.parse(v.pipe(jsonText(recordLimits), postgresTls), given);
}

/** Returns the settings for the driver, which replaces `servername` by the name of the host. */
export function connectionTls({ servername, ...tls }: PostgresTls): ConnectionOptions {
  return servername === undefined
    ? tls
    : {
        ...tls,
        servername,
        checkServerIdentity: (_host, certificate) => checkServerIdentity(servername, certificate),
      };
}
