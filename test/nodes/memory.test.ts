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

describe("memory", () => {
  it("does not grow with a video of 512 MB that goes from the cloud to a file", async () => {
    const sim = await startSimulator();
    const folder = await mkdtemp(join(tmpdir(), "memory-"));
    const { contentId } = sim.cloud.addMedia("905865", {
      contentType: "video/mp4",
      generateBytes: videoBytes,
    });
    const child = fork(join(import.meta.dirname, "memory-child.ts"), [
      sim.cloud.origin,
      sim.cloud.token,
      contentId,
      folder,
    ]);
    try {
      const [told] = (await once(child, "message")) as [Told];
      assert.equal(told.warmedUp, "ERR_NOT_FOUND");
      assert.equal(told.error, undefined);
      assert.equal(told.saved.bytes, videoBytes);
      assert.equal((await stat(told.saved.path)).size, videoBytes);
      assert.ok(told.grownBytes < mayGrowBytes, `memory grew by ${Math.round(told.grownBytes / 1e6)} MB`);
      if (child.exitCode === null) {
        await once(child, "exit");
      }
    } finally {
      child.kill();
      await sim.close();
      await rm(folder, { recursive: true });
    }
  });

  it("takes a few kilobytes for each archive job that waits for a transaction that the cloud does not know yet", async () => {
    const sim = await startSimulator();
    const folder = await mkdtemp(join(tmpdir(), "memory-"));
    const child = fork(join(import.meta.dirname, "waiting-jobs-child.ts"), [
      sim.cloud.origin,
      sim.cloud.token,
      folder,
    ]);
    try {
      const [{ bytesPerJob }] = (await once(child, "message")) as [{ bytesPerJob: number }];
      assert.ok(bytesPerJob < mostBytesPerJob, `a job takes ${Math.round(bytesPerJob)} bytes`);
      if (child.exitCode === null) {
        await once(child, "exit");
      }
    } finally {
      child.kill();
      await sim.close();
      await rm(folder, { recursive: true });
    }
  });
});
