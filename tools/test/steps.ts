import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

/** A command that checks something. Each line that it prints begins with its name. */
export interface Step {
  readonly name: string;
  readonly command: readonly [file: string, ...args: string[]];
  readonly env?: Readonly<Record<string, string>>;
  /** After this time the command is ended, with everything that it has started. */
  readonly timeoutMs: number;
}

export interface Outcome {
  readonly passed: number;
  readonly failed: number;
  readonly failures: readonly Failure[];
  /** How long each step took that was run by `runAll`. */
  readonly times: readonly StepTime[];
}

/** What a line that begins with FAIL says, and the lines below it that are indented: the error. */
interface Failure {
  readonly what: string;
  readonly why: readonly string[];
}

interface StepTime {
  readonly name: string;
  readonly seconds: number;
}

const indent = "     ";
/** How many lines of its output explain the failure of a step that names no failed test. */
const explainingLines = 40;
/** How long a command may take to end after SIGTERM. */
const longestEndMs = 5_000;
const lookAgainMs = 20;

/** Runs commands, and ends them all, with what they have started, when a signal ends this process. */
export class StepRunner {
  readonly #root: string;
  readonly #running = new Set<ChildProcess>();
  /** Ends this process. */
  #ending: Promise<never> | undefined;

  constructor(root: string) {
    this.#root = root;
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.once(signal, () => {
        this.#ending ??= this.#endAll();
      });
    }
  }

  async #endAll(): Promise<never> {
    await Promise.all([...this.#running].map(end));
    process.exit(130);
  }

  /** Runs steps, `atOnce` of them at the same time, prints what they print, and adds up their outcomes. */
  async runAll(steps: readonly Step[], atOnce: number): Promise<Outcome> {
    const outcomes: Outcome[] = [];
    const waiting = steps.values();
    const work = async () => {
      for (const step of waiting) {
        const startedAt = performance.now();
        const outcome = await this.run(step, (line) => console.log(`[${step.name}] ${line}`));
        const seconds = (performance.now() - startedAt) / 1000;
        const { passed, failed } = outcome;
        const verdict = failed > 0 ? "not ok" : "ok";
        const failures = failuresIn(step.name, outcome.failures);
        const line = `${verdict} ${step.name}: ${passed} passed, ${failed} failed (${seconds.toFixed(1)} s)`;
        // In one piece, so that a reader of a part of a long log sees the failures next to the verdict.
        console.log([line, ...linesOf(failures)].join("\n"));
        outcomes.push({ ...outcome, failures, times: [{ name: step.name, seconds }] });
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    return sum(outcomes);
  }

  /** Runs `first`, which the steps need, and, if it succeeds, `runAll`. */
  async runAllAfter(first: Step, steps: readonly Step[], atOnce: number): Promise<Outcome> {
    const outcome = await this.runAll([first], 1);
    return outcome.failed > 0 ? outcome : sum([outcome, await this.runAll(steps, atOnce)]);
  }

  /**
   * Runs one step. What it counts is what its last line of the form `N passed, N failed` says; a step without such a line
   * counts as one test. An exit code that does not fit the count is a failure, too.
   */
  async run({ name, command, env, timeoutMs }: Step, onLine: (line: string) => void): Promise<Outcome> {
    // No other step begins when one is ended by a signal.
    await this.#ending;
    const [file, ...args] = command;
    // A process group of its own: what hangs is ended with its children, and Ctrl-C comes to this process alone.
    const child = spawn(file, args, {
      cwd: this.#root,
      env: { ...process.env, NO_COLOR: "1", ...env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: process.platform !== "win32",
    });
    this.#running.add(child);
    let counted: { passed: number; failed: number } | undefined;
    const failures: { what: string; why: string[] }[] = [];
    const last: string[] = [];
    const take = (line: string) => {
      const [, passed, failed] = /^(\d+) passed, (\d+) failed$/.exec(line) ?? [];
      if (passed !== undefined) {
        counted = { passed: Number(passed), failed: Number(failed) };
        return;
      }
      last.push(line);
      last.splice(0, last.length - explainingLines);
      onLine(line);
    };
    const read = () => {
      // Of each stream by itself, so that what comes on the other one does not part an error from its test.
      let failure: { what: string; why: string[] } | undefined;
      return (line: string) => {
        if (line.startsWith("FAIL ")) {
          failure = { what: line.slice("FAIL ".length), why: [] };
          failures.push(failure);
        } else if (line.startsWith(indent)) {
          failure?.why.push(line);
        } else {
          failure = undefined;
        }
        take(line);
      };
    };
    const fail = (what: string) => {
      failures.push({ what, why: last.map((line) => indent + line) });
      onLine(`FAIL ${what}`);
    };
    const ended = [child.stdout, child.stderr].map((input) =>
      once(createInterface({ input }).on("line", read()), "close"),
    );
    const timer = setTimeout(() => {
      fail(`${name} did not end within ${timeoutMs / 1000} s.`);
      void end(child);
    }, timeoutMs);
    try {
      await Promise.all([once(child, "close"), ...ended]);
    } catch (error) {
      fail(String(error));
    } finally {
      clearTimeout(timer);
      this.#running.delete(child);
    }

    const isGood = child.exitCode === 0;
    const { passed, failed } = counted ?? { passed: isGood ? 1 : 0, failed: 0 };
    if (!isGood && failed === 0) {
      if (failures.length === 0) {
        fail(`${name} has ended with exit code ${String(child.exitCode)}.`);
      }
      return { passed, failed: 1, failures, times: [] };
    }
    return { passed, failed, failures: distinct(failures), times: [] };
  }
}

export function sum(outcomes: readonly Outcome[]): Outcome {
  return {
    passed: outcomes.reduce((all, { passed }) => all + passed, 0),
    failed: outcomes.reduce((all, { failed }) => all + failed, 0),
    failures: outcomes.flatMap(({ failures }) => failures),
    times: outcomes.flatMap(({ times }) => times),
  };
}

/**
 * Prints how long the steps took, longest first, then each failure with its whole error, then the failures in a line each,
 * so that the end of a log names them all, then the last line, and sets the exit code.
 */
export function conclude({ passed, failed, failures, times }: Outcome): void {
  const slowestFirst = times.toSorted((one, other) => other.seconds - one.seconds);
  const lines = [
    "",
    ...slowestFirst.map(({ name, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${name}`),
    ...linesOf(failures),
    ...(failures.length > 0 ? ["Failed:", ...failures.map(({ what }) => `  ${what}`)] : []),
    `${passed} passed, ${failed} failed`,
  ];
  console.log(lines.join("\n"));
  process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
}

/** Each failure with its whole error. */
export function linesOf(failures: readonly Failure[]): string[] {
  return failures.flatMap(({ what, why }) => [`FAIL ${what}`, ...why]);
}

/** The same failures, each named after where it happened. */
export function failuresIn(where: string, failures: readonly Failure[]): Failure[] {
  return failures.map(({ what, why }) => ({ what: `[${where}] ${what}`, why }));
}

/** Each failure once: `npm test` prints those of a step when it ends, and all of them again at the end. */
function distinct(failures: readonly Failure[]): Failure[] {
  return [...new Map(failures.map((failure) => [JSON.stringify(failure), failure])).values()];
}

/** Ends a command and its group. What runs steps of its own, as `npm test` does, gets time to end these first. */
async function end(child: ChildProcess): Promise<void> {
  const { pid } = child;
  if (pid === undefined || process.platform === "win32") {
    child.kill("SIGKILL");
    return;
  }
  /** Returns whether the group is still there. */
  const send = (signal: NodeJS.Signals | 0): boolean => {
    try {
      return process.kill(-pid, signal);
    } catch {
      return false;
    }
  };
  send("SIGTERM");
  for (let waitedMs = 0; waitedMs < longestEndMs && send(0); waitedMs += lookAgainMs) {
    await sleep(lookAgainMs);
  }
  send("SIGKILL");
}
