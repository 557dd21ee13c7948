import { readFileSync } from "node:fs";
import * as fsPromises from "node:fs/promises";
import { parse, resolve, sep } from "node:path";
import { afterLimit } from "../time/after-limit.ts";
import { noInodes, systemCode } from "./disk.ts";

/** How many calls to the disk may run at the same time, and after which time a call counts as hung. */
export interface GuardRules {
  /** How many threads Node.js has for files, name look-ups and some other tasks. */
  readonly threads: number;
  /** Longer than a disk needs to spin up. */
  readonly hungAfterMs: number;
  /** A sync writes everything that the system has buffered, which takes minutes on a slow disk. */
  readonly syncHungAfterMs: number;
}

type Call = () => Promise<unknown>;

interface WaitingCall {
  readonly name: string;
  readonly call: Call;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Volume {
  readonly key: string;
  running: number;
  /** How many of the running calls count as hung. */
  hung: number;
  waiting: WaitingCall[];
}

/**
 * Prevents disks that hang from blocking all of Node's threads. A file call that hangs keeps its thread until the disk
 * answers, and the same few threads look up host names and save Node-RED's flows: four hung calls would stop the
 * process. So at most two calls to one volume run at the same time, and one thread always stays free. Once a call
 * counts as hung, every call to its volume fails at once with ETIMEDOUT until the hung call returns.
 */
export class DiskGuard {
  readonly #rules: GuardRules;
  readonly #most: number;
  readonly #mostOfVolume: number;
  /** The volumes with calls; the one that has waited longest for its turn comes first. */
  readonly #volumes = new Map<string, Volume>();
  #running = 0;
  #hung = 0;

  constructor(rules: GuardRules) {
    this.#rules = rules;
    this.#most = Math.max(1, rules.threads - 1);
    this.#mostOfVolume = Math.max(1, Math.min(2, this.#most - 1));
  }

  /** Returns the same file system, with its calls counted for the volume of this folder. */
  guard<T extends object>(disk: T, folder: string): T {
    const explain = async (failure: unknown): Promise<unknown> => {
      if (failure instanceof Error && systemCode(failure) === "ENOSPC" && (await hasNoInodes(disk, folder))) {
        Object.defineProperty(failure, noInodes, { value: true });
      }
      return failure;
    };
    return this.#wrap(disk, volumeOf(folder), explain);
  }

  /** `explain` adds to an error what the system does not say. */
  #wrap<T extends object>(target: T, volume: string, explain: (error: unknown) => Promise<unknown>): T {
    return new Proxy(target, {
      get: (real, name) => {
        const member: unknown = Reflect.get(real, name, real);
        if (typeof member !== "function" || typeof name !== "string") {
          return member;
        }
        return async (...args: unknown[]): Promise<unknown> => {
          const call = async (): Promise<unknown> => {
            try {
              return await Reflect.apply(member, real, args);
            } catch (error) {
              throw await explain(error);
            }
          };
          const result = await this.#run(volume, name, call);
          return name === "open" && isFile(result) ? this.#wrap(result, volume, explain) : result;
        };
      },
    });
  }

  #run(key: string, name: string, call: Call): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const volume = this.#volumes.get(key) ?? { key, running: 0, hung: 0, waiting: [] };
      this.#volumes.set(key, volume);
      volume.waiting.push({ name, call, resolve, reject });
      if (volume.hung > 0 || this.#hung >= this.#most) {
        refuseWaiting(volume);
      }
      this.#startNext();
    });
  }

  #startNext(): void {
    // A volume that is moved to the end is reached again, until none of them can start a call.
    for (const [key, volume] of this.#volumes) {
      if (this.#running >= this.#most) {
        return;
      }
      const isFree = volume.hung === 0 && volume.running < this.#mostOfVolume;
      const next = isFree ? volume.waiting.shift() : undefined;
      if (next !== undefined) {
        this.#volumes.delete(key);
        this.#volumes.set(key, volume);
        void this.#start(volume, next);
      } else if (volume.running === 0 && volume.waiting.length === 0) {
        this.#volumes.delete(key);
      }
    }
  }

  async #start(volume: Volume, { name, call, resolve, reject }: WaitingCall): Promise<void> {
    this.#running += 1;
    volume.running += 1;
    let isHung = false;
    const { hungAfterMs, syncHungAfterMs } = this.#rules;
    const stopTimer = afterLimit(name.endsWith("sync") ? syncHungAfterMs : hungAfterMs, () => {
      isHung = true;
      this.#tellHung(volume);
      reject(timedOut(name));
    });
    try {
      const result = await call();
      if (isHung && isFile(result)) {
        // The caller has got its error already, so nothing else would close the file.
        await result.close();
      }
      resolve(result);
    } catch (error) {
      reject(error);
    }
    stopTimer();
    this.#running -= 1;
    volume.running -= 1;
    if (isHung) {
      this.#hung -= 1;
      volume.hung -= 1;
    }
    this.#startNext();
  }

  #tellHung(volume: Volume): void {
    this.#hung += 1;
    volume.hung += 1;
    const refused = this.#hung >= this.#most ? [...this.#volumes.values()] : [volume];
    refused.forEach(refuseWaiting);
  }
}

/** Rejects the calls that wait for a hung volume. Files are still closed, as soon as the volume answers again. */
function refuseWaiting(volume: Volume): void {
  for (const { name, reject } of volume.waiting) {
    reject(timedOut(name));
  }
  volume.waiting = volume.waiting.filter(({ name }) => name === "close");
}

/** The error that a system reports for a network disk that does not answer. */
export function timedOut(call: string): Error {
  return Object.assign(new Error(`ETIMEDOUT: the disk does not answer, ${call}`), {
    code: "ETIMEDOUT",
    errno: -110,
  });
}

/** Whether the disk of a folder counts its files, as not all do, and has no room for another one. */
async function hasNoInodes(disk: object, folder: string): Promise<boolean> {
  const statfs: unknown = Reflect.get(disk, "statfs");
  if (typeof statfs !== "function") {
    return false;
  }
  try {
    const found: unknown = await Reflect.apply(statfs, disk, [folder]);
    return isCounted(found) && Number(found.files) > 0 && Number(found.ffree) === 0;
  } catch {
    return false;
  }
}

function isCounted(found: unknown): found is { readonly files: unknown; readonly ffree: unknown } {
  return typeof found === "object" && found !== null && "files" in found && "ffree" in found;
}

function isFile(result: unknown): result is { close: () => Promise<void> } {
  return (
    typeof result === "object" && result !== null && "close" in result && typeof result.close === "function"
  );
}

/** The threads belong to the process, so this guard counts for all nodes and clients in it. */
const processGuard = new DiskGuard({
  threads: Number(process.env["UV_THREADPOOL_SIZE"]) || 4,
  hungAfterMs: 30_000,
  syncHungAfterMs: 600_000,
});

/** The file system for work in a folder, which may be on a share that hangs. */
export function guardedDisk(folder: string): typeof fsPromises {
  return processGuard.guard(fsPromises, folder);
}

/** File systems that hang when a server or another program does not answer. */
const remoteType = /^(?:9p|afs|ceph|cifs|fuse|glusterfs|lustre|ncpfs|nfs|smb|virtiofs)/;

/**
 * The volume that hangs together with a folder: its network share, or on Windows its drive. Otherwise the folder
 * itself: a local disk is not known to hang as a whole, and a link may lead from it to a share.
 */
function volumeOf(folder: string): string {
  const path = resolve(folder);
  if (process.platform === "win32") {
    return parse(path).root;
  }
  const shares = remoteMounts().filter((mount) => path === mount || path.startsWith(mount + sep));
  return shares.sort((a, b) => b.length - a.length)[0] ?? path;
}

/** What is free on a disk, and what there is. */
export interface Space {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** The space on a folder's disk; undefined for a share that does not report its size. */
export async function spaceOf(
  folder: string,
  disk: Pick<typeof fsPromises, "statfs">,
): Promise<Space | undefined> {
  const { bavail, blocks, bsize } = await disk.statfs(folder);
  return blocks > 0 ? { freeBytes: bavail * bsize, totalBytes: blocks * bsize } : undefined;
}

/** Whether a share is mounted at this very folder. */
export function isShareMount(folder: string): boolean {
  return remoteMounts().includes(resolve(folder));
}

/** The mount points of shares. The kernel reads this list from memory, so the call does not block. */
function remoteMounts(): string[] {
  let table: string;
  try {
    table = readFileSync("/proc/self/mountinfo", "utf8");
  } catch {
    return [];
  }
  return table.split("\n").flatMap((line) => {
    const [mount = "", source = ""] = line.split(" - ");
    const point = mount.split(" ")[4];
    return point !== undefined && remoteType.test(source) ? [unescapePoint(point)] : [];
  });
}

/** Decodes a path of the list, in which a space is written as \040. */
function unescapePoint(point: string): string {
  return point.replace(/\\([0-7]{3})/g, (_all, code: string) =>
    String.fromCharCode(Number.parseInt(code, 8)),
  );
}
