import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";

/** What became of a command. */
export interface Ended {
  /** Null when it did not end by itself. */
  readonly exitCode: number | null;
  /** What it printed, both streams as they came. */
  readonly output: string;
}

export interface RunOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** After that it is ended, with everything that it has started. */
  readonly timeoutMs: number;
}

/** Commands at work, and a way to end them all, with what they have started. */
export function createRunner() {
  const running = new Set<ChildProcess>();

  async function run(file: string, args: readonly string[], options: RunOptions): Promise<Ended> {
    const { cwd, env = {}, timeoutMs } = options;
    // A process group of its own: what hangs is ended with its children, and Ctrl-C comes to the runner alone.
    const child = spawn(file, args, {
      cwd,
      env: { ...process.env, NO_COLOR: "1", ...env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: process.platform !== "win32",
    });
    running.add(child);
    const chunks: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      end(child);
    }, timeoutMs);
    try {
      await once(child, "close");
    } catch (error) {
      chunks.push(Buffer.from(String(error)));
    } finally {
      clearTimeout(timer);
      running.delete(child);
    }
    const output = Buffer.concat(chunks).toString();
    return timedOut
      ? { exitCode: null, output: `${output}\nIt did not end within ${timeoutMs / 1000} s.` }
      : { exitCode: child.exitCode, output };
  }

  return {
    run,
    endAll(): void {
      for (const child of running) {
        end(child);
      }
    },
  };
}

export type Run = ReturnType<typeof createRunner>["run"];

/** Runs commands until a signal ends this process, which ends them first. */
export function runUntilSignal(): Run {
  const { run, endAll } = createRunner();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => {
      endAll();
      process.exit(130);
    });
  }
  return run;
}

function end(child: ChildProcess): void {
  if (child.pid === undefined || process.platform === "win32") {
    child.kill("SIGKILL");
    return;
  }
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // It has ended just now.
  }
}
