/**
 * Runs the tests, several files at a time. The last line is `N passed, N failed`.
 *
 *   npm test               the build, the checks, and each test file but *.slow.test.ts
 *   npm run test:slow      the rest: *.slow.test.ts on this Node.js, and every test file on the other one (22 or 24)
 *   npm run test:all       both of these
 *   npm run test:long      the programs in test/long, which take hours
 *   npm run test:slow -- archive    only files whose paths contain one of these words
 *
 * Tests run with the Node-RED that fits the Node.js at hand: 5.0 on Node.js 24, and 4.1 on Node.js 22.
 */
import { fork, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, globSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { availableParallelism, freemem, tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { bundledNode } from "./bundled-node.ts";
import type { FileResult } from "./test-files.ts";

/** A test file, or a command, which is one test, on the Node.js with this path. */
interface Job {
  readonly name: string;
  readonly node: string;
  readonly command?: readonly string[];
  /** The longest time that it may take on a slow machine. */
  readonly limitMs: number;
}

interface Result {
  readonly job: Job;
  readonly seconds: number;
  readonly passed: number;
  readonly failures: FileResult["failures"];
  readonly skipped: FileResult["skipped"];
  readonly notes: FileResult["notes"];
}

const root = dirname(import.meta.dirname);
const [mode = "fast", ...words] = process.argv.slice(2);
const minuteMs = 60_000;
/** A line tells of each file that took longer. */
const longS = 20;
/** What tests have in memory at the same time is less than half of it. */
const neededBytes = 4 * 1024 ** 3;

const ownMajor = Number.parseInt(process.versions.node, 10);
const environment: NodeJS.ProcessEnv = { ...process.env, NO_COLOR: "1", ...temporaryFolders() };
/** Everything that runs, each the first process of a group of its own, which ends as a whole. */
const running = new Set<ChildProcess>();
const results: Result[] = [];

/** A process that runs one test file after the other. */
class Worker {
  readonly node: string;
  readonly #child: ChildProcess;
  #output = "";
  /** Takes what the file that runs has found, or undefined when the process has ended. */
  #answer: (result: FileResult | undefined) => void = () => undefined;
  hasEnded = false;

  constructor(node: string) {
    this.node = node;
    const isOld = node !== process.execPath ? ownMajor >= 24 : ownMajor < 24;
    // Node.js 22 does not keep in the cache what it has removed the types from.
    const strip = pathToFileURL(join(root, "tools", "strip-types-once.mjs")).href;
    this.#child = fork(join(import.meta.dirname, "test-files.ts"), {
      cwd: root,
      execPath: node,
      execArgv: [],
      env: {
        ...environment,
        // What tests start by name gets the same Node.js.
        PATH: `${dirname(node)}${delimiter}${process.env["PATH"] ?? ""}`,
        ...(isOld ? { NODE_OPTIONS: `--import=${strip}` } : {}),
      },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      detached: process.platform !== "win32",
    });
    running.add(this.#child);
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => (this.#output += text));
    }
    this.#child.on("message", (result) => this.#answer(result as FileResult));
    this.#child.once("close", () => {
      this.hasEnded = true;
      this.#answer(undefined);
      running.delete(this.#child);
    });
  }

  async run({ name, limitMs }: Job): Promise<Omit<Result, "job" | "seconds">> {
    this.#output = "";
    const timer = setTimeout(() => killGroup(this.#child), limitMs);
    this.#child.send({ file: name });
    const result = await new Promise<FileResult | undefined>((resolve) => (this.#answer = resolve));
    clearTimeout(timer);
    if (result === undefined) {
      killGroup(this.#child);
      return failed(
        "the whole file",
        `The process of the tests has ended: ${howEnded(this.#child)}.\n${this.#output}`,
      );
    }
    const output = this.#output === "" ? "" : `\nPrinted meanwhile:\n${this.#output}`;
    return {
      ...result,
      failures: result.failures.map(({ title, error }) => ({ title, error: error + output })),
    };
  }

  async end(): Promise<void> {
    if (this.hasEnded) {
      return;
    }
    this.#output = "";
    const closed = once(this.#child, "close");
    // It ends by itself, and says after a minute what keeps it.
    const timer = setTimeout(() => killGroup(this.#child), 2 * minuteMs);
    this.#child.send({});
    await closed;
    clearTimeout(timer);
    if (this.#child.exitCode !== 0) {
      const job = { name: "the end of a process of tests", node: this.node, limitMs: 0 };
      note({ job, seconds: 0, ...failed(howEnded(this.#child), this.#output) }, 0);
    }
    killGroup(this.#child);
  }
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => {
    running.forEach(killGroup);
    process.exit(130);
  });
}

const startedAt = performance.now();
if (mode === "long") {
  for (const file of wanted("test/long/*.ts")) {
    await run(
      [{ name: file, node: process.execPath, command: [process.execPath, file], limitMs: 240 * minuteMs }],
      1,
    );
  }
} else {
  await run([npmScript("build")], 1);
  if (results.every(({ failures }) => failures.length === 0)) {
    const all = wanted("test/**/*.test.ts").filter((file) => !file.startsWith("test/mutations/"));
    const isSlow = (file: string) => file.endsWith(".slow.test.ts");
    const other = bundledNode(ownMajor >= 24 ? 22 : 24);
    const fast = all.filter((file) => !isSlow(file)).map((file) => testFile(file, process.execPath));
    const slow = [
      ...all.filter(isSlow).map((file) => testFile(file, process.execPath)),
      // Pages, sources and the bench are the same on each Node.js.
      ...(other === undefined
        ? []
        : all
            .filter((file) => !/^test\/(?:bench|checks|docs)\//.test(file))
            .map((file) => testFile(file, other))),
    ];
    const files = [...(mode === "slow" ? [] : fast), ...(mode === "fast" ? [] : slow)];
    const checks =
      mode !== "slow" && words.length === 0
        ? ["check:types", "lint", "check:format", "check:unused", "check:package"].map(npmScript)
        : [];
    // Tests wait for half of their time, so two for each core keep it busy.
    await run([...checks, ...files], Math.min(8, 2 * availableParallelism()));
  }
}
conclude();

/** Paths from the root, with slashes. */
function wanted(pattern: string): string[] {
  const files = globSync(pattern, { cwd: root }).map((file) => file.replaceAll("\\", "/"));
  return files.filter((file) => words.length === 0 || words.some((word) => file.includes(word))).sort();
}

function testFile(file: string, node: string): Job {
  return { name: file, node, limitMs: 20 * minuteMs };
}

function npmScript(name: string): Job {
  const npm = process.env["npm_execpath"];
  if (npm === undefined) {
    throw new Error("Run this as an npm script: npm test");
  }
  const command = [process.execPath, npm, "run", "--silent", name];
  return { name, node: process.execPath, command, limitMs: 10 * minuteMs };
}

/**
 * Folders that are there until this process ends: for temporary files in memory, where Linux has enough of it (on a disk, writing and
 * syncing them takes a fifth of the time), and for compiled code, since hundreds of processes and threads begin with the same sources.
 */
function temporaryFolders(): NodeJS.ProcessEnv {
  const make = (parent: string) => {
    const folder = mkdtempSync(join(parent, "dimensioner-"));
    process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
    return folder;
  };
  const cache = { NODE_COMPILE_CACHE: make(tmpdir()) };
  try {
    const { bavail, bsize } = statfsSync("/dev/shm");
    if (process.env["TMPDIR"] !== undefined || Math.min(freemem(), bavail * bsize) < 2 * neededBytes) {
      return cache;
    }
    const folder = make("/dev/shm");
    // Programs that tests start as another user, such as PostgreSQL, have their files there, too.
    chmodSync(folder, 0o1777);
    return { ...cache, TMPDIR: folder };
  } catch {
    return cache;
  }
}

/** Runs jobs, `atOnce` of them at the same time. */
async function run(jobs: readonly Job[], atOnce: number): Promise<void> {
  const waiting = [...jobs];
  const lane = async () => {
    let worker: Worker | undefined;
    let folder = "";
    for (
      let job = take(waiting, worker?.node, folder);
      job !== undefined;
      job = take(waiting, worker?.node, folder)
    ) {
      const since = performance.now();
      let found: Omit<Result, "job" | "seconds">;
      if (job.command === undefined) {
        if (worker?.node !== job.node) {
          await worker?.end();
          worker = undefined;
        }
        worker ??= new Worker(job.node);
        folder = dirname(job.name);
        found = await worker.run(job);
        if (worker.hasEnded) {
          worker = undefined;
        }
      } else {
        found = await runCommand(job, job.command);
      }
      note({ job, seconds: (performance.now() - since) / 1000, ...found }, waiting.length);
    }
    await worker?.end();
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, jobs.length) }, lane));
}

/** Takes the next job: commands first, then a file beside the last one, which uses the same modules and servers. */
function take(waiting: Job[], node: string | undefined, folder: string): Job | undefined {
  const rank = (job: Job) => {
    if (job.command !== undefined) {
      return 0;
    }
    return job.node === node || node === undefined ? (dirname(job.name) === folder ? 1 : 2) : 3;
  };
  const next = waiting.reduce<Job | undefined>(
    (best, job) => (best === undefined || rank(job) < rank(best) ? job : best),
    undefined,
  );
  if (next !== undefined) {
    waiting.splice(waiting.indexOf(next), 1);
  }
  return next;
}

async function runCommand(
  { limitMs }: Job,
  [file = "", ...args]: readonly string[],
): Promise<Omit<Result, "job" | "seconds">> {
  const child = spawn(file, args, {
    cwd: root,
    env: environment,
    stdio: ["ignore", "pipe", "pipe"],
    detached: process.platform !== "win32",
  });
  running.add(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  }
  const timer = setTimeout(() => killGroup(child), limitMs);
  await once(child, "close");
  clearTimeout(timer);
  running.delete(child);
  return child.exitCode === 0
    ? { passed: 1, failures: [], skipped: [], notes: [] }
    : failed(howEnded(child), output);
}

function failed(title: string, error: string): Omit<Result, "job" | "seconds"> {
  return { passed: 0, failures: [{ title, error }], skipped: [], notes: [] };
}

function howEnded({ exitCode, signalCode }: ChildProcess): string {
  return signalCode === null ? `exit code ${String(exitCode)}` : `signal ${signalCode}`;
}

/** Ends a process with everything that it has started. */
function killGroup(child: ChildProcess): void {
  try {
    if (process.platform === "win32" || child.pid === undefined) {
      child.kill("SIGKILL");
    } else {
      process.kill(-child.pid, "SIGKILL");
    }
  } catch {
    // All of it has ended.
  }
}

function note(result: Result, left: number): void {
  results.push(result);
  clearProgress();
  if (result.failures.length > 0 || result.seconds > longS) {
    const verdict = result.failures.length > 0 ? "FAIL" : "ok";
    console.log(`${verdict} ${nameOf(result.job)} (${result.seconds.toFixed(1)} s)`);
  }
  result.notes.forEach((line) => console.log(`note ${nameOf(result.job)}: ${line}`));
  result.failures.forEach((failure) => console.log(textOf(failure)));
  if (process.stdout.isTTY) {
    const { passed, failed: red } = count();
    process.stdout.write(`${passed} passed, ${red} failed, ${left} files to go`);
  }
}

function clearProgress(): void {
  if (process.stdout.isTTY) {
    process.stdout.clearLine(0);
    process.stdout.cursorTo(0);
  }
}

function nameOf({ name, node }: Job): string {
  return node === process.execPath ? name : `${name} on ${basename(dirname(dirname(node)))}`;
}

function textOf({ title, error }: FileResult["failures"][number]): string {
  return `  ${title}\n${error.replace(/^/gm, "     ")}`;
}

function count(): { readonly passed: number; readonly failed: number } {
  return {
    passed: results.reduce((all, { passed }) => all + passed, 0),
    failed: results.reduce((all, { failures }) => all + failures.length, 0),
  };
}

/** Prints what was skipped, the slowest files, and each failure whole; then the last line, and sets the exit code. */
function conclude(): void {
  clearProgress();
  const slowest = results.toSorted((one, other) => other.seconds - one.seconds).slice(0, 10);
  const red = results.filter(({ failures }) => failures.length > 0);
  const { passed, failed: failedTests } = count();
  const lines = [
    ...results.flatMap(({ job, skipped }) => skipped.map((title) => `skipped ${nameOf(job)}: ${title}`)),
    "The slowest:",
    ...slowest.map(({ job, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${nameOf(job)}`),
    ...red.flatMap(({ job, failures }) => [`FAIL ${nameOf(job)}`, ...failures.map(textOf)]),
    `${((performance.now() - startedAt) / 1000).toFixed(0)} s in all`,
    `${passed} passed, ${failedTests} failed`,
  ];
  console.log(lines.join("\n"));
  process.exitCode = failedTests === 0 && passed > 0 ? 0 : 1;
}
