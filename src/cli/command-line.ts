/** What the verbs of the command `dimensioner` share: options and help, how a store is named, findings, progress, and Ctrl+C. */
import { stat } from "node:fs/promises";
import { parseArgs } from "node:util";
import { readStoreFile } from "../vault/store-file.ts";
import type { ArchiveProgress } from "../model/archive-reports.ts";
import { formatBytes } from "../rules/bytes.ts";
import { vaultName, type VaultLocation } from "../vault/store.ts";

/** An option of a verb: what `parseArgs` of Node.js takes, and what the help says of it. */
export interface Option {
  readonly type: "boolean" | "string";
  readonly multiple?: boolean;
  readonly default?: string;
  readonly short?: string;
  readonly help: string;
  /** What stands for its value in the help: "<file>". */
  readonly value?: string;
  /** What it can be, for the help and for the completion of a shell. */
  readonly choices?: readonly string[];
  /** The heading under which the help lists it and those after it. */
  readonly group?: string;
}

type Options = Readonly<Record<string, Option>>;

type Parsed<O extends Options> = ReturnType<
  typeof parseArgs<{ options: O & typeof commonOptions; allowPositionals: true }>
>;

/** The values of options, as `parseArgs` returns them. */
export type Values<O extends Options> = Parsed<O>["values"];

interface VerbDefinition<O extends Options> {
  readonly name: string;
  /** A line each, without the name of the command and of the verb. */
  readonly usage: readonly string[];
  readonly description: string;
  readonly options: O;
  /** Commands that can be run as they are, without "dimensioner". */
  readonly examples: readonly string[];
  /** What the exit codes mean. */
  readonly exitCodes: string;
  /** It runs until it is stopped, also when nobody reads what it prints. */
  readonly isService?: boolean;
  /** Returns the exit code. Throws where it could not run. */
  run(values: Values<O>, positionals: readonly string[], signal: AbortSignal): Promise<number>;
}

/** One of the things that the command does. */
export interface Verb {
  readonly name: string;
  readonly options: Options;
  readonly isService: boolean;
  readonly help: string;
  run(args: readonly string[], signal: AbortSignal): Promise<number>;
}

const commonOptions = {
  json: { type: "boolean", help: "print JSON instead of text" },
  help: { type: "boolean", short: "h", help: "print this text" },
} as const satisfies Options;

/** Also returns how the arguments of this verb are understood. */
export function defineVerb<const O extends Options>(
  definition: VerbDefinition<O>,
): Verb & { readonly parse: (args: readonly string[]) => Parsed<O> } {
  const { name, isService = false } = definition;
  const options = { ...definition.options, ...commonOptions };
  const help = helpOf({ ...definition, options });
  return {
    name,
    options,
    isService,
    help,
    parse: (args) => parse(args, options),
    async run(args, signal) {
      const { values, positionals } = parse(args, options);
      if ("help" in values && values.help === true) {
        await print(help);
        return 0;
      }
      return definition.run(values, positionals, signal);
    },
  };
}

function parse<O extends Options>(args: readonly string[], options: O & typeof commonOptions): Parsed<O> {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    // What follows is how to pass an argument that begins with a dash, which nobody means who mistypes an option.
    const [sentence = ""] = (error instanceof Error ? error.message : String(error)).split(". ");
    throw new UsageError(sentence.replace(/\.?$/, "."), { cause: error });
  }
}

/** A mistake on the command line, in a sentence for the person who typed it. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

const width = 100;

function helpOf(definition: Omit<VerbDefinition<Options>, "run">): string {
  const { name, usage, description, options, examples, exitCodes } = definition;
  const [first = "", ...others] = usage;
  const lines = [
    `Usage: dimensioner ${name} ${first}`,
    ...others.map((one) => `       dimensioner ${name} ${one}`),
    "",
    ...description.split("\n\n").flatMap((paragraph) => [...wrap(paragraph, 0), ""]),
  ];
  const entries = Object.entries(options).map(([key, option]) => ({ option, left: leftOf(key, option) }));
  const column = Math.min(28, Math.max(...entries.map(({ left }) => left.length)) + 2);
  if (entries[0]?.option.group === undefined) {
    lines.push("Options");
  }
  for (const { option, left } of entries) {
    if (option.group !== undefined) {
      lines.push(...(lines.at(-1) === "" ? [] : [""]), option.group);
    }
    const [text = "", ...more] = wrap(helpTextOf(option), column + 2);
    const isLong = left.length + 2 > column;
    lines.push(isLong ? `  ${left}` : `  ${left.padEnd(column)}${text}`);
    lines.push(...(isLong ? [text, ...more] : more).map((line) => " ".repeat(column + 2) + line));
  }
  lines.push("", "Examples", ...examples.map((one) => `  dimensioner ${one}`));
  lines.push("", ...wrap(`Exit code: ${exitCodes}`, 0));
  return lines.join("\n");
}

function leftOf(key: string, { short, value, choices }: Option): string {
  const shown = value ?? (choices === undefined ? undefined : "<name>");
  return `${short === undefined ? "" : `-${short}, `}--${key}${shown === undefined ? "" : ` ${shown}`}`;
}

function helpTextOf({ help, choices, default: fallback }: Option): string {
  const named = choices === undefined ? help : `${help}: ${choices.join(", ")}`;
  return fallback === undefined ? named : `${named} (default ${fallback})`;
}

/** Breaks a text into lines that fit beside an indent. */
function wrap(text: string, indent: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1);
    if (line === undefined || line.length + 1 + word.length > width - indent) {
      lines.push(word);
    } else {
      lines[lines.length - 1] = `${line} ${word}`;
    }
  }
  return lines;
}

/** What every help of a verb for a store says of its first argument. */
export const storeText =
  "STORE is a store file, as the dialog of a store exports it: a JSON file that names the packages and the database of a store, " +
  "without credentials. Or it is a folder of packages, or the address of a bucket: s3://bucket/prefix, which may end with options: " +
  "?endpoint=https://s3.example.com&region=eu-central-1&pathStyle=true. What is missing comes from the environment, as for the programs " +
  "of AWS: AWS_ENDPOINT_URL_S3, AWS_REGION, and for the credentials AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile with " +
  "keys (AWS_PROFILE), or the role of a container or a virtual machine at AWS. The password of PostgreSQL comes from PGPASSWORD " +
  "or a password file (PGPASSFILE).";

/** The option that names the database where STORE is a folder or a bucket. */
export const databaseOption = {
  type: "string",
  value: "<file>",
  help:
    "the store's database, in the folder dimensioner of Node-RED's user directory; or that folder; or the address of an index in " +
    "PostgreSQL: postgres://user@host:5432/name. It replaces the database of a store file",
} as const satisfies Option;

export const rootsOption = {
  type: "string",
  value: "<file>",
  help: "a PEM file with the root certificates that you trust, to check who signed time stamps",
} as const satisfies Option;

/** The store that a command line names. */
export interface NamedStore {
  /** A folder or the address of a bucket, or where a store has its packages. */
  readonly place: string | VaultLocation;
  /** The same as a text. */
  readonly address: string;
  /** For people. */
  readonly name: string;
  /** That of the store file; undefined without one. */
  readonly database: string | undefined;
}

/** Reads the one STORE that a command line names. Throws if it names none, or several. */
export async function namedStore(positionals: readonly string[]): Promise<NamedStore> {
  const [given, more] = positionals;
  if (given === undefined || more !== undefined) {
    throw new UsageError("specify exactly one store: a store file, a folder or s3://bucket/prefix.");
  }
  const isFile = /^s3:/i.test(given)
    ? false
    : await stat(given).then(
        (found) => found.isFile(),
        () => false,
      );
  if (!isFile) {
    return { place: given, address: given, name: given, database: undefined };
  }
  const { vault, address, database } = await readStoreFile(given);
  return { place: vault, address, name: vaultName(vault), database };
}

/** Returns the value of an option that has to be there. */
export function required(name: string, value: string | undefined): string {
  if (value === undefined) {
    throw new UsageError(`--${name} is missing.`);
  }
  return value;
}

/** Returns the one of the choices that was given. */
export function oneOf<const T extends string>(name: string, choices: readonly T[], given: string): T {
  const found = choices.find((one) => one === given);
  if (found === undefined) {
    throw new UsageError(`--${name} must be one of ${choices.join(", ")}, not “${given}”.`);
  }
  return found;
}

/** Returns a whole number from `least` to `most`. */
export function wholeNumber(name: string, given: string, least = 0, most = Number.MAX_SAFE_INTEGER): number {
  const value = /^\d+$/.test(given) ? Number(given) : Number.NaN;
  if (!(value >= least && value <= most)) {
    const upTo = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
    throw new UsageError(`--${name} needs a whole number ${upTo}, not “${given}”.`);
  }
  return value;
}

const durationUnits: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

/** Returns a duration such as "10m" in milliseconds. */
export function duration(name: string, given: string): number {
  const [, count, unit = ""] = /^([1-9]\d{0,5})([smh])$/.exec(given.trim()) ?? [];
  if (count === undefined) {
    throw new UsageError(`--${name} needs a duration such as 10m, 90s or 2h, not “${given}”.`);
  }
  return Number(count) * (durationUnits[unit] ?? 0);
}

const sizeUnits: Readonly<Record<string, number>> = { KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 };

/** Returns a size such as "50GB" or "1.5 TB" in bytes. */
export function size(name: string, given: string): number {
  const [, count, unit = ""] = /^(\d{1,6}(?:\.\d{1,3})?)\s?([kKMGT]B)$/.exec(given.trim()) ?? [];
  const bytes = Math.round(Number(count) * (sizeUnits[unit.toUpperCase()] ?? 0));
  if (!(bytes > 0)) {
    throw new UsageError(`--${name} needs a size such as 50GB, 1.5TB or 800MB, not “${given}”.`);
  }
  return bytes;
}

/** What a command has found: one line of its text, and one entry of its JSON. */
export interface CommandFinding {
  readonly path: string;
  /** A word for programs. */
  readonly kind: string;
  readonly problem: string;
}

/**
 * Runs the work of a verb and prints each finding as soon as it is known. As JSON it prints one object: the name of the verb and of the
 * store, the list of findings, and the fields of the report. As text it prints a line for each finding, and then what `say` says of the
 * report.
 */
export async function withFindings<Report extends object>(
  { verb, store, json }: { readonly verb: string; readonly store: string; readonly json: boolean },
  work: (
    onFinding: (finding: CommandFinding) => Promise<void>,
    onProgress: (progress: ArchiveProgress) => void,
  ) => Promise<Report>,
  say: (report: Report) => readonly string[],
): Promise<Report> {
  const line = new ProgressLine();
  try {
    if (!json) {
      const report = await work(
        line.apart(({ path, problem }) => print(printable(`${path}: ${problem}`))),
        line.show,
      );
      line.clear();
      for (const text of say(report)) {
        await print(printable(text));
      }
      return report;
    }
    let before = `${printableJson({ verb, store }).slice(0, -1)},"findings":[`;
    const report = await work(
      line.apart(async (finding) => {
        await print(before + printableJson(finding));
        before = ",";
      }),
      line.show,
    );
    line.clear();
    await print(
      `${before === "," ? "" : before}],${printableJson({ ...report, findings: undefined }).slice(1)}`,
    );
    return report;
  } finally {
    line.clear();
  }
}

/** A number of bytes in the unit that suits it: "12.3 MB". */
export function sayBytes(bytes: number): string {
  return formatBytes(bytes, "en");
}

/** "1 package", "2 packages". */
export function sayCount(count: number, one: string): string {
  return `${count.toLocaleString("en-US")} ${one}${count === 1 ? "" : "s"}`;
}

/** Removes control characters from text that contains names of files: a terminal would execute them. */
export function printable(text: string): string {
  return text.replace(/\p{C}/gu, "�");
}

/** Escapes control characters in JSON, which keeps its meaning: a terminal would execute them. */
export function printableJson(value: unknown): string {
  return JSON.stringify(value).replace(/\p{C}/gu, (character) =>
    [...Array(character.length).keys()]
      .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

const everyMs = 100;
const barWidth = 24;

/** The progress in the last line of a terminal. Writes nothing if the output is not a terminal. */
class ProgressLine {
  readonly #terminal = process.stderr;
  readonly #startedAt = performance.now();
  #shownAt = 0;
  #isShown = false;

  readonly show = (progress: ArchiveProgress): void => {
    const now = performance.now();
    if (!this.#terminal.isTTY || now - this.#shownAt < everyMs) {
      return;
    }
    this.#shownAt = now;
    this.#isShown = true;
    const text = sayProgress(progress, now - this.#startedAt);
    this.#terminal.write(`\r\u001B[K${text.slice(0, (this.#terminal.columns || 80) - 1)}`);
  };

  /** Removes the line before something else is printed. */
  apart<T>(printOne: (one: T) => Promise<void>): (one: T) => Promise<void> {
    return async (one) => {
      this.clear();
      await printOne(one);
    };
  }

  clear(): void {
    if (this.#isShown) {
      this.#terminal.write("\r\u001B[K");
    }
    this.#isShown = false;
  }
}

/** "[######......] 3,000 packages, 1.2 GB, 240 MB/s, 3 min left". */
export function sayProgress(progress: ArchiveProgress, elapsedMs: number): string {
  const { packages, bytes } = progress;
  const rate = elapsedMs > 0 ? bytes / (elapsedMs / 1000) : 0;
  const said = `${sayCount(packages, "package")}, ${sayBytes(bytes)}, ${sayBytes(rate)}/s`;
  const part = partOf(progress);
  if (part === null) {
    return said;
  }
  const done = Math.round(part * barWidth);
  const bar = `[${"#".repeat(done)}${".".repeat(barWidth - done)}]`;
  const left = part === 0 ? "" : `, ${sayTime((elapsedMs / part) * (1 - part))} left`;
  return `${bar} ${said}${left}`;
}

/** The part that is done, from 0 to 1; null if the total is not known. */
function partOf({ packages, bytes, expectedPackages, expectedBytes }: ArchiveProgress): number | null {
  if (expectedBytes !== null && expectedBytes > 0) {
    return Math.min(bytes / expectedBytes, 1);
  }
  return expectedPackages === null || expectedPackages === 0
    ? null
    : Math.min(packages / expectedPackages, 1);
}

function sayTime(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 90) {
    return `${seconds} s`;
  }
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${(minutes / 60).toFixed(1)} h`;
}

/** Prints a line, and waits while the reader of the output is slower than this program. */
export async function print(line: string): Promise<void> {
  if (!process.stdout.write(`${line}\n`)) {
    await new Promise<void>((resume) => process.stdout.once("drain", resume));
  }
}
