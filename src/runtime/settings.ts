import type { DimensionerError } from "../errors.ts";
import { failBefore, type Operation } from "./failure.ts";

const ofConfigNode: Operation = { operation: "settings", surface: "config", acts: false };

/** Reads the number fields of a config node; a blank one is its default, anything else that is no number ERR_CONFIG. */
export class SettingsReader {
  readonly #what: string;
  readonly #operation: Operation;

  constructor(what: string, operation: Operation = ofConfigNode) {
    this.#what = what;
    this.#operation = operation;
  }

  /** Seconds, as milliseconds; more than none. */
  timeoutMs(field: string, given: unknown, defaultSeconds: number): number {
    const seconds = this.#number(field, given, defaultSeconds);
    if (seconds <= 0 || seconds > longestSeconds) {
      throw this.invalid(field, `it has to be more than 0 and at most ${longestSeconds} seconds.`);
    }
    return seconds * 1000;
  }

  /** Seconds, as milliseconds; 0 = no limit. */
  waitMs(field: string, given: unknown, defaultSeconds: number): number {
    const seconds = this.#number(field, given, defaultSeconds);
    if (seconds < 0 || seconds > longestSeconds) {
      throw this.invalid(field, `it has to be from 0 to ${longestSeconds} seconds.`);
    }
    return seconds * 1000;
  }

  count(field: string, given: unknown, defaultCount: number): number {
    const count = this.#number(field, given, defaultCount);
    if (!Number.isInteger(count) || count < 0) {
      throw this.invalid(field, "it has to be a whole number from 0 up.");
    }
    return count;
  }

  invalid(field: string, problem: string): DimensionerError {
    return failBefore(this.#operation, "configInvalid", { what: this.#what, field, problem });
  }

  #number(field: string, given: unknown, fallback: number): number {
    if (given === undefined || given === null || (typeof given === "string" && given.trim() === "")) {
      return fallback;
    }
    const value = typeof given === "number" || typeof given === "string" ? Number(given) : Number.NaN;
    if (!Number.isFinite(value)) {
      throw this.invalid(field, "it has to be a number.");
    }
    return value;
  }
}

/** A timer of Node.js holds at most 2^31 - 1 ms: a longer one would fire at once. */
const longestSeconds = 2_000_000;
