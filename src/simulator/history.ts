/** How much a list may contain before it forgets its oldest entries. */
export interface HistoryLimits {
  readonly entries: number;
  readonly bytes: number;
}

/** A list in order of time that forgets its oldest entries, so that a simulator that runs for weeks stays small. */
export interface History<T> {
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
