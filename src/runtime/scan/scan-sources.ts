import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { type Frame, firstEnd, isCutOff, lastFrame, splitFrames } from "../../scan/read-code.ts";
import { checkLength, mostCharacters, scanError } from "../../scan/read-scans.ts";
import { shown } from "../../scan/reference.ts";
import { afterLimit } from "../../time/after-limit.ts";
import type { Job } from "../action/serve.ts";

/** A message that ends with the beginning of a scan, until the next message arrives. */
interface Open {
  readonly rest: string;
  /** To be called when the next message takes over the beginning. */
  takeOver(): void;
}

/** How many turns of the event loop Node-RED needs to pass on what a socket has received, with a node or two in between. */
const turnsOfMessage = 3;

/** What the scans of a message need of it. */
type ScanJob = Pick<Job, "onSent" | "signal" | "waitSignal"> & {
  readonly status: { say(style: "waiting", key: "receivingScan"): unknown };
};

/** Scans whose message has to wait until those before it were sent. */
interface Waiting {
  frames: readonly Frame[];
}

/**
 * How many scans wait in a node, and how many characters they have. A scanner sends a few a second; one that has stored them without a
 * connection sends some thousands at once. Each takes about a kilobyte as a message.
 */
const mostWaiting = { scans: 20_000, characters: 2_000_000 } as const;

const fewScans = 100;

/** Everything from this source is dropped until a scan ends, or until it has paused for longer than any scan does. */
interface Skipped {
  readonly untilMs: number;
}

/**
 * Puts together scans that a stream has divided anywhere. A message that ends within a scan waits for the next message
 * of its source, which takes over the beginning. After a pause that is longer than any within a scan, the beginning
 * counts as the scan.
 */
export class ScanSources {
  readonly #gapMs: number;
  /** By source. Each belongs to a message that is being processed, so their number is limited. */
  readonly #open = new Map<string, Open>();
  readonly #skipped = new Map<string, Skipped>();
  /** By source: resolves when its last message so far has left the node. */
  readonly #leaving = new Map<string, Promise<void>>();
  /** The oldest first. */
  readonly #waiting = new Set<Waiting>();
  readonly #inside = { scans: 0, characters: 0 };
  #dropped = 0;

  constructor(gapMs: number) {
    this.#gapMs = gapMs;
  }

  /** How many scans were dropped because more came than can be sent. */
  get dropped(): number {
    return this.#dropped;
  }

  /**
   * Returns the scans that are complete with this message, after those of the messages before it were sent, without those that were
   * dropped meanwhile. Throws ERR_INPUT for one that is too long or incomplete.
   */
  collect(source: string, text: string, job: ScanJob): Promise<readonly Frame[]> {
    return this.#inTurn(source, job, () => this.#collect(source, text, job));
  }

  /** The same for a message that contains whole scans. A few of them do not wait for a turn of their own. */
  async pass(source: string, frames: readonly Frame[], job: ScanJob): Promise<readonly Frame[]> {
    const isSent = frames.length < fewScans && !this.#leaving.has(source);
    return isSent ? frames : await this.#inTurn(source, job, async () => frames);
  }

  async #inTurn(
    source: string,
    job: ScanJob,
    read: () => Promise<readonly Frame[]>,
  ): Promise<readonly Frame[]> {
    const previous = this.#leaving.get(source);
    const left = Promise.withResolvers<void>();
    this.#leaving.set(source, left.promise);
    job.onSent = () => {
      // The nodes behind have what was sent in the next turn.
      setImmediate(() => {
        left.resolve();
        if (this.#leaving.get(source) === left.promise) {
          this.#leaving.delete(source);
        }
      });
    };
    // Its place is that of its arrival: the end of a message may be in one that is complete before it.
    const waiting: Waiting = { frames: [] };
    this.#waiting.add(waiting);
    try {
      waiting.frames = await read();
      this.#count(waiting.frames, 1);
      this.#dropOldest();
      await previous;
      this.#count(waiting.frames, -1);
    } finally {
      this.#waiting.delete(waiting);
    }
    return waiting.frames;
  }

  #count(frames: readonly Frame[], sign: 1 | -1): void {
    this.#inside.scans += sign * frames.length;
    this.#inside.characters += sign * frames.reduce((sum, { raw }) => sum + raw.length, 0);
  }

  #dropOldest(): void {
    for (const waiting of this.#waiting) {
      let kept = 0;
      while (
        kept < waiting.frames.length &&
        (this.#inside.scans > mostWaiting.scans || this.#inside.characters > mostWaiting.characters)
      ) {
        this.#count(waiting.frames.slice(kept, kept + 1), -1);
        kept += 1;
      }
      if (kept > 0) {
        this.#dropped += kept;
        waiting.frames = waiting.frames.slice(kept);
      }
    }
  }

  async #collect(source: string, text: string, job: ScanJob): Promise<readonly Frame[]> {
    const before = this.#open.get(source);
    this.#open.delete(source);
    before?.takeOver();
    const { frames, rest } = splitFrames((before?.rest ?? "") + this.#withoutSkipped(source, text));
    if (rest.length > mostCharacters) {
      this.#skipped.set(source, { untilMs: performance.now() + this.#gapMs });
      throw scanError("scanTooLong", { most: mostCharacters });
    }
    frames.forEach(checkLength);
    if (rest === "") {
      return frames;
    }
    job.status.say("waiting", "receivingScan");
    const isTakenOver = await this.#wait(source, rest, job);
    if (isTakenOver) {
      return frames;
    }
    if (isCutOff(rest)) {
      throw scanError("scanCutOff", { value: shown(lastFrame(rest)?.body ?? "") });
    }
    const last = lastFrame(rest);
    return last === undefined ? frames : [...frames, last];
  }

  /** The rest of a scan that was too long is not a scan of its own. */
  #withoutSkipped(source: string, text: string): string {
    const now = performance.now();
    for (const [name, { untilMs }] of this.#skipped) {
      if (untilMs < now) {
        this.#skipped.delete(name);
      }
    }
    if (!this.#skipped.has(source)) {
      return text;
    }
    const end = firstEnd(text);
    if (end < 0) {
      this.#skipped.set(source, { untilMs: now + this.#gapMs });
      return "";
    }
    this.#skipped.delete(source);
    return text.slice(end);
  }

  /**
   * Resolves with whether the next message took over the beginning, or false after a pause. Throws if the message was
   * cancelled.
   */
  #wait(source: string, rest: string, { signal, waitSignal }: ScanJob): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const cancelled = AbortSignal.any([signal, waitSignal]);
      const settle = (): void => {
        stopTimer();
        cancelled.removeEventListener("abort", cancel);
        if (this.#open.get(source) === open) {
          this.#open.delete(source);
        }
      };
      const cancel = (): void => {
        settle();
        const facts = { surface: "config", operation: "scan", outcome: null } as const;
        reject(new DimensionerError(signal.aborted ? "cancelledClose" : "cancelledReset", facts));
      };
      const end = (isTakenOver: boolean): void => {
        settle();
        resolve(isTakenOver);
      };
      const open: Open = { rest, takeOver: () => end(true) };
      const stopTimer = afterLimit(this.#gapMs, () => end(false), turnsOfMessage);
      cancelled.addEventListener("abort", cancel);
      this.#open.set(source, open);
    });
  }
}
