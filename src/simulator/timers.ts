import { setTimeout as sleep } from "node:timers/promises";

/** All timers of the simulator, which are cancelled when it closes. */
export interface Timers {
  /** Runs `act` after so many milliseconds, at once for 0. Returns a function that cancels it. */
  after(ms: number, act: () => void): () => void;
  /** Resolves after so many milliseconds, or when `until` is aborted; rejects when the simulator closes first. */
  sleep(ms: number, until?: AbortSignal): Promise<void>;
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
    async sleep(ms, until) {
      if (ms <= 0 || until?.aborted === true) {
        return;
      }
      // Not AbortSignal.any: on Node.js 22 each one leaves something behind with a signal that lives long.
      const ended = new AbortController();
      const end = (): void => ended.abort();
      const signals = until === undefined ? [closing.signal] : [closing.signal, until];
      signals.forEach((signal) => signal.addEventListener("abort", end));
      try {
        closing.signal.throwIfAborted();
        await sleep(ms, undefined, { signal: ended.signal });
      } catch (error) {
        if (closing.signal.aborted) {
          throw error;
        }
      } finally {
        signals.forEach((signal) => signal.removeEventListener("abort", end));
      }
    },
    close() {
      closing.abort();
      pending.forEach((timer) => clearTimeout(timer));
      pending.clear();
    },
  };
}

/** `2024-05-01T10:00:00.000+02:00`: the wall clock of the device with its offset from UTC. */
export function localTime(at: Date): string {
  const offset = -at.getTimezoneOffset();
  const clock = new Date(at.getTime() + offset * 60_000).toISOString().slice(0, -1);
  const hours = String(Math.floor(Math.abs(offset) / 60)).padStart(2, "0");
  const minutes = String(Math.abs(offset) % 60).padStart(2, "0");
  return `${clock}${offset < 0 ? "-" : "+"}${hours}:${minutes}`;
}
