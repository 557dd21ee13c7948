/** What the two command lines share. */
import { systemCode } from "../../media/disk.ts";

/** Bytes as people say them: "12.3 MB". */
export function sayBytes(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit] ?? ""}`;
}

/** "1 package", "2 packages". */
export function sayCount(count: number, one: string): string {
  return `${count.toLocaleString("en-US")} ${one}${count === 1 ? "" : "s"}`;
}

/** Text from names on the disk, without what could move a terminal's cursor. */
export function printable(text: string): string {
  return text.replace(/\p{C}/gu, "�");
}

const everyMs = 100;
const barWidth = 24;

/** One line at the bottom of a terminal; nothing at all where there is none. */
export class ProgressLine {
  readonly #terminal = process.stderr;
  #shownAt = 0;
  #isShown = false;

  /** `part` is from 0 to 1; null where nobody knows how much there is. */
  show(part: number | null, text: string): void {
    const now = performance.now();
    if (!this.#terminal.isTTY || now - this.#shownAt < everyMs) {
      return;
    }
    this.#shownAt = now;
    this.#isShown = true;
    const done = Math.round(Math.min(part ?? 0, 1) * barWidth);
    const bar = part === null ? "" : `[${"#".repeat(done)}${".".repeat(barWidth - done)}] `;
    this.#terminal.write(`\r\u001B[K${(bar + text).slice(0, (this.#terminal.columns || 80) - 1)}`);
  }

  /** To be called before anything else is printed. */
  clear(): void {
    if (this.#isShown) {
      this.#terminal.write("\r\u001B[K");
    }
    this.#isShown = false;
  }
}

/** Prints a line and waits while whoever reads it is slow. */
export async function print(line: string): Promise<void> {
  if (!process.stdout.write(`${line}\n`)) {
    await new Promise<void>((resume) => process.stdout.once("drain", resume));
  }
}

/** Ends the process when nobody reads on, as in `dimensioner-verify … | head`. */
export function endWithReader(): void {
  process.stdout.on("error", () => process.exit(2));
}

/** How a command line that can't do its work ends. */
export function giveUp(command: string, error: unknown): void {
  process.stderr.write(`${command}: ${printable(sayReason(error).replaceAll("\n", " "))}\n`);
  process.exitCode = 2;
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such folder. Is the share mounted?",
  ENOTDIR: "this is not a folder.",
  EACCES: "no permission to read it.",
  EPERM: "no permission to read it.",
};

function sayReason(error: unknown): string {
  if (!(error instanceof Error)) {
    return String(error);
  }
  const reason = reasons[systemCode(error) ?? ""];
  const path = "path" in error && typeof error.path === "string" ? error.path : undefined;
  return reason === undefined || path === undefined ? error.message : `${path}: ${reason}`;
}
