import { isMainThread, parentPort } from "node:worker_threads";
import { plainDisk } from "./archive-disk.ts";
import { type FoundFile, hashFile } from "./packages/package-files.ts";
import { sayUnreadable } from "./walk.ts";

/** The thread in which a verification hashes files. It answers each file that it is sent. */

/** A file to be hashed, and how many bytes it has at most. */
export interface FileToHash {
  readonly path: string;
  readonly most: number;
}

/** The length and hash of a file, undefined if it is missing or not a regular file, or why it cannot be read. */
export type HashAnswer = FoundFile | string | undefined;

if (!isMainThread) {
  parentPort?.on("message", ({ path, most }: FileToHash) => {
    void hashFile(path, plainDisk, undefined, most)
      .catch(sayUnreadable)
      .then((answer: HashAnswer) => parentPort?.postMessage(answer));
  });
}
