import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { isIPv4, isIPv6 } from "node:net";
import * as v from "valibot";
import { recordLimits } from "../model/parse-json.ts";
import { jsonText } from "../model/json-text.ts";
import { longestNameLength } from "../rules/logins.ts";

/** What somebody may do: look at packages, or also put them on hold and release them. */
export const rights = ["read", "manage"] as const;
export type Right = (typeof rights)[number];

export interface Person {
  readonly name: string;
  readonly right: Right;
}

/** A name, what it may do, and the hash of its password. */
export interface Login extends Person {
  readonly hash: string;
}

const mostLogins = 500;

const name = v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(longestNameLength));
const loginsSchema = v.pipe(
  v.array(
    v.strictObject({ name, right: v.picklist(rights), hash: v.pipe(v.string(), v.check(isPasswordHash)) }),
  ),
  v.maxLength(mostLogins),
);

/** Reads the logins of the credentials; undefined if they are not what a dialog has written. */
export function readLogins(text: string): readonly Login[] | undefined {
  if (text.trim() === "") {
    return [];
  }
  const read = v.safeParse(v.pipe(jsonText(recordLimits), loginsSchema), text);
  if (!read.success) {
    return undefined;
  }
  const names = new Set(read.output.map((login) => sameName(login.name)));
  return names.size === read.output.length ? read.output : undefined;
}

/** Names are compared without their case: people type them on the keyboards of many devices. */
export function findLogin(logins: readonly Login[], given: string): Login | undefined {
  const sought = sameName(given);
  return logins.find((login) => sameName(login.name) === sought);
}

export function sameName(text: string): string {
  return text.trim().normalize("NFKC").toLowerCase();
}

/** N = 2^15, r = 8, p = 3, as OWASP recommends: 32 MB and about a tenth of a second. */
const cost = { log2N: 15, r: 8, p: 3 } as const;
const saltBytes = 16;
const hashBytes = 32;
/** What a hash may ask for at most: hashes also come with flows that somebody has imported. */
const mostMemoryBytes = 64 * 1024 * 1024;
const mostParallel = 16;
/** Each check takes 32 MB, so only few wait for their turn. */
const mostWaiting = 20;

interface Parameters {
  readonly log2N: number;
  readonly r: number;
  readonly p: number;
}

interface ParsedHash extends Parameters {
  readonly salt: Buffer;
  readonly hash: Buffer;
}

/** Hashes a password with a salt of its own: `scrypt$15$8$3$<salt>$<hash>`. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  const hash = await derive(password, salt, cost);
  const { log2N, r, p } = cost;
  return `scrypt$${log2N}$${r}$${p}$${salt.toString("base64url")}$${hash.toString("base64url")}`;
}

/** Whether a text is a hash that `PasswordChecks` can check. */
export function isPasswordHash(text: string): boolean {
  return parse(text) !== undefined;
}

/** Checks passwords one after the other, so that logins neither fill the memory nor take all of Node's threads. */
export class PasswordChecks {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /**
   * Whether the password is that of the hash. Without a hash the answer is no and takes the same time, so that the time does
   * not tell whether there is such a login. "busy": too many wait already.
   */
  async check(password: string, hash: string | undefined): Promise<boolean | "busy"> {
    if (this.#waiting >= mostWaiting) {
      return "busy";
    }
    this.#waiting += 1;
    const own = this.#last.then(() => isPassword(password, hash));
    this.#last = own.catch(() => undefined);
    try {
      return await own;
    } finally {
      this.#waiting -= 1;
    }
  }
}

async function isPassword(password: string, hash: string | undefined): Promise<boolean> {
  const known = hash === undefined ? undefined : parse(hash);
  const { salt, hash: expected, ...parameters } = known ?? noHash;
  const found = await derive(password, salt, parameters);
  return timingSafeEqual(found, expected) && known !== undefined;
}

/** Stands for the hash of a login that does not exist. */
const noHash: ParsedHash = { ...cost, salt: Buffer.alloc(saltBytes), hash: Buffer.alloc(hashBytes) };

function parse(text: string): ParsedHash | undefined {
  const [, log2N, r, p, salt = "", hash = ""] =
    /^scrypt\$(\d{1,2})\$(\d{1,2})\$(\d{1,2})\$([\w-]{22})\$([\w-]{43})$/.exec(text) ?? [];
  const parameters = { log2N: Number(log2N), r: Number(r), p: Number(p) };
  if (log2N === undefined || parameters.log2N < 1 || parameters.r < 1 || parameters.p < 1) {
    return undefined;
  }
  const isTooCostly = memoryOf(parameters) >= mostMemoryBytes || parameters.p > mostParallel;
  const decoded = { salt: Buffer.from(salt, "base64url"), hash: Buffer.from(hash, "base64url") };
  return isTooCostly || decoded.hash.length !== hashBytes ? undefined : { ...parameters, ...decoded };
}

function memoryOf({ log2N, r, p }: Parameters): number {
  return 128 * r * (2 ** log2N + p + 2);
}

/** A password is normalized first, because keyboards compose the same characters in different ways. */
function derive(password: string, salt: Buffer, { log2N, r, p }: Parameters): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const options = { N: 2 ** log2N, r, p, maxmem: mostMemoryBytes };
  scrypt(password.normalize("NFKC"), salt, hashBytes, options, (error, hash) =>
    error === null ? resolve(hash) : reject(error),
  );
  return promise;
}

const windowMs = 15 * 60_000;
/** Failures of one name from one network; of one network, behind which many people may be; and of one name from anywhere. */
const most = { pair: 5, network: 50, name: 100 } as const;
/** More are not remembered; the oldest is forgotten first. */
const mostKeys = 10_000;

/** Counts failed logins, whether or not there is such a login, and says when the next one is allowed. */
export class FailedLogins {
  /** The times of failures by key, the latest last. */
  readonly #failures = new Map<string, number[]>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** After how many seconds a login may be tried again; 0: now. */
  waitSeconds(name: string, address: string): number {
    const now = this.#now();
    const waits = keysOf(name, address).map(({ key, limit }) => {
      const recent = this.#recent(key, now);
      const first = recent.at(-limit);
      return first === undefined ? 0 : first + windowMs - now;
    });
    return Math.ceil(Math.max(0, ...waits) / 1000);
  }

  add(name: string, address: string): void {
    const now = this.#now();
    for (const { key, limit } of keysOf(name, address)) {
      const recent = [...this.#recent(key, now), now].slice(-limit);
      this.#failures.delete(key);
      this.#failures.set(key, recent);
    }
    for (const key of this.#failures.keys()) {
      if (this.#failures.size <= mostKeys) {
        break;
      }
      this.#failures.delete(key);
    }
  }

  /** A login has succeeded: it was no failure, and the earlier ones of this name from there were typing errors. */
  succeeded(name: string, address: string): void {
    const [pair, ...others] = keysOf(name, address);
    this.#failures.delete(pair.key);
    for (const { key } of others) {
      this.#failures.set(key, (this.#failures.get(key) ?? []).slice(0, -1));
    }
  }

  #recent(key: string, now: number): readonly number[] {
    return (this.#failures.get(key) ?? []).filter((at) => now - at < windowMs);
  }
}

interface Key {
  readonly key: string;
  readonly limit: number;
}

function keysOf(name: string, address: string): readonly [Key, ...Key[]] {
  const [person, network] = [sameName(name), networkOf(address)];
  return [
    { key: JSON.stringify([person, network]), limit: most.pair },
    { key: JSON.stringify([null, network]), limit: most.network },
    { key: JSON.stringify([person]), limit: most.name },
  ];
}

/** An IPv4 address, or the first 64 bits of an IPv6 address: one household has all addresses that begin with them. */
export function networkOf(address: string): string {
  const [plain = ""] = address.split("%");
  const mapped = plain.replace(/^::ffff:/i, "");
  if (isIPv4(mapped) || !isIPv6(plain)) {
    return mapped;
  }
  const [before = "", after] = plain.split("::");
  const head = before.split(":").filter((part) => part !== "");
  const tail = (after ?? "").split(":").filter((part) => part !== "");
  const zeros = after === undefined ? 0 : 8 - head.length - tail.length;
  const parts = [...head, ...Array.from({ length: Math.max(0, zeros) }, () => "0"), ...tail];
  return parts
    .slice(0, 4)
    .map((part) => Number.parseInt(part, 16).toString(16))
    .join(":");
}
