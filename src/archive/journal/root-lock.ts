import { randomUUID } from "node:crypto";
import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as v from "valibot";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { phrase } from "../../errors/interpolation.ts";
import { systemCode } from "../../media/disk.ts";
import { asFileError, diskFacts, writeWhole, type ArchiveDisk } from "../archive-disk.ts";

/** How an owner shows that it lives to those who cannot see its process. */
export interface LockRules {
  readonly beatMs: number;
  /** No beat for so long: the owner is gone. */
  readonly staleMs: number;
}

const usualRules: LockRules = { beatMs: 5_000, staleMs: 16_000 };

export interface AcquireOptions {
  /** A lock with this very nonce is one that could not be removed when it was released, and is taken up again. */
  readonly nonce?: string;
  readonly rules?: LockRules;
}

const owner = v.object({
  nonce: v.string(),
  pid: v.number(),
  host: v.string(),
  /** This start of the system, and the view of its processes that a container has; null where not known. */
  boot: v.nullable(v.string()),
  processes: v.nullable(v.string()),
  /** When the process started, as the system counts it: process ids come again. */
  started: v.nullable(v.string()),
});

type Owner = v.InferOutput<typeof owner>;

/**
 * Keeps all other processes away from an archive's root. What a killed process leaves is recognised at once where its
 * process can be looked up, and after 16 seconds without a beat where it can't: in another container or machine.
 */
export class RootLock {
  readonly #path: string;
  readonly #nonce: string;
  readonly #disk: ArchiveDisk;
  readonly #beatMs: number;
  #timer: NodeJS.Timeout | undefined;
  #checkedAt = performance.now();

  private constructor(path: string, nonce: string, disk: ArchiveDisk, beatMs: number) {
    this.#path = path;
    this.#nonce = nonce;
    this.#disk = disk;
    this.#beatMs = beatMs;
    this.#timer = setInterval(() => void this.#beat(), beatMs).unref();
  }

  /** Throws ERR_FILE archiveLocked while another process has the root. */
  static async acquire(
    folder: string,
    disk: ArchiveDisk,
    { nonce = randomUUID(), rules = usualRules }: AcquireOptions = {},
  ): Promise<RootLock> {
    const path = join(folder, "lock");
    const me: Owner = { nonce, ...(await thisProcess()) };
    let isTakeover = false;
    for (;;) {
      if (await create(path, me, disk)) {
        if (!isTakeover) {
          return new RootLock(path, me.nonce, disk, rules.beatMs);
        }
        // Another process may have judged the same left-over lock and be between its look and its move.
        await sleep(100);
        if (isOwner(await readOwner(path, disk), me.nonce)) {
          return new RootLock(path, me.nonce, disk, rules.beatMs);
        }
        continue;
      }
      const found = await readOwner(path, disk);
      if (found === "none") {
        continue;
      }
      if (isOwner(found, nonce)) {
        return new RootLock(path, nonce, disk, rules.beatMs);
      }
      if (!(await isGone(found, me, path, disk, rules))) {
        throw locked(folder, found);
      }
      isTakeover = true;
      await remove(path, found, me.nonce, disk);
    }
  }

  /** Throws once another process has taken the root over; to be asked before anything is written. */
  async check(): Promise<void> {
    if (performance.now() - this.#checkedAt < this.#beatMs) {
      return;
    }
    const found = await readOwner(this.#path, this.#disk);
    if (found === "none") {
      await create(this.#path, { nonce: this.#nonce, ...(await thisProcess()) }, this.#disk);
    } else if (!isOwner(found, this.#nonce)) {
      throw locked(this.#path, found);
    }
    this.#checkedAt = performance.now();
  }

  async release(): Promise<void> {
    clearInterval(this.#timer);
    const found = await readOwner(this.#path, this.#disk).catch(() => undefined);
    if (isOwner(found, this.#nonce)) {
      await this.#disk.unlink(this.#path).catch(() => undefined);
    }
  }

  async #beat(): Promise<void> {
    const now = new Date();
    try {
      await this.check();
      await this.#disk.utimes(this.#path, now, now);
    } catch {
      // The disk may be gone for a while; who writes will hear of it.
    }
  }
}

async function create(path: string, me: Owner, disk: ArchiveDisk): Promise<boolean> {
  try {
    const file = await disk.open(path, "wx");
    try {
      try {
        await writeWhole(file, Buffer.from(`${JSON.stringify(me)}\n`), 0);
      } finally {
        await file.close();
      }
    } catch (error) {
      // A lock that does not tell its owner would keep everybody waiting; by now it may be another's.
      const found = await readOwner(path, disk).catch(() => undefined);
      if (found === undefined || isOwner(found, me.nonce)) {
        await disk.unlink(path).catch(() => undefined);
      }
      throw error;
    }
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") {
      return false;
    }
    throw asFileError(error, path);
  }
}

/** "none" where there is no lock, undefined where it says nothing: its owner died before it was written. */
async function readOwner(path: string, disk: ArchiveDisk): Promise<Owner | "none" | undefined> {
  let text: string;
  try {
    text = await readText(path, disk);
  } catch (error) {
    if (systemCode(error) === "ENOENT") {
      return "none";
    }
    throw asFileError(error, path);
  }
  try {
    return v.parse(owner, JSON.parse(text));
  } catch {
    return undefined;
  }
}

async function readText(path: string, disk: ArchiveDisk): Promise<string> {
  const file = await disk.open(path, "r");
  try {
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

function isOwner(found: Owner | "none" | undefined, nonce: string): boolean {
  return found !== undefined && found !== "none" && found.nonce === nonce;
}

async function isGone(
  found: Owner | undefined,
  me: Owner,
  path: string,
  disk: ArchiveDisk,
  { staleMs }: LockRules,
): Promise<boolean> {
  const seesIt =
    found !== undefined &&
    found.host === me.host &&
    found.boot === me.boot &&
    found.processes === me.processes;
  if (seesIt && !isAlive(found.pid)) {
    return true;
  }
  if (seesIt && found.started !== null) {
    const started = await startOf(found.pid);
    return started !== null && started !== found.started;
  }
  return await isSilent(path, disk, staleMs);
}

/** Watches for a beat; a clock that differs between machines does not matter, since only changes count. */
async function isSilent(path: string, disk: ArchiveDisk, staleMs: number): Promise<boolean> {
  const beatOf = async (): Promise<string> => {
    const { ino, mtimeMs } = await disk.lstat(path);
    return `${ino} ${mtimeMs}`;
  };
  try {
    const first = await beatOf();
    const until = performance.now() + staleMs;
    while (performance.now() < until) {
      await sleep(Math.min(500, staleMs / 8));
      if ((await beatOf()) !== first) {
        return false;
      }
    }
    return true;
  } catch (error) {
    if (systemCode(error) === "ENOENT") {
      return true;
    }
    throw asFileError(error, path);
  }
}

/** Moves a left-over lock away; if it was another's by then, that one gets it back. */
async function remove(
  path: string,
  judged: Owner | undefined,
  nonce: string,
  disk: ArchiveDisk,
): Promise<void> {
  const aside = `${path}.${nonce}`;
  try {
    await disk.rename(path, aside);
    const moved = await readOwner(aside, disk);
    if (moved !== "none" && moved?.nonce !== judged?.nonce) {
      await disk.link(aside, path);
    }
  } catch (error) {
    if (systemCode(error) !== "ENOENT" && systemCode(error) !== "EEXIST") {
      throw asFileError(error, path);
    }
  } finally {
    await disk.unlink(aside).catch(() => undefined);
  }
}

function locked(path: string, found: Owner | undefined): DimensionerError {
  const holder =
    found === undefined
      ? phrase("holderUnknown")
      : phrase("holderProcess", { process: found.pid, computer: found.host });
  return new DimensionerError("archiveLocked", diskFacts, { path, holder });
}

async function thisProcess(): Promise<Omit<Owner, "nonce">> {
  const read = (work: Promise<string>): Promise<string | null> =>
    work.then((text) => text.trim()).catch(() => null);
  return {
    pid: process.pid,
    host: hostname(),
    boot: await read(readFile("/proc/sys/kernel/random/boot_id", "utf8")),
    processes: await read(readlink("/proc/self/ns/pid")),
    started: await startOf(process.pid),
  };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) !== "ESRCH";
  }
}

/** The 22nd field of /proc/<pid>/stat; the second one is a name in parentheses that may hold anything. */
async function startOf(pid: number): Promise<string | null> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    // A killed process keeps its number until its parent has taken note; it writes nothing any more.
    return fields[0] === "Z" || fields[0] === "X" ? "ended" : (fields[19] ?? null);
  } catch {
    return null;
  }
}
