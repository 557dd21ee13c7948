import { dirname } from "node:path";
import type { FileHandle } from "node:fs/promises";
import { phrase } from "../../errors/interpolation.ts";
import { fileError } from "../../media/disk.ts";
import { syncFolder } from "../../media/target-folder.ts";
import { diskFacts, writeWhole, type ArchiveDisk } from "../archive-disk.ts";
import { decodeLine, readLines } from "./journal-lines.ts";
import { decodeRecord, type JournalRecord } from "../packages/records.ts";

/** Told of each good line while a journal is read. */
export type OnRecord = (record: JournalRecord, offset: number, bytes: number) => void;

/** Hands a line over to a compacted journal and returns its new offset. */
export type Emit = (line: Buffer) => Promise<number>;

const batchBytes = 256 * 1024;

/** Reads a journal to its last whole line. Throws ERR_FILE for what is none. */
export async function replay(
  file: FileHandle,
  path: string,
  onRecord: OnRecord,
): Promise<{ size: number; damaged: number }> {
  let size = 0;
  let damaged = 0;
  let lastIsBad = false;
  let isFirst = true;
  for await (const lines of readLines(file)) {
    for (const { offset, end, text } of lines) {
      const record = decodeRecord(decodeLine(text));
      if (isFirst && record?.type !== "journal") {
        throw fileError("fileOther", path, diskFacts, phrase("journalUnreadable"));
      }
      isFirst = false;
      lastIsBad = record === undefined;
      if (record === undefined) {
        damaged += 1;
      } else {
        onRecord(record, offset, end - offset);
      }
      size = end;
    }
  }
  if (isFirst) {
    throw fileError("fileOther", path, diskFacts, phrase("journalEmpty"));
  }
  return { size, damaged: lastIsBad ? damaged - 1 : damaged };
}

/** Writes a file beside `path` and moves it there once it is whole on the disk. Returns its size. */
export async function replaceWith(
  path: string,
  disk: ArchiveDisk,
  write: (emit: Emit) => Promise<void>,
): Promise<number> {
  const next = `${path}.next`;
  const file = await disk.open(next, "w");
  let size = 0;
  let written = 0;
  let waiting: Buffer[] = [];
  const flush = async (): Promise<void> => {
    const bytes = Buffer.concat(waiting);
    waiting = [];
    await writeWhole(file, bytes, written);
    written += bytes.length;
  };
  try {
    await write(async (line) => {
      const at = size;
      waiting.push(line);
      size += line.length;
      if (size - written >= batchBytes) {
        await flush();
      }
      return at;
    });
    await flush();
    await file.sync();
  } finally {
    await file.close();
  }
  await disk.rename(next, path);
  await syncFolder(dirname(path), disk, diskFacts);
  return size;
}
