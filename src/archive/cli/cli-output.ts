/** What the three command lines share. */
import type { ArchiveProgress } from "../../model/archive-reports.ts";
import { formatBytes } from "../../rules/bytes.ts";

/** Bytes as people say them: "12.3 MB". */
export function sayBytes(bytes: number): string {
  return formatBytes(bytes, "en");
}

/** "1 package", "2 packages". */
export function sayCount(count: number, one: string): string {
  return `${count.toLocaleString("en-US")} ${one}${count === 1 ? "" : "s"}`;
}

/** Text from names on the disk, without what could move a terminal's cursor. */
export function printable(text: string): string {
  return text.replace(/\p{C}/gu, "�");
}

/** JSON that says the same, without what could move a terminal's cursor. */
export function printableJson(value: unknown): string {
  return JSON.stringify(value).replace(/\p{C}/gu, (character) =>
    [...Array(character.length).keys()]
      .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

/** The one folder that a command line names. Throws where it names none, or more. */
export function folderOf(positionals: readonly string[]): string {
  const [folder, more] = positionals;
  if (folder === undefined || more !== undefined) {
    throw new Error("specify exactly one folder. See --help.");
  }
  return folder;
}

const everyMs = 100;
const barWidth = 24;

/** Runs some work with a line at the bottom of the terminal that says how far it is, and that is gone when the work has ended. */
export async function withProgress<T>(work: (line: ProgressLine) => Promise<T>): Promise<T> {
  const line = new ProgressLine();
  try {
    return await work(line);
  } finally {
    line.clear();
  }
}

/** One line at the bottom of a terminal; nothing at all where there is none. */
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

  /** For what is printed meanwhile: the line makes room for it. */
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

/** How much is done, from 0 to 1; null where nobody knows how much there is. */
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

/** Prints a line and waits while whoever reads it is slow. */
export async function print(line: string): Promise<void> {
  if (!process.stdout.write(`${line}\n`)) {
    await new Promise<void>((resume) => process.stdout.once("drain", resume));
  }
}

/**
 * Prints one JSON object with a list, each entry of which is printed as it is found out, so that a million of them need no memory:
 * what `head` says, the list, and what `totals` says of the work's result.
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

/** So long after Ctrl+C what waits for the disk is waited for. */
const interruptMs = 1_000;
/** What shells say of a command that Ctrl+C has ended: 128 and the number of the signal. */
const interruptedCode = 130;

/**
 * Runs a command line to its end. Ends the process when nobody reads on, as in `dimensioner-verify … | head`, and with Ctrl+C, also
 * while the disk does not answer.
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
