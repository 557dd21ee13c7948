/** Typed events of one kind. */
export interface Emitter<T> {
  emit(event: T): void;
  /** Returns a function that removes the listener. */
  on(listener: (event: T) => void): () => void;
  /** The next event that matches; rejects when the simulator closes first. */
  next(fits?: (event: T) => boolean): Promise<T>;
  close(): void;
}

export function createEmitter<T>(): Emitter<T> {
  const listeners = new Set<(event: T) => void>();
  const waiting = new Set<(reason: Error) => void>();
  function on(listener: (event: T) => void): () => void {
    // A new function for each call, so that the same listener can be added twice.
    const entry = (event: T): void => listener(event);
    listeners.add(entry);
    return () => listeners.delete(entry);
  }
  return {
    emit: (event) => listeners.forEach((listener) => listener(event)),
    on,
    next: (fits = () => true) =>
      new Promise<T>((resolve, reject) => {
        waiting.add(reject);
        const off = on((event) => {
          if (!fits(event)) {
            return;
          }
          off();
          waiting.delete(reject);
          resolve(event);
        });
      }),
    close() {
      listeners.clear();
      waiting.forEach((reject) => reject(new Error("The simulator was closed.")));
      waiting.clear();
    },
  };
}

/** How much a list may contain before it forgets its oldest entries. */
export interface HistoryLimits {
  readonly entries: number;
  readonly bytes: number;
}

/** A list in order of time that forgets its oldest entries, so that a simulator that runs for weeks stays small. */
interface History<T> {
  readonly all: readonly T[];
  /** Adds the newest entry; `bytes` is about what it takes in memory. */
  add(entry: T, bytes: number): void;
  /** Says that an entry takes more memory than before. */
  grow(entry: T, bytes: number): void;
  clear(): void;
}

/** A request would exceed a limit; the message is for its sender. */
export class LimitError extends Error {
  override readonly name = "LimitError";
}

// Forgetting a tenth at a time keeps the removal cheap at many thousand entries a second.
const forgottenAtOnce = 0.1;

/** `onForget` is called for each entry that is forgotten because of the limits. */
export function createHistory<T>(limits: HistoryLimits, onForget?: (entry: T) => void): History<T> {
  const all: T[] = [];
  const sizes = new Map<T, number>();
  let totalBytes = 0;

  function forgetOldest(): void {
    const isOver = all.length > limits.entries || totalBytes > limits.bytes;
    if (!isOver) {
      return;
    }
    const entries = limits.entries - Math.floor(limits.entries * forgottenAtOnce);
    const bytes = limits.bytes * (1 - forgottenAtOnce);
    let count = 0;
    // The newest entry stays, however large it is, because somebody is about to request it.
    while (count < all.length - 1 && (all.length - count > entries || totalBytes > bytes)) {
      const entry = all[count];
      if (entry !== undefined) {
        totalBytes -= sizes.get(entry) ?? 0;
        sizes.delete(entry);
      }
      count += 1;
    }
    all.splice(0, count).forEach((entry) => onForget?.(entry));
  }

  return {
    all,
    add(entry, bytes) {
      all.push(entry);
      sizes.set(entry, bytes);
      totalBytes += bytes;
      forgetOldest();
    },
    grow(entry, bytes) {
      const before = sizes.get(entry);
      if (before === undefined) {
        return;
      }
      sizes.set(entry, before + bytes);
      totalBytes += bytes;
      forgetOldest();
    },
    clear() {
      all.length = 0;
      sizes.clear();
      totalBytes = 0;
    },
  };
}
