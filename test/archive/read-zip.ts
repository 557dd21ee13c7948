import { buffer } from "node:stream/consumers";
import { crc32 } from "node:zlib";
import assert from "node:assert/strict";
import yauzl from "yauzl";

/** A file of a ZIP, as another implementation reads it. */
export interface ReadFile {
  readonly name: string;
  readonly bytes: number;
  readonly at: Date;
  /** Empty if it was not asked for. */
  readonly content: Buffer;
}

/** Reads a ZIP with a strict reader that shares no code with the writer. */
export async function readZip(
  file: string,
  reads: (name: string) => boolean = () => true,
): Promise<ReadFile[]> {
  const zip = await yauzl.openPromise(file, { lazyEntries: true, autoClose: false, strictFileNames: true });
  const files: ReadFile[] = [];
  try {
    for await (const entry of zip.eachEntry()) {
      const name = entry.fileName;
      let content = Buffer.alloc(0);
      if (reads(name)) {
        content = await buffer(await zip.openReadStreamPromise(entry));
        assert.equal(crc32(content), entry.crc32, name);
      }
      files.push({ name, bytes: entry.uncompressedSize, at: entry.getLastModDate(), content });
    }
  } finally {
    zip.close();
  }
  return files;
}
