import { checkServerIdentity, type ConnectionOptions } from "node:tls";
import * as v from "valibot";
import { jsonText } from "../model/json-text.ts";
import { recordLimits } from "../model/parse-json.ts";

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
