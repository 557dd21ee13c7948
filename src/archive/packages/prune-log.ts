import { join } from "node:path";
import * as v from "valibot";
import { plainDisk, pruneLogName, writeWhole, type ArchiveDisk } from "../archive-disk.ts";
import { decodeLine, encodeLine, readLines } from "./checked-lines.ts";
import { openPlain } from "./package-files.ts";

const pruned = v.object({
  at: v.string(),
  /** The package's folder below the root, with slashes. */
  path: v.string(),
  /** Of its manifest. */
  sha256: v.string(),
  transactionId: v.string(),
  transactionReference: v.nullable(v.string()),
  archived: v.string(),
  files: v.number(),
  bytes: v.number(),
});

/** One line of the log of deleted packages. */
export type PrunedPackage = v.InferOutput<typeof pruned>;

/** What was deleted for its age: one line with its checksum a package. */
export class PruneLog {
  readonly #path: string;
  readonly #disk: ArchiveDisk;

  constructor(stateFolder: string, disk: ArchiveDisk = plainDisk) {
    this.#path = join(stateFolder, pruneLogName);
    this.#disk = disk;
  }

  /** Resolves once the line is on the disk. */
  async add(entry: PrunedPackage): Promise<void> {
    const file = await this.#disk.open(this.#path, "a+");
    try {
      const { size } = await file.stat();
      // A line that a kill has torn ends here.
      const { bytesRead, buffer } = await file.read(Buffer.alloc(1), 0, 1, Math.max(size - 1, 0));
      const isTorn = bytesRead === 1 && buffer.toString() !== "\n";
      await writeWhole(file, Buffer.concat([Buffer.from(isTorn ? "\n" : ""), encodeLine(entry)]), size);
      await file.datasync();
    } finally {
      await file.close();
    }
  }

  /** 0 where nothing was ever deleted. */
  async size(): Promise<number> {
    return await this.#disk.lstat(this.#path).then(
      ({ size }) => size,
      () => 0,
    );
  }

  /** The manifests of all deleted packages, by their hash. */
  async find(): Promise<Set<string>> {
    const found = new Set<string>();
    const file = await openPlain(this.#path, this.#disk);
    if (file === undefined) {
      return found;
    }
    try {
      for await (const lines of readLines(file)) {
        for (const text of lines) {
          const entry = v.safeParse(pruned, decodeLine(text), { abortEarly: true });
          if (entry.success) {
            found.add(entry.output.sha256);
          }
        }
      }
    } finally {
      await file.close();
    }
    return found;
  }
}
