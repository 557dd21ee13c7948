import type { ArchiveDisk } from "../archive-disk.ts";
import { decodeLine, encodeLine, readLines } from "./journal-lines.ts";
import type { Journal } from "./journal.ts";
import { recordsOf, type JournalState } from "./open-job.ts";
import { PruneLog } from "../packages/prune-log.ts";
import { decodeRecord } from "../packages/records.ts";

const slackBytes = 1024 * 1024;

/** Keeps an archive's journal from growing without end. */
export class Compactor {
  readonly #parts: { journal: Journal; state: JournalState; stateFolder: string; disk: ArchiveDisk };
  /** Size of the journal when it was last compacted. */
  #compactedBytes: number;
  #compacting: Promise<void> | undefined;

  constructor(parts: { journal: Journal; state: JournalState; stateFolder: string; disk: ArchiveDisk }) {
    this.#parts = parts;
    this.#compactedBytes = parts.state.liveBytes;
  }

  /** Starts when the journal has doubled and more. */
  compactIfDue(): void {
    const { journal, state, stateFolder, disk } = this.#parts;
    const isDue = journal.size > 2 * this.#compactedBytes + slackBytes;
    if (!isDue || this.#compacting !== undefined) {
      return;
    }
    this.#compacting = compactJournal(journal, state, stateFolder, disk)
      // On a full disk the journal stays as it is; it is tried again when it has grown once more.
      .catch(() => undefined)
      .finally(() => {
        this.#compactedBytes = journal.size;
        this.#compacting = undefined;
      });
  }

  /** Resolves when nothing is being compacted. */
  async settled(): Promise<void> {
    await this.#compacting;
  }
}

/**
 * Writes the journal anew without what needs no telling any more: one line for each package that is still there, and
 * all there is of the open jobs. The lines of packages are copied, so that they are never all in memory.
 */
async function compactJournal(
  journal: Journal,
  state: JournalState,
  stateFolder: string,
  disk: ArchiveDisk,
): Promise<void> {
  const offsets = new Map<string, number>();
  const gone: string[] = [];
  await journal.compact(
    async (emit, file) => {
      const pruned = await new PruneLog(stateFolder, disk).find();
      for await (const lines of readLines(file)) {
        for (const { offset, text } of lines) {
          const record = decodeRecord(decodeLine(text));
          if (record?.type !== "archived" || state.finished.get(record.key) !== offset) {
            continue;
          }
          if (pruned.has(record.sha256)) {
            gone.push(record.key);
          } else {
            offsets.set(record.key, await emit(Buffer.from(`${text}\n`)));
          }
        }
      }
      for (const [key, at] of state.finished) {
        if (typeof at !== "number") {
          await emit(encodeLine({ type: "archived", key, ...at }));
        }
      }
      for (const job of state.open.values()) {
        for (const record of recordsOf(job)) {
          await emit(encodeLine(record));
        }
      }
      if (state.head !== null) {
        await emit(encodeLine({ type: "head", ...state.head }));
      }
    },
    () => {
      for (const [key, offset] of offsets) {
        // One that was archived again meanwhile has a newer line on its way.
        if (typeof state.finished.get(key) === "number") {
          state.finished.set(key, offset);
        }
      }
      for (const key of gone) {
        if (typeof state.finished.get(key) === "number") {
          state.finished.delete(key);
        }
      }
    },
  );
}
