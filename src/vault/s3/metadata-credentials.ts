import { readFile } from "node:fs/promises";
import * as v from "valibot";
import { ByteCollector } from "../../model/byte-collector.ts";
import { jsonText } from "../../model/json-text.ts";
import { recordLimits } from "../../model/parse-json.ts";
import type { Environment, Credentials } from "./credentials.ts";

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
export async function fetchCredentials(environment: Environment): Promise<Credentials | undefined> {
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
