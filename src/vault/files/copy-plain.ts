import { createHash } from "node:crypto";
import type { Disk } from "../../media/disk.ts";
import { type ReadDisk, writeWhole } from "../archive-disk.ts";
import { type FoundFile, openPlain } from "../packages/package-files.ts";

const blockBytes = 1024 * 1024;

/**
 * Writes a copy of a plain file, and syncs it. The copy is worthless if the result is "changed": the file is not the `expected` one. It is
 * "missing" if there is no such file. `written` runs each step that writes, to tell its errors from those of reading; both are the
 * system's.
 */
export async function copyPlain(
  from: string,
  to: string,
  expected: FoundFile,
  {
    source,
    target,
    written,
  }: {
    readonly source: Pick<ReadDisk, "open">;
    readonly target: Pick<Disk, "open">;
    readonly written: <T>(work: () => Promise<T>) => Promise<T>;
  },
): Promise<"changed" | "missing" | undefined> {
  const opened = await openPlain(from, source);
  if (opened === undefined) {
    return "missing";
  }
  try {
    const copy = await written(() => target.open(to, "wx"));
    try {
      const hash = createHash("sha256");
      const block = Buffer.allocUnsafe(Math.min(expected.bytes + 1, blockBytes));
      let bytes = 0;
      for (;;) {
        const { bytesRead } = await opened.read(block, 0, block.length, bytes);
        if (bytesRead === 0) {
          break;
        }
        const read = block.subarray(0, bytesRead);
        hash.update(read);
        const at = bytes;
        await written(() => writeWhole(copy, read, at));
        bytes += bytesRead;
        if (bytes > expected.bytes) {
          return "changed";
        }
      }
      await written(() => copy.sync());
      return bytes === expected.bytes && hash.digest("hex") === expected.sha256 ? undefined : "changed";
    } finally {
      await copy.close();
    }
  } finally {
    await opened.close();
  }
}
