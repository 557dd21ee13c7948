import { isIPv4, isIPv6 } from "node:net";
import { sameName } from "./logins.ts";

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
