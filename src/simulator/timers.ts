import { setTimeout as sleep } from "node:timers/promises";

/** All timers of the simulator, which are cancelled when it closes. */
export interface Timers {
  /** Runs `act` after so many milliseconds, at once for 0. Returns a function that cancels it. */
  after(ms: number, act: () => void): () => void;
  /** Resolves after so many milliseconds; rejects when the simulator closes first. */
  sleep(ms: number): Promise<void>;
  close(): void;
}

export function createTimers(): Timers {
  const closing = new AbortController();
  const pending = new Set<NodeJS.Timeout>();
  return {
    after(ms, act) {
      if (closing.signal.aborted) {
        return () => undefined;
      }
      if (ms <= 0) {
        act();
        return () => undefined;
      }
      const timer = setTimeout(() => {
        pending.delete(timer);
        act();
      }, ms);
      pending.add(timer);
      return () => {
        pending.delete(timer);
        clearTimeout(timer);
      };
    },
    async sleep(ms) {
      if (ms > 0) {
        await sleep(ms, undefined, { signal: closing.signal });
      }
    },
    close() {
      closing.abort();
      pending.forEach((timer) => clearTimeout(timer));
      pending.clear();
    },
  };
}
