import assert from "node:assert/strict";
import * as fsPromises from "node:fs/promises";
import { type FileHandle, mkdtemp, readdir, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { DimensionerError, type ErrorCode } from "../../src/errors/dimensioner-error.ts";
import type { SentenceKey } from "../../src/errors/sentences.ts";
import type { TransferFacts } from "../../src/media/disk.ts";
import type { Download } from "../../src/model/download.ts";

export const facts = {
  operation: "fetch media",
  surface: "cloud",
  host: "the cloud",
  url: "https://cloud.example/api/transactionmedia/1/2",
} as const satisfies TransferFacts;

/** Runs `body` with a folder of its own, which is gone afterwards. */
export async function withFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "dimensioner-test-")));
  try {
    await body(folder);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Everything below a folder, sorted, with "/" between the parts. */
export async function listAll(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true });
  return entries.map((entry) => entry.replaceAll("\\", "/")).sort();
}

/** Waits until this is everything below a folder: an aborted save is waited for only so long, and then removes its file later. */
export async function untilListed(folder: string, expected: readonly string[]): Promise<void> {
  const end = performance.now() + 120_000;
  let found = await listAll(folder);
  while (!isDeepStrictEqual(found, expected) && performance.now() < end) {
    await pause(5);
    found = await listAll(folder);
  }
  assert.deepEqual(found, expected);
}

/** A download of these chunks. */
export function sending(
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  said: Partial<Download> = {},
): () => Promise<Download> {
  return async () => {
    const body = Readable.from(chunks, { objectMode: false });
    return {
      contentType: null,
      contentLength: null,
      framing: "length",
      suggestedName: "medium",
      source: facts,
      body,
      restart: () => Promise.reject(body.errored ?? new Error("it has not failed")),
      ...said,
    };
  };
}

/** A download of these chunks that fails after them, and begins again as another one. */
export function failing(
  chunks: Iterable<Uint8Array>,
  error: Error,
  again: () => Promise<Download>,
): () => Promise<Download> {
  function* failingChunks(): Generator<Uint8Array> {
    yield* chunks;
    throw error;
  }
  return sending(failingChunks(), { restart: again });
}

export async function rejectsWith(
  work: Promise<unknown>,
  code: ErrorCode,
  sentence: SentenceKey,
): Promise<DimensionerError> {
  const error: unknown = await work.then(
    () => assert.fail(`expected ${code} ${sentence}`),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof DimensionerError, String(error));
  assert.deepEqual([error.code, error.sentence], [code, sentence], error.message);
  assert.doesNotMatch(error.message, /__\w+__/);
  return error;
}

export function systemError(code: string, errno = -5): Error {
  return Object.assign(new Error(`${code}: injected`), { code, errno });
}

/** One call to the disk. */
export interface DiskCall {
  /** "rename"; "file.writev" for one on an open file. */
  readonly name: string;
  readonly args: readonly unknown[];
  /** Makes it, with these arguments or other ones. */
  readonly run: (args?: readonly unknown[]) => Promise<unknown>;
}

/**
 * The real file system with a look at each call before it is made: throwing makes that call fail, waiting makes it
 * slow. Calls on open files are named "file.writev" and so on.
 */
export function watchedDisk(before: (call: string, args: readonly unknown[]) => unknown): typeof fsPromises {
  return diskAround(async ({ name, args, run }) => {
    // A close that fails has closed all the same.
    if (name === "file.close") {
      const result = await run();
      await before(name, args);
      return result;
    }
    await before(name, args);
    return await run();
  });
}

/** The real file system, with each call made by `around`, or not. */
export function diskAround(around: (call: DiskCall) => Promise<unknown>): typeof fsPromises {
  return wrap(fsPromises, "", around);
}

function wrap<T extends object>(target: T, prefix: string, around: (call: DiskCall) => Promise<unknown>): T {
  return new Proxy(target, {
    get(real, key) {
      const member: unknown = Reflect.get(real, key, real);
      if (typeof member !== "function" || typeof key !== "string") {
        return member;
      }
      return async (...args: unknown[]) => {
        const run: DiskCall["run"] = async (given = args) => {
          const result: unknown = await Reflect.apply(member, real, [...given]);
          return result;
        };
        const result = await around({ name: prefix + key, args, run });
        return prefix === "" && key === "open" ? wrap(handle(result), "file.", around) : result;
      };
    },
  });
}

function handle(value: unknown): FileHandle & object {
  assert.ok(typeof value === "object" && value !== null && "writev" in value);
  return value as FileHandle;
}

/** `total` bytes in chunks, all from one block, so that the test itself needs no memory. */
export function* blocks(total: number, chunkBytes = 64 * 1024): Generator<Uint8Array> {
  const block = Buffer.alloc(chunkBytes, "dimensioner ");
  for (let left = total; left > 0; left -= chunkBytes) {
    yield block.subarray(0, Math.min(left, chunkBytes));
  }
}
