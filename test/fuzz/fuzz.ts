import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { Done, Finding, Task } from "./fuzz-child.ts";

const folder = join(import.meta.dirname, "corpus");

/** No input is longer. */
const mostInputBytes = 1_000_000;
/** After so long without an end, a reader goes on for ever; the longest input may take 10 s, and the computer may be busy. */
const endlessMs = 30_000;
const lookMs = 1_000;
const heapMb = 700;

/**
 * Gives a reader the inputs of its corpus, and then changed ones for so long. A reader never throws what it does not document, ends within a
 * time and within memory that are linear in the length of the input, and reads a stream in the same way however its bytes are cut. Each input
 * that shows otherwise is added to the corpus, where it stays when the reader is right. Rejects with an Error that names them.
 */
export async function fuzz(name: string, seconds: number, seed: number): Promise<Done> {
  const findings: Finding[] = [];
  const done = await runThread({ name, inputs: corpusOf(name), seconds, seed }, findings);
  if (findings.length > 0 || done === undefined) {
    const kept = findings.map(({ problem, input }) => `${keep(name, input)}: ${problem}`);
    throw new Error(`The reader ${name}, seed ${seed}:\n\n${kept.join("\n\n")}`);
  }
  return done;
}

function runThread(task: Omit<Task, "current">, findings: Finding[]): Promise<Done | undefined> {
  const current = new SharedArrayBuffer(8 + mostInputBytes);
  const [numbers, bytes] = [new Int32Array(current, 0, 2), new Uint8Array(current, 8)];
  const { promise, resolve } = Promise.withResolvers<Done | undefined>();
  const worker = new Worker(new URL("fuzz-child.ts", import.meta.url), {
    workerData: { ...task, current } satisfies Task,
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
  });
  const give = (problem: string): void => {
    findings.push({ problem, input: Uint8Array.from(bytes.subarray(0, numbers[1])) });
    resolve(undefined);
    void worker.terminate();
  };
  let [last, lastAt] = [0, performance.now()];
  const timer = setInterval(() => {
    const number = Atomics.load(numbers, 0);
    if (number !== last) {
      [last, lastAt] = [number, performance.now()];
    } else if (performance.now() - lastAt > endlessMs) {
      give(`does not end within ${endlessMs / 1_000} s`);
    }
  }, lookMs);
  worker.on("message", (said: Done | Finding) => {
    if ("problem" in said) {
      findings.push(said);
    } else {
      resolve(said);
    }
  });
  worker.on("error", (error: unknown) => {
    give(`ends the process: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  });
  worker.once("exit", () => resolve(undefined));
  return promise.finally(() => {
    clearInterval(timer);
    void worker.terminate();
  });
}

function corpusOf(name: string): Buffer[] {
  const own = join(folder, name);
  return readdirSync(own)
    .sort()
    .map((file) => readFileSync(join(own, file)));
}

/** The path of the file. */
function keep(name: string, input: Uint8Array): string {
  const own = join(folder, name);
  mkdirSync(own, { recursive: true });
  const file = join(own, `found-${createHash("sha256").update(input).digest("hex").slice(0, 12)}`);
  writeFileSync(file, input);
  return file;
}
