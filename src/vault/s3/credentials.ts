import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import * as v from "valibot";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { ByteCollector, recordLimits } from "../../model/parse-json.ts";
import { jsonText } from "../../model/json-text.ts";

/** Temporary credentials are replaced so long before they end: a request has to arrive while they are valid. */
const renewBeforeMs = 5 * 60_000;

/**
 * The credentials of the environment, found as the programs of AWS find them: environment variables, then a profile in a
 * file, then the container's or the virtual machine's role. Those that end are looked up again in time.
 */
export class CredentialChain {
  readonly #environment: Environment;
  #known: Credentials | undefined;
  #finding: Promise<Credentials> | undefined;

  constructor(environment: Environment = process.env) {
    this.#environment = environment;
  }

  /** Throws ERR_CONFIG if there are no credentials. */
  async get(): Promise<Credentials> {
    const known = this.#known;
    if (known !== undefined && Date.now() < (known.expiresAtMs ?? Infinity) - renewBeforeMs) {
      return known;
    }
    this.#finding ??= this.#find().finally(() => (this.#finding = undefined));
    return await this.#finding;
  }

  /** To be called when the object store no longer accepts these: they are looked up again at the next request. */
  drop(refused: Credentials): void {
    if (this.#known === refused) {
      this.#known = undefined;
    }
  }

  async #find(): Promise<Credentials> {
    const environment = this.#environment;
    const found =
      fromVariables(environment) ?? (await readProfile(environment)) ?? (await fetchCredentials(environment));
    if (found === undefined) {
      throw new DimensionerError("bucketCredentials", { surface: "store", operation: "bucket" });
    }
    this.#known = found;
    return found;
  }
}

function fromVariables(environment: Environment): Credentials | undefined {
  const accessKeyId = environment["AWS_ACCESS_KEY_ID"];
  const secretAccessKey = environment["AWS_SECRET_ACCESS_KEY"];
  return accessKeyId && secretAccessKey
    ? { accessKeyId, secretAccessKey, sessionToken: environment["AWS_SESSION_TOKEN"] || undefined }
    : undefined;
}

const answer = v.pipe(
  jsonText(recordLimits),
  v.object({
    AccessKeyId: v.string(),
    SecretAccessKey: v.string(),
    Token: v.optional(v.string()),
    Expiration: v.optional(v.string()),
  }),
);

/** A token or a role's credentials have some thousand. */
const mostBytes = 64 * 1024;
/** These answer at once or, on a computer without them, never. */
const answerWithinSeconds = 2;
/** A timer takes no more than 24 days, and nobody waits for longer than this. */
const mostSeconds = 3_600;
const containerOrigin = "http://169.254.170.2";
const machineOrigin = "http://169.254.169.254";
const rolePath = "/latest/meta-data/iam/security-credentials/";
/** Plain HTTP is allowed only to where it does not leave the computer: the addresses of ECS and EKS, and loopback. */
const localHosts: ReadonlySet<string> = new Set([
  "169.254.170.2",
  "169.254.170.23",
  "[fd00:ec2::23]",
  "127.0.0.1",
  "[::1]",
  "localhost",
]);

/**
 * Asks for the credentials of the role that this container has (ECS, EKS), or this virtual machine (EC2). Undefined if
 * there is none.
 */
async function fetchCredentials(environment: Environment): Promise<Credentials | undefined> {
  const relative = environment["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"];
  const full = environment["AWS_CONTAINER_CREDENTIALS_FULL_URI"];
  const container = relative ? `${containerOrigin}${relative}` : full;
  if (container) {
    const token = await readToken(environment);
    const headers = token === undefined ? undefined : { authorization: token };
    return isAllowed(container) ? decode(await ask(environment, container, { headers })) : undefined;
  }
  return environment["AWS_EC2_METADATA_DISABLED"] === "true" ? undefined : ofMachine(environment);
}

async function readToken(environment: Environment): Promise<string | undefined> {
  const file = environment["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"];
  return file ? (await readFile(file, "utf8")).trim() : environment["AWS_CONTAINER_AUTHORIZATION_TOKEN"];
}

async function ofMachine(environment: Environment): Promise<Credentials | undefined> {
  const origin = environment["AWS_EC2_METADATA_SERVICE_ENDPOINT"] ?? machineOrigin;
  const ttl = { "x-aws-ec2-metadata-token-ttl-seconds": "300" };
  const token = await ask(environment, `${origin}/latest/api/token`, { method: "PUT", headers: ttl });
  if (token === undefined) {
    return undefined;
  }
  const headers = { "x-aws-ec2-metadata-token": token };
  const role = (await ask(environment, `${origin}${rolePath}`, { headers }))?.split("\n")[0]?.trim();
  return role ? decode(await ask(environment, `${origin}${rolePath}${role}`, { headers })) : undefined;
}

function isAllowed(address: string): boolean {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  return url?.protocol === "https:" || (url?.protocol === "http:" && localHosts.has(url.hostname));
}

/** Undefined if nothing answers, or not with what was asked for. */
async function ask(
  environment: Environment,
  url: string,
  init: { readonly method?: "PUT"; readonly headers?: Record<string, string> | undefined },
): Promise<string | undefined> {
  const { method = "GET", headers = {} } = init;
  const { Agent, request } = await import("undici");
  const signal = AbortSignal.timeout(Math.round(secondsToWait(environment) * 1_000));
  // One of its own: it uses no proxy, since what it asks for is for this computer only.
  const dispatcher = new Agent();
  try {
    const { statusCode, body } = await request(url, { method, headers, signal, dispatcher });
    return statusCode === 200 ? await readText(body) : undefined;
  } catch {
    return undefined;
  } finally {
    await dispatcher.destroy();
  }
}

/** Undefined if there is more than anybody would send who has credentials. */
async function readText(body: AsyncIterable<Buffer>): Promise<string | undefined> {
  const read = new ByteCollector(mostBytes);
  for await (const block of body) {
    if (!read.add(block)) {
      return undefined;
    }
  }
  return read.bytes().toString();
}

/** As the programs of AWS read it: a number from 1 on. */
function secondsToWait(environment: Environment): number {
  const given = Number(environment["AWS_METADATA_SERVICE_TIMEOUT"]);
  return given >= 1 ? Math.min(given, mostSeconds) : answerWithinSeconds;
}

function decode(text: string | undefined): Credentials | undefined {
  const decoded = v.safeParse(answer, text);
  if (!decoded.success) {
    return undefined;
  }
  const { AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, Token, Expiration } = decoded.output;
  const expiresAtMs = Date.parse(Expiration ?? "");
  return {
    accessKeyId,
    secretAccessKey,
    sessionToken: Token,
    ...(Number.isNaN(expiresAtMs) ? {} : { expiresAtMs }),
  };
}

/**
 * Reads the keys of a profile from the files of AWS's programs: the one that AWS_PROFILE names, or `default`. Undefined
 * if there is none, or it has no keys of its own.
 */
async function readProfile(environment: Environment): Promise<Credentials | undefined> {
  const name = environment["AWS_PROFILE"] || "default";
  const folder = join(homedir(), ".aws");
  const files = [
    [environment["AWS_SHARED_CREDENTIALS_FILE"] ?? join(folder, "credentials"), name],
    [environment["AWS_CONFIG_FILE"] ?? join(folder, "config"), name === "default" ? name : `profile ${name}`],
  ] as const;
  for (const [file, section] of files) {
    const values = readSection(await readFile(file, "utf8").catch(() => ""), section);
    const accessKeyId = values.get("aws_access_key_id");
    const secretAccessKey = values.get("aws_secret_access_key");
    if (accessKeyId !== undefined && secretAccessKey !== undefined) {
      return { accessKeyId, secretAccessKey, sessionToken: values.get("aws_session_token") };
    }
  }
  return undefined;
}

function readSection(text: string, wanted: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  let isWanted = false;
  for (const line of text.split(/\r?\n/)) {
    const [, section] = /^\s*\[\s*(.*?)\s*\]/.exec(line) ?? [];
    const [, key, value] = /^([\w.-]+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (section !== undefined) {
      isWanted = section === wanted;
    } else if (isWanted && key !== undefined && value !== undefined && value !== "") {
      values.set(key.toLowerCase(), value);
    }
  }
  return values;
}

/** The credentials of one identity. */
export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of temporary credentials. */
  readonly sessionToken?: string | undefined;
  /** When temporary credentials end, in milliseconds since 1970; undefined if that is not known. */
  readonly expiresAtMs?: number | undefined;
}

/** The variables of the environment, by name. */
export type Environment = Readonly<Record<string, string | undefined>>;
