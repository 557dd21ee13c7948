import { isMainThread, parentPort } from "node:worker_threads";
import { plainDisk } from "./archive-disk.ts";
import { type FoundFile, hashFile } from "./packages/package-files.ts";
import { sayUnreadable } from "./walk.ts";

/** The thread in which a verification hashes files. It answers each path that it is sent. */

/** The length and hash of a file, undefined if it is missing or not a regular file, or why it cannot be read. */
export type HashAnswer = FoundFile | string | undefined;

if (!isMainThread) {
  parentPort?.on("message", (path: string) => {
    void hashFile(path, plainDisk)
      .catch(sayUnreadable)
      .then((answer: HashAnswer) => parentPort?.postMessage(answer));
  });
}
