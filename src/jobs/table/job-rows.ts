import { sha256Of } from "../../model/sha256.ts";
import type { Row, SqlValue, Statement } from "../../database/database.ts";
import {
  decodeIntent,
  itemSources,
  type Intent,
  type PlacedPackage,
  type StoredItem,
} from "../../vault/packages/intent.ts";
import { endStates, openToParts, unfinished, type JobState } from "./job-states.ts";

/** A job as it is stored in the database. */
export interface StoredJob {
  readonly id: string;
  readonly node: string;
  readonly state: JobState;
  /** The key of the job; null until the content of a message's media is known. */
  readonly key: string | null;
  readonly acceptedAt: Date;
  readonly intent: Intent;
  /** The given or found id of the transaction. */
  readonly transactionId: string | null;
  /** The stored media by slot (item-slots.ts). */
  readonly items: Map<string, StoredItem>;
  /** Media of messages that are not on the disk as they were stored, by slot. */
  readonly lost: Map<string, StoredItem>;
  /** The number of parts of the sequence, once one of them has stated it. */
  readonly count: number | null;
  /** How long it has waited for missing media. */
  readonly waitedMs: number;
  /** How long a process has worked on it. */
  readonly openMs: number;
  /** Its package, if it is placed. */
  readonly placed: PlacedPackage | null;
}

/** A list of states in SQL. */
export function listOf(states: readonly JobState[]): string {
  return states.map((state) => `'${state}'`).join(", ");
}

/**
 * The condition for jobs that have not ended. Only with these words and literal values does SQLite use the indexes of open jobs; it
 * reads the whole table otherwise.
 */
export const isOpen = `state NOT IN (${listOf(endStates)})`;

/** A job that a worker has. */
export type OwnJob = readonly [jobId: string, workerId: string];

/** The condition for a job that the worker still has; its values are an `OwnJob`. */
export const ofWorker = "job_id = ? AND worker_id = ?";

/**
 * Inserts a medium only while the job accepts some: a later one must never get into a package that is being sealed.
 */
export function insertItem(job: OwnJob, slot: string, item: StoredItem): Statement {
  return {
    sql: `INSERT INTO job_media (job_id, slot, path, source, content_id, description, content_type_announced,
        content_type_found, bytes, sha256, url)
      SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? WHERE EXISTS
        (SELECT 1 FROM jobs WHERE ${ofWorker} AND state IN (${listOf(openToParts)}))
      ON CONFLICT (job_id, slot) DO UPDATE SET path = excluded.path, source = excluded.source,
        content_id = excluded.content_id, description = excluded.description,
        content_type_announced = excluded.content_type_announced, content_type_found = excluded.content_type_found,
        bytes = excluded.bytes, sha256 = excluded.sha256, url = excluded.url
      RETURNING slot`,
    values: [
      job[0],
      slot,
      item.path,
      item.source,
      item.contentId,
      item.description,
      item.contentTypeAnnounced,
      item.contentTypeFound,
      item.bytes,
      item.sha256,
      item.url,
      ...job,
    ],
  };
}

/** Reads the job of a row, or returns its id if the row is not what was written. */
function readJob(row: Row, media: readonly Row[]): StoredJob | string {
  const id = String(row["job_id"]);
  const intent = readIntent(row);
  const state = unfinished.find((one) => one === row["state"]);
  if (intent === undefined || state === undefined) {
    return id;
  }
  const [path, manifest] = [textOf(row["location"]), textOf(row["manifest_sha256"])];
  return {
    id,
    node: String(row["node_id"]),
    state,
    key: textOf(row["job_key"]),
    acceptedAt: new Date(String(row["accepted_at"])),
    intent,
    transactionId: textOf(row["transaction_id"]),
    items: readItems(media),
    lost: readLost(media),
    count: row["part_count"] === null ? null : Number(row["part_count"]),
    waitedMs: Number(row["waited_ms"]),
    openMs: Number(row["open_ms"]),
    placed: path === null || manifest === null ? null : { path, sha256: manifest },
  };
}

/** Jobs that this worker continues with. */
export interface TakenJobs {
  readonly jobs: readonly StoredJob[];
  /** Ids of jobs whose row is not what was written. They stay as they are, with their files. */
  readonly damaged: readonly string[];
}

/** Reads jobs with their media, in the order in which they were accepted. */
export function readWithMedia(rows: readonly Row[], media: readonly Row[]): TakenJobs {
  const items = byJob(media);
  const read = rows.map((row) => readJob(row, items.get(String(row["job_id"])) ?? []));
  return {
    jobs: read
      .filter((one) => typeof one !== "string")
      .sort((one, other) => one.acceptedAt.getTime() - other.acceptedAt.getTime()),
    damaged: read.filter((one) => typeof one === "string"),
  };
}

/** The rows of each job, in their order. */
export function byJob(media: readonly Row[]): ReadonlyMap<string, readonly Row[]> {
  const found = new Map<string, Row[]>();
  for (const row of media) {
    const id = String(row["job_id"]);
    const rows = found.get(id) ?? [];
    rows.push(row);
    found.set(id, rows);
  }
  return found;
}

export function readIntent(row: Row): Intent | undefined {
  const text = String(row["intent"]);
  return sha256Of(text) === row["intent_sha256"] ? decodeIntent(JSON.parse(text)) : undefined;
}

/** Reads the media that a job has. */
export function readItems(media: readonly Row[]): Map<string, StoredItem> {
  return bySlot(media.filter((row) => !isLost(row)));
}

function readLost(media: readonly Row[]): Map<string, StoredItem> {
  return bySlot(media.filter(isLost));
}

/** The value of `sha256` of a medium of a message that is not on the disk as it was stored. */
export const lostSha256 = "";

function isLost(row: Row): boolean {
  return row["sha256"] === lostSha256;
}

function bySlot(media: readonly Row[]): Map<string, StoredItem> {
  return new Map(media.map((row) => [String(row["slot"]), readItem(row)]));
}

function readItem(row: Row): StoredItem {
  return {
    path: String(row["path"]),
    source: itemSources.find((one) => one === row["source"]) ?? "message",
    contentId: textOf(row["content_id"]),
    description: textOf(row["description"]),
    contentTypeAnnounced: textOf(row["content_type_announced"]),
    contentTypeFound: textOf(row["content_type_found"]),
    bytes: Number(row["bytes"]),
    sha256: String(row["sha256"]),
    url: textOf(row["url"]),
  };
}

function textOf(value: SqlValue | undefined): string | null {
  return typeof value === "string" ? value : null;
}
