import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { build } from "esbuild";

const repository = join(import.meta.dirname, "..", "..");
const outdir = join(repository, ".build", "archive-children", String(process.pid));
process.once("exit", () => rmSync(outdir, { recursive: true, force: true }));

/** The path of a script, with the arguments that it always gets. */
export type Script = string | readonly [path: string, ...args: string[]];

/** Another process that runs a script. */
export interface Child {
  readonly process: ChildProcess;
  /** The next line it prints; rejects when it ends without one. */
  nextLine(): Promise<string>;
  /** Resolves when it has ended by itself. */
  readonly ended: Promise<void>;
  /** Kills it, where it still runs, and waits until all it printed was read. */
  kill(): Promise<void>;
}

/**
 * Makes one plain JavaScript file of a script of this folder or of src: it starts in a tenth of the time. The thread of the
 * database lies beside it, as in the package.
 */
export async function bundle(path: string): Promise<string> {
  const name = path.replaceAll(/[/.]+/g, "-");
  await build({
    entryPoints: {
      [name]: join(repository, path),
      "sqlite-thread": join(repository, "src/database/sqlite-thread.ts"),
    },
    outdir,
    bundle: true,
    format: "esm",
    platform: "node",
    packages: "external",
    logLevel: "silent",
  });
  return join(outdir, `${name}.js`);
}

/** The command `dimensioner` with a verb. */
export async function bundleVerb(verb: string): Promise<Script> {
  return [await bundle("src/cli/dimensioner.ts"), verb];
}

export function startChild(script: Script, args: readonly string[], onLine?: (line: string) => void): Child {
  const child = spawn(process.execPath, [...[script].flat(), ...args], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines: string[] = [];
  const waiting: ((line: string | null) => void)[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => {
    onLine?.(line);
    const first = waiting.shift();
    if (first === undefined) {
      lines.push(line);
    } else {
      first(line);
    }
  });
  let hasEnded = false;
  const end = async (): Promise<void> => {
    await once(child, "close");
    hasEnded = true;
    for (const tell of waiting.splice(0)) {
      tell(null);
    }
  };
  const ended = end();
  return {
    process: child,
    ended,
    nextLine: async () => {
      const line =
        lines.shift() ??
        (hasEnded ? null : await new Promise<string | null>((resolve) => void waiting.push(resolve)));
      if (line === null) {
        throw new Error(`${[script].flat().join(" ")} ended`);
      }
      return line;
    },
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** Runs a script to its end. */
export async function runChild(
  script: Script,
  args: readonly string[],
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [...[script].flat(), ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  await once(child, "close");
  return { code: child.exitCode, stdout, stderr };
}
