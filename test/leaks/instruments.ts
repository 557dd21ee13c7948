/** Counts the resources of a process. To be imported before anything that it has to count. */
import { getEventListeners, type EventEmitter } from "node:events";
import { readdir, readlink } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { setImmediate as turn, setTimeout as sleep } from "node:timers/promises";

/** The resources at one moment; two readings of an idle process must not differ. */
export interface Reading {
  /** Connections, those of a keep-alive included. */
  readonly sockets: number;
  /** Waiting timers, also those that do not keep the process alive. */
  readonly timers: number;
  /** Listeners on the process, on the given emitters, and on every AbortSignal that still exists. */
  readonly listeners: number;
  /** Open file descriptors by what they lead to, sockets left out; none where the system does not tell. */
  readonly files: Readonly<Record<string, number>>;
  /** Memory on the heap after a garbage collection. */
  readonly heapBytes: number;
  /** Memory of buffers, which is not on the heap, after a garbage collection. */
  readonly bufferBytes: number;
}

/** Longer than any connection is kept alive. */
const patienceMs = 90_000;
/** Readings and no time, so that a process that was held up looks again. */
const sameReadings = 20;

const timeouts = new Set<unknown>();
const intervals = new Set<unknown>();
const signals = new Set<WeakRef<AbortSignal>>();
const warnings: string[] = [];

// Otherwise small buffers share pieces of memory of 64 kB, each of which stays as long as one of them: one buffer that
// lives at one of two readings would count as much as 16 bytes of each message.
Buffer.poolSize = 0;
watchTimers();
watchSignals();
process.on("warning", ({ name, message }) => void warnings.push(`${name}: ${message}`));

/** Warnings of Node.js, such as of too many listeners. */
export function readWarnings(): readonly string[] {
  return warnings.filter((line) => !/^(?:Experimental|Deprecation)Warning/.test(line));
}

/** Takes a reading when nothing is running; `emitters` are those whose listeners count besides the process's own. */
export async function read(emitters: readonly EventEmitter[]): Promise<Reading> {
  await untilIdle();
  // Before the memory, because what runs for the first time is compiled, and the code stays.
  const files = await settledFiles();
  for (let round = 0; round < 3; round++) {
    collect();
    await turn();
  }
  // Removes signals that are gone, which would count as memory.
  countOnSignals();
  // The least of several readings, because what is collected late is no leak.
  let [heapBytes, bufferBytes] = [Infinity, Infinity];
  for (let round = 0; round < 5; round++) {
    collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    heapBytes = Math.min(heapBytes, heapUsed);
    bufferBytes = Math.min(bufferBytes, arrayBuffers);
    await turn();
  }
  // A background task may have started meanwhile.
  await untilIdle();
  const listeners = [process, ...emitters].reduce((sum, one) => sum + countListeners(one), countOnSignals());
  return {
    sockets: countSockets(),
    timers: timeouts.size + intervals.size,
    listeners,
    files,
    heapBytes,
    bufferBytes,
  };
}

/** Connections and timers that end by themselves; an idle process has none. */
export function countPassing(): number {
  return countSockets() + timeouts.size;
}

/** Waits until no connection is kept alive and no timer waits any more. */
async function untilIdle(): Promise<void> {
  const until = performance.now() + patienceMs;
  while (countPassing() > 0 && performance.now() < until) {
    await sleep(50);
  }
}

export function countSockets(): number {
  return process.getActiveResourcesInfo().filter((one) => one === "TCPSocketWrap").length;
}

function collect(): void {
  if (globalThis.gc === undefined) {
    throw new Error("run with --expose-gc");
  }
  globalThis.gc();
}

function countListeners(emitter: EventEmitter): number {
  return emitter.eventNames().reduce((sum, name) => sum + emitter.listenerCount(name), 0);
}

function countOnSignals(): number {
  let count = 0;
  for (const reference of signals) {
    const signal = reference.deref();
    if (signal === undefined) {
      signals.delete(reference);
    } else {
      count += getEventListeners(signal, "abort").length;
    }
  }
  return count;
}

/**
 * Reads until nothing has changed for a while: a file that something opens and closes for a moment is no leak, and a
 * thread that ends closes its own one after the other.
 */
async function settledFiles(): Promise<Record<string, number>> {
  let files = await openFiles();
  for (let same = 0; same < sameReadings; same++) {
    await sleep(20);
    const before = files;
    files = await openFiles();
    if (!isDeepStrictEqual(files, before)) {
      same = 0;
    }
  }
  return files;
}

async function openFiles(): Promise<Record<string, number>> {
  const folder = "/proc/self/fd";
  const names = await readdir(folder).catch(() => []);
  const found: Record<string, number> = {};
  for (const name of names) {
    // The one of the list itself is gone by now.
    const target = await readlink(`${folder}/${name}`).catch(() => "socket:");
    if (!target.startsWith("socket:")) {
      const kind = target.replace(/\[\d+\]$/, "");
      found[kind] = (found[kind] ?? 0) + 1;
    }
  }
  return found;
}

/** Timers of the global functions, which are those that this package uses. */
function watchTimers(): void {
  const { setTimeout: start, setInterval: startInterval, clearTimeout: end } = globalThis;
  const replace = (name: string, original: object, replacement: object): void => {
    // With util.promisify's own version of it.
    Object.defineProperties(replacement, Object.getOwnPropertyDescriptors(original));
    Reflect.set(globalThis, name, replacement);
  };
  replace("setTimeout", start, (callback: (...given: unknown[]) => void, ms?: number, ...args: unknown[]) => {
    const fire = (...given: unknown[]): void => {
      timeouts.delete(timer);
      callback(...given);
    };
    const timer = start(fire, ms, ...args);
    timeouts.add(timer);
    return timer;
  });
  replace("setInterval", startInterval, (callback: (...given: unknown[]) => void, ms?: number) => {
    const timer = startInterval(callback, ms);
    intervals.add(timer);
    return timer;
  });
  for (const name of ["clearTimeout", "clearInterval"]) {
    replace(name, end, (timer: Parameters<typeof clearTimeout>[0]) => {
      timeouts.delete(timer);
      intervals.delete(timer);
      end(timer);
    });
  }
}

function watchSignals(): void {
  const Original = globalThis.AbortController;
  globalThis.AbortController = class extends Original {
    constructor() {
      super();
      signals.add(new WeakRef(this.signal));
    }
  };
}
