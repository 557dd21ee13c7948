import type { Intent, JournalRecord, PlacedPackage, StoredItem } from "../packages/records.ts";

/** A job that was accepted and whose message has not gone out yet. */
export interface OpenJob {
  readonly id: string;
  /** Id of the node that accepted it. */
  readonly node: string;
  readonly acceptedAt: Date;
  /** The same in `performance.now()`: a clock that is put forward makes no job old. */
  readonly sinceMs: number;
  readonly intent: Intent;
  /** True for one that was read from the journal. */
  readonly isResumed: boolean;
  /** What makes two jobs the same; null until the content of a message's media is known. */
  key: string | null;
  /** What is whole on the disk, by content id or place in the sequence. */
  readonly items: Map<string, StoredItem>;
  /** How many parts a sequence has, once one of them said so. */
  count: number | null;
  /** How long the cloud has answered without what is expected. */
  waitedMs: number;
  placing: PlacedPackage | null;
  archived: PlacedPackage | null;
}

/** A finished job whose line is not written yet. */
export interface FinishedJob extends PlacedPackage {
  readonly job: string;
}

/** What the lines of a journal say. */
export class JournalState {
  readonly open = new Map<string, OpenJob>();
  /** Where the line of each package stands, by the key of its job; what it says, until it is written. */
  readonly finished = new Map<string, number | FinishedJob>();
  /** The package that the next one's manifest names. */
  head: PlacedPackage | null = null;
  /** Bytes of all lines that still say something. */
  liveBytes = 0;
  readonly #bytes = new Map<string, number>();

  /** Takes in one line while the journal is read. */
  apply(record: JournalRecord, offset: number, bytes: number): void {
    if (record.type === "journal") {
      return;
    }
    if (record.type === "head") {
      this.head = { path: record.path, sha256: record.sha256 };
      return;
    }
    if (record.type === "archived") {
      this.head = { path: record.path, sha256: record.sha256 };
      this.finished.set(record.key, offset);
      this.liveBytes += bytes;
      const archived = this.open.get(record.job);
      if (archived !== undefined) {
        archived.key = record.key;
        archived.archived = this.head;
      }
      return;
    }
    this.#bytes.set(record.job, (this.#bytes.get(record.job) ?? 0) + bytes);
    this.liveBytes += bytes;
    if (record.type === "accepted") {
      this.open.set(record.job, jobOf(record));
      return;
    }
    const job = this.open.get(record.job);
    if (job !== undefined) {
      this.#applyTo(job, record);
    }
  }

  #applyTo(
    job: OpenJob,
    record: Exclude<JournalRecord, { type: "accepted" | "archived" | "head" | "journal" }>,
  ): void {
    switch (record.type) {
      case "item":
        job.items.set(record.slot, record.item);
        break;
      case "count":
        job.count = record.count;
        break;
      case "waited":
        job.waitedMs = record.ms;
        break;
      case "placing":
        job.key = record.key;
        job.placing = { path: record.path, sha256: record.sha256 };
        // In the order of their packages, so that after a kill the last one becomes the one that the next manifest names.
        this.open.delete(job.id);
        this.open.set(job.id, job);
        break;
      case "closed":
        this.liveBytes -= this.#bytes.get(job.id) ?? 0;
        this.#bytes.delete(job.id);
        this.open.delete(job.id);
        break;
    }
  }
}

function jobOf(record: Extract<JournalRecord, { type: "accepted" }>): OpenJob {
  const acceptedAt = new Date(record.at);
  return {
    id: record.job,
    node: record.node,
    acceptedAt,
    // How long it has been, nobody but the clock can tell.
    sinceMs: performance.now() - Math.max(0, Date.now() - acceptedAt.getTime()),
    intent: record.intent,
    isResumed: true,
    key: record.key,
    items: new Map(record.items.map(({ slot, item }) => [slot, item])),
    count: null,
    waitedMs: 0,
    placing: null,
    archived: null,
  };
}

/** The lines that say all there is to know of an open job. */
export function* recordsOf(job: OpenJob): Generator<JournalRecord> {
  const { id, key, placing, archived } = job;
  const items = [...job.items].map(([slot, item]) => ({ slot, item }));
  const at = job.acceptedAt.toISOString();
  yield { type: "accepted", job: id, at, node: job.node, key, intent: job.intent, items };
  if (job.count !== null) {
    yield { type: "count", job: id, count: job.count };
  }
  if (job.waitedMs > 0) {
    yield { type: "waited", job: id, ms: job.waitedMs };
  }
  if (key !== null && placing !== null) {
    yield { type: "placing", job: id, key, ...placing };
  }
  if (key !== null && archived !== null) {
    yield { type: "archived", job: id, key, ...archived };
  }
}
