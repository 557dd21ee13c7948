import type { DimensionerError } from "../../errors/dimensioner-error.ts";
import { field, phrase, type FieldName, type Phrase, type Problem } from "../../errors/interpolation.ts";
import { flagTexts, readFlag } from "../../rules/flags.ts";
import { readNumber, type NumberKind } from "../../rules/numbers.ts";
import type {
  ChoiceProperty,
  NumberProperty,
  PropertyTable,
  Saved,
} from "../../properties/property-table.ts";
import { errorBeforeSending, show, type Operation } from "../failure.ts";

const ofConfigNode: Operation = { operation: "settings", surface: "config", acts: false };

type Duration = "timeout" | "wait" | "milliseconds" | "hours";
type Plain = Exclude<NumberKind, Duration>;

/**
 * The settings of a table of properties, with durations in milliseconds. Values that a message may give are read
 * elsewhere.
 */
export type Settings<T extends PropertyTable> = {
  readonly [
    K in keyof T & string as T[K] extends { kind: "number"; of: Duration } ? `${K}Ms` : never
  ]: number;
} & {
  readonly [K in keyof T as T[K] extends { kind: "number"; of: Plain } ? K : never]: number;
} & {
  readonly [K in keyof T as T[K] extends { kind: "flag" } ? K : never]: boolean;
} & {
  readonly [
    K in keyof T & keyof Saved<T> as T[K] extends { kind: "text" | "choice" | "config" } ? K : never
  ]: Saved<T>[K];
};

const msOf: Readonly<Record<Duration, number>> = {
  timeout: 1000,
  wait: 1000,
  milliseconds: 1,
  hours: 3_600_000,
};

/**
 * Reads the saved properties of a node by their table. Flows are written by hand too, and values can come from
 * environment variables. A blank value becomes the table's default; an invalid one ends in ERR_CONFIG.
 */
export class SettingsReader {
  readonly #what: Phrase;
  readonly #operation: Operation;

  constructor(what: "cloud" | "device" | "node" | "store" | "webhook", operation: Operation = ofConfigNode) {
    this.#what = phrase(what);
    this.#operation = operation;
  }

  read<const T extends PropertyTable>(table: T, saved: Saved<T>): Settings<T> {
    const given: Readonly<Record<string, unknown>> = saved;
    const settings: Record<string, unknown> = {};
    for (const [name, property] of Object.entries(table)) {
      switch (property.kind) {
        case "number":
          settings[isDuration(property.of) ? `${name}Ms` : name] = this.number(name, property, given[name]);
          break;
        case "choice":
          settings[name] = this.#choice(name, property, given[name]);
          break;
        case "flag":
          settings[name] = this.flag(name, property.default, given[name]);
          break;
        case "text":
        case "config":
          settings[name] = textOf(given[name]);
          break;
        case "typed":
        case "nameFrom":
        case "credential":
        case "outputs":
      }
    }
    return settings as Settings<T>;
  }

  /** Reads a number; a duration in milliseconds. */
  number(name: string, property: NumberProperty, given: unknown): number {
    const read = readNumber(property.of, given);
    if ("problem" in read) {
      throw this.invalid(name, read.problem);
    }
    const value = read.value ?? property.ifBlank ?? property.default;
    return isDuration(property.of) ? value * msOf[property.of] : value;
  }

  /** Reads a check box. */
  flag(name: string, ifBlank: boolean, given: unknown): boolean {
    const read = readFlag(given);
    if (read === undefined) {
      throw this.invalid(name, phrase("noneOf", { value: show(given), choices: flagTexts }));
    }
    return read ?? ifBlank;
  }

  #choice(name: string, { of: choices }: ChoiceProperty, given: unknown): string {
    const found = choices.find((choice) => choice === given);
    if (found === undefined) {
      throw this.invalid(name, phrase("noneOf", { value: show(given), choices }));
    }
    return found;
  }

  invalid(name: string, problem: Problem): DimensionerError {
    return errorBeforeSending(this.#operation, "configInvalid", {
      what: this.#what,
      field: field(name as FieldName),
      problem,
    });
  }
}

/** Reads the settings of a node. */
export function settingsOf<const T extends PropertyTable>(
  table: T,
  saved: Saved<T>,
): (reader: SettingsReader) => Settings<T> {
  return (reader) => reader.read(table, saved);
}

function isDuration(kind: NumberKind): kind is Duration {
  return kind in msOf;
}

function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}
