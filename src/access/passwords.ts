import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";

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
