/** The parts that dimensioner-verify, dimensioner-prune and dimensioner-rebuild share: numbers, progress, output and Ctrl+C. */
import type { ArchiveProgress } from "../../model/archive-reports.ts";
import { formatBytes } from "../../rules/bytes.ts";

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

/** Runs some work, and shows its progress in the last line of the terminal until the work has ended. */
export async function withProgress<T>(work: (line: ProgressLine) => Promise<T>): Promise<T> {
  const line = new ProgressLine();
  try {
    return await work(line);
  } finally {
    line.clear();
  }
}

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

/**
 * Prints one JSON object: the fields of `head`, a list, and the fields that `totals` makes from the result of the work. Each
 * entry of the list is printed as soon as it is known, so that a million entries need no memory.
 */
export async function printObject<Entry, Result>(
  { head, list, totals }: { head: object; list: string; totals: (result: Result) => object },
  work: (onEntry: (entry: Entry) => Promise<void>) => Promise<Result>,
): Promise<Result> {
  let before = `${printableJson(head).slice(0, -1)},"${list}":[`;
  const result = await work(async (entry) => {
    await print(before + printableJson(entry));
    before = ",";
  });
  await print(`${before === "," ? "" : before}],${printableJson(totals(result)).slice(1)}`);
  return result;
}

/** How long the process waits, after Ctrl+C, for calls to the disk that have not returned. */
const interruptMs = 1_000;
/** The exit code of a command that Ctrl+C has ended, as shells define it: 128 plus the number of the signal. */
const interruptedCode = 130;

/**
 * Runs a command line to its end. The process also ends when the reader of its output ends, as in `dimensioner-verify … | head`,
 * and with Ctrl+C, even while the disk does not respond.
 */
export async function runCommand(
  command: string,
  main: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  process.stdout.on("error", () => process.exit(2));
  const interrupted = new AbortController();
  const interrupt = (): void => {
    if (interrupted.signal.aborted) {
      process.exit(interruptedCode);
    }
    interrupted.abort();
    setTimeout(() => process.exit(interruptedCode), interruptMs).unref();
  };
  process.on("SIGINT", interrupt).on("SIGTERM", interrupt);
  try {
    await main(interrupted.signal);
  } catch (error) {
    const isInterrupted = interrupted.signal.aborted;
    const reason = isInterrupted ? "stopped" : error instanceof Error ? error.message : String(error);
    process.stderr.write(`${command}: ${printable(reason.replaceAll("\n", " "))}\n`);
    process.exitCode = isInterrupted ? interruptedCode : 2;
  }
}
