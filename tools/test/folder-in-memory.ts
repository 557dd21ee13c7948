import { chmodSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { freemem } from "node:os";
import { join } from "node:path";

/** A file system in memory, which Linux has for shared memory. */
const sharedMemory = "/dev/shm";
/** What the tests have there at the same time is less than half of it. */
const neededBytes = 4 * 1024 ** 3;

/**
 * Makes a folder in memory for the temporary files of tests, which write and sync hundreds of thousands: on a disk that takes a
 * fifth of their time. Returns undefined where there is no such file system or too little memory, or where the user has
 * chosen a folder. It is there until this process ends.
 */
export function folderInMemory(): string | undefined {
  if (process.env["TMPDIR"] !== undefined || freemem() < 2 * neededBytes) {
    return undefined;
  }
  try {
    const { bavail, bsize } = statfsSync(sharedMemory);
    if (bavail * bsize < neededBytes) {
      return undefined;
    }
    const folder = mkdtempSync(join(sharedMemory, "dimensioner-"));
    process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
    // Programs that tests start as another user, such as PostgreSQL, have their files there, too.
    chmodSync(folder, 0o1777);
    return folder;
  } catch {
    return undefined;
  }
}
