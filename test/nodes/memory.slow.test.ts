import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startSimulator } from "../../src/simulator/index.ts";

const videoBytes = 512 * 1024 * 1024;
/** More than all buffers together hold, and less than what it takes when the memory that was read is left to the garbage collector. */
const mayGrowBytes = 64 * 1024 * 1024;

/** A third more than a job takes with its message, and less than one that keeps its last error, or waits inside a function. */
const mostBytesPerJob = 8_000;

interface Told {
  readonly warmedUp: string | undefined;
  readonly error: string | undefined;
  readonly saved: { readonly path: string; readonly bytes: number };
  readonly grownBytes: number;
}

/** Runs a program of this folder in a process of its own until it has ended; returns the message that it sends. */
async function runChild<T>(program: string, given: readonly string[]): Promise<T> {
  const child = fork(join(import.meta.dirname, program), given);
  try {
    const [message] = (await once(child, "message")) as [T];
    if (child.exitCode === null) {
      await once(child, "exit");
    }
    return message;
  } finally {
    child.kill();
  }
}

describe("memory", () => {
  it("does not grow with a video of 512 MB that goes from the cloud to a file", async () => {
    const sim = await startSimulator();
    const folder = await mkdtemp(join(tmpdir(), "memory-"));
    const { contentId } = sim.cloud.addMedia("905865", {
      contentType: "video/mp4",
      generateBytes: videoBytes,
    });
    try {
      const given = [sim.cloud.origin, sim.cloud.token, contentId, folder];
      const told = await runChild<Told>("memory-child.ts", given);
      assert.equal(told.warmedUp, "ERR_NOT_FOUND");
      assert.equal(told.error, undefined);
      assert.equal(told.saved.bytes, videoBytes);
      assert.equal((await stat(told.saved.path)).size, videoBytes);
      assert.ok(told.grownBytes < mayGrowBytes, `memory grew by ${Math.round(told.grownBytes / 1e6)} MB`);
    } finally {
      await sim.close();
      await rm(folder, { recursive: true });
    }
  });

  it("takes a few kilobytes for each archive job that waits for a transaction that the cloud does not know yet", async () => {
    const sim = await startSimulator();
    const folder = await mkdtemp(join(tmpdir(), "memory-"));
    try {
      const given = [sim.cloud.origin, sim.cloud.token, folder];
      const { bytesPerJob } = await runChild<{ bytesPerJob: number }>("waiting-jobs-child.ts", given);
      assert.ok(bytesPerJob < mostBytesPerJob, `a job takes ${Math.round(bytesPerJob)} bytes`);
    } finally {
      await sim.close();
      await rm(folder, { recursive: true });
    }
  });
});
