/** The thread of `fuzz.ts`: a reader that does not end, or fills its heap, ends with it. */
import { createHash } from "node:crypto";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { parentPort, workerData } from "node:worker_threads";
import { Random, inPieces, mutated } from "./mutate.ts";
import { type Reader, refused } from "./reader.ts";
import { readers } from "./readers.ts";

export interface Task {
  readonly name: string;
  /** The inputs of the corpus. */
  readonly inputs: readonly Uint8Array[];
  /** How long to try others after these. */
  readonly seconds: number;
  readonly seed: number;
  /** The number of the input that is being read, its length, and the input itself. */
  readonly current: SharedArrayBuffer;
}

/** Something that a reader must not do, with the input. */
export interface Finding {
  readonly problem: string;
  readonly input: Uint8Array;
}

export interface Done {
  readonly tried: number;
  /** How many different things the reader has made of them. */
  readonly outcomes: number;
}

/** What any input may take of the processor, however short; and each of its bytes. Only what is not linear takes more, also on a slow computer. */
const baseMs = 500;
const msPerByte = 0.04;
const baseBytes = 8_000_000;
/** How often what seems to take too much is tried again: the computer may have been busy with something else. */
const tries = 4;
/** Inputs that gave something new are changed further, unless they are so long that little else would be tried. */
const mostKept = 2_000;
const longestKept = 10_000;

setFlagsFromString("--expose-gc");
const collect: unknown = runInNewContext("gc");

class Trial {
  readonly #reader: Reader;
  readonly #random: Random;
  readonly #numbers: Int32Array;
  readonly #bytes: Uint8Array;
  tried = 0;

  constructor(reader: Reader, random: Random, current: SharedArrayBuffer) {
    this.#reader = reader;
    this.#random = random;
    this.#numbers = new Int32Array(current, 0, 2);
    this.#bytes = new Uint8Array(current, 8);
  }

  /** Returns what the reader makes of an input; throws an Error that says what is wrong with that. */
  async check(input: Buffer): Promise<string> {
    this.#bytes.set(input);
    this.#numbers[1] = input.length;
    Atomics.add(this.#numbers, 0, 1);
    this.tried += 1;
    const { text, ms, usedBytes } = await this.#measured(input);
    if (ms > mostMs(input) || usedBytes > this.#mostBytes(input)) {
      await this.#again(input);
    }
    const { isSame } = this.#reader;
    if (isSame === "always" || (isSame === "whole" && !text.startsWith(refused))) {
      const pieces = inPieces(input, this.#random);
      let inPart = await this.#reader.read(pieces);
      const mostTries = isSame === "whole" ? tries : 1;
      for (let count = 1; count < mostTries && inPart.startsWith(refused); count += 1) {
        // What follows after an end may have been seen in time.
        inPart = await this.#reader.read(pieces);
      }
      if (inPart !== text) {
        const lengths = pieces.map(({ length }) => length).slice(0, 20);
        throw new Error(
          `gives ${text.slice(0, 200)} as a whole, and ${inPart.slice(0, 200)} in pieces of ${lengths.join()}`,
        );
      }
    }
    return text;
  }

  #mostBytes(input: Buffer): number {
    return baseBytes + this.#reader.bytesPerByte * input.length;
  }

  async #again(input: Buffer): Promise<void> {
    let [leastMs, leastBytes] = [Infinity, Infinity];
    for (let count = 0; count < tries; count += 1) {
      if (typeof collect === "function") {
        Reflect.apply(collect, undefined, []);
      }
      const { ms, usedBytes } = await this.#measured(input);
      leastMs = Math.min(leastMs, ms);
      leastBytes = Math.min(leastBytes, usedBytes);
    }
    if (leastMs > mostMs(input)) {
      throw new Error(`takes ${Math.round(leastMs)} ms of the processor for ${input.length} bytes`);
    }
    if (leastBytes > this.#mostBytes(input)) {
      throw new Error(`takes ${Math.round(leastBytes / 1e6)} MB for ${input.length} bytes`);
    }
  }

  async #measured(input: Buffer) {
    const [before, since] = [used(), process.cpuUsage()];
    const text = await this.#reader.read([Buffer.from(input)]);
    const { user, system } = process.cpuUsage(since);
    return { text, ms: (user + system) / 1_000, usedBytes: used() - before };
  }
}

function used(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

function mostMs({ length }: Buffer): number {
  return baseMs + msPerByte * length;
}

async function run({ name, inputs, seconds, seed, current }: Task): Promise<Done> {
  const reader = await readers[name]?.();
  if (reader === undefined) {
    throw new Error(`There is no reader ${name}.`);
  }
  const random = new Random(seed);
  const trial = new Trial(reader, random, current);
  const kept = inputs.map((input) => Buffer.from(input));
  const outcomes = new Set<string>();
  const problems = new Set<string>();
  const look = async (input: Buffer<ArrayBuffer>): Promise<void> => {
    try {
      const text = await trial.check(input);
      const lines = text.split("\n").map((line) => line.slice(0, 120));
      const outcome = [...lines, Math.ceil(Math.log2(1 + input.length))].join("\n").slice(0, 2_000);
      const hash = createHash("sha1")
        .update(outcome.replaceAll(/["“][^"”]*["”]|\d+/g, "0"))
        .digest("base64");
      if (!outcomes.has(hash) && outcomes.size < mostKept) {
        outcomes.add(hash);
        if (input.length <= longestKept) {
          kept.push(input);
        }
      }
    } catch (error) {
      const problem = error instanceof Error ? (error.stack ?? error.message) : String(error);
      // The same one has many inputs.
      const [first = ""] = problem.replaceAll(/\d+/g, "0").split("\n");
      if (!problems.has(first)) {
        problems.add(first);
        parentPort?.postMessage({ problem, input } satisfies Finding, []);
      }
    }
  };
  for (const input of kept.slice()) {
    await look(input);
  }
  const until = performance.now() + seconds * 1_000;
  const material = { pool: kept, words: reader.words, mostBytes: reader.mostBytes };
  while (performance.now() < until) {
    await look(Buffer.from(mutated(random, material)));
  }
  await reader.close?.();
  return { tried: trial.tried, outcomes: outcomes.size };
}

parentPort?.postMessage(await run(workerData as Task), []);
