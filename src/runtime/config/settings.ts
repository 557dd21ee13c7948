import type { DimensionerError } from "../../errors/dimensioner-error.ts";
import { field, phrase, type FieldName, type Phrase } from "../../errors/interpolation.ts";
import { readNumber, type NumberKind } from "../../rules/numbers.ts";
import { errorBeforeSending, type Operation } from "../failure.ts";

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
    return this.#number("timeout", name, given, defaultSeconds) * 1000;
  }

  /** Seconds, as milliseconds; 0 = no limit. */
  waitMs(name: FieldName, given: unknown, defaultSeconds: number): number {
    return this.#number("wait", name, given, defaultSeconds) * 1000;
  }

  /** Hours, as milliseconds. */
  hoursMs(name: FieldName, given: unknown, defaultHours: number): number {
    return this.#number("hours", name, given, defaultHours) * 3_600_000;
  }

  /** A whole number, 0 or more. */
  count(name: FieldName, given: unknown, defaultCount: number): number {
    return this.#number("count", name, given, defaultCount);
  }

  /** A whole number, 1 or more. */
  amount(name: FieldName, given: unknown, defaultAmount: number): number {
    return this.#number("amount", name, given, defaultAmount);
  }

  invalid(name: FieldName, problem: Phrase): DimensionerError {
    return errorBeforeSending(this.#operation, "configInvalid", {
      what: this.#what,
      field: field(name),
      problem,
    });
  }

  #number(kind: NumberKind, name: FieldName, given: unknown, fallback: number): number {
    const read = readNumber(kind, given);
    if ("problem" in read) {
      throw this.invalid(name, read.problem);
    }
    return read.value ?? fallback;
  }
}
