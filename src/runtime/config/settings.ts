import type { DimensionerError } from "../../errors.ts";
import { field, phrase, type FieldName, type Phrase } from "../../fill-in.ts";
import { failBefore, type Operation } from "../action/failure.ts";

const ofConfigNode: Operation = { operation: "settings", surface: "config", acts: false };

/** Reads the number fields of a config node; a blank one is its default, anything else that is no number ERR_CONFIG. */
export class SettingsReader {
  readonly #what: Phrase;
  readonly #operation: Operation;

  constructor(what: "cloud" | "device" | "node" | "webhook", operation: Operation = ofConfigNode) {
    this.#what = phrase(what);
    this.#operation = operation;
  }

  /** Seconds, as milliseconds; more than none. */
  timeoutMs(name: FieldName, given: unknown, defaultSeconds: number): number {
    const seconds = this.#number(name, given, defaultSeconds);
    if (seconds <= 0 || seconds > longestSeconds) {
      throw this.invalid(name, phrase("secondsAbove", { most: longestSeconds }));
    }
    return seconds * 1000;
  }

  /** Seconds, as milliseconds; 0 = no limit. */
  waitMs(name: FieldName, given: unknown, defaultSeconds: number): number {
    const seconds = this.#number(name, given, defaultSeconds);
    if (seconds < 0 || seconds > longestSeconds) {
      throw this.invalid(name, phrase("secondsFrom", { most: longestSeconds }));
    }
    return seconds * 1000;
  }

  count(name: FieldName, given: unknown, defaultCount: number): number {
    const count = this.#number(name, given, defaultCount);
    if (!Number.isInteger(count) || count < 0) {
      throw this.invalid(name, phrase("wholeNumber"));
    }
    return count;
  }

  invalid(name: FieldName, problem: Phrase): DimensionerError {
    return failBefore(this.#operation, "configInvalid", { what: this.#what, field: field(name), problem });
  }

  #number(name: FieldName, given: unknown, fallback: number): number {
    if (given === undefined || given === null || (typeof given === "string" && given.trim() === "")) {
      return fallback;
    }
    const value = typeof given === "number" || typeof given === "string" ? Number(given) : Number.NaN;
    if (!Number.isFinite(value)) {
      throw this.invalid(name, phrase("number"));
    }
    return value;
  }
}

/** A timer of Node.js holds at most 2^31 - 1 ms: a longer one would fire at once. */
const longestSeconds = 2_000_000;
