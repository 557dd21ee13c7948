import type { Database, Row, SqlValue, Statement } from "../../store/database.ts";
import { markHandled } from "../../store/inbox.ts";
import {
  decodeIntent,
  itemSources,
  type Intent,
  type IntentTexts,
  type PlacedPackage,
  type StoredItem,
} from "../packages/intent.ts";
import { removeOldMeasurements } from "../find/measurement-table.ts";
import { noteMeasurement } from "./searches.ts";
import { endStates, openToParts, statesBefore, unfinished, type JobState } from "./job-states.ts";
import { sha256Of } from "../../model/sha256.ts";

/** A job as it is in the database. */
export interface StoredJob {
  readonly id: string;
  readonly node: string;
  readonly state: JobState;
  /** What makes two jobs the same; null until the content of a message's media is known. */
  readonly key: string | null;
  readonly acceptedAt: Date;
  readonly intent: Intent;
  /** As given, or as found. */
  readonly transactionId: string | null;
  /** What is whole on the disk, by content id or place in the sequence. */
  readonly items: Map<string, StoredItem>;
  /** How many parts a sequence has, once one of them said so. */
  readonly count: number | null;
  /** How long it has waited for what is missing. */
  readonly waitedMs: number;
  /** How long a process has worked on it. */
  readonly openMs: number;
  /** Its package, where it has one. */
  readonly placed: PlacedPackage | null;
}

/** What a start finds. */
export interface Unfinished {
  readonly jobs: readonly StoredJob[];
  /** Ids of jobs whose row is not what was written. They are left as they are, with their files. */
  readonly damaged: readonly string[];
}

const mostRemoved = 1_000;
const dayMs = 24 * 3_600_000;

/** The jobs of a store's archive nodes. All methods reject with ERR_STORE. */
export class JobTable {
  readonly #database: Database;
  readonly #now: () => Date;

  constructor(database: Database, now: () => Date = () => new Date()) {
    this.#database = database;
    this.#now = now;
  }

  /**
   * Accepts a job with the media that are there already. Once this resolves the job is finished, whatever happens; the
   * webhook's records of its transaction count as handled.
   */
  async accept(job: Pick<StoredJob, "id" | "node" | "key" | "intent" | "items">): Promise<Date> {
    const at = this.#now();
    const intent = JSON.stringify(job.intent);
    const { transactionId } = job.intent;
    await this.#database.transaction([
      {
        sql: `INSERT INTO jobs (job_id, node_id, job_key, state, accepted_at, changed_at, transaction_id, intent, intent_sha256)
          VALUES (?, ?, ?, 'accepted', ?, ?, ?, ?, ?)`,
        values: [
          job.id,
          job.node,
          job.key,
          at.toISOString(),
          at.toISOString(),
          transactionId,
          intent,
          sha256Of(intent),
        ],
      },
      ...[...job.items].map(([slot, item]) => insertItem(job.id, slot, item)),
      ...(transactionId === null ? [] : [markHandled(transactionId, job.id, at)]),
      ...noteMeasurement(job, at),
    ]);
    return at;
  }

  /**
   * Notes the transaction that was found for a job, if `claim` returns a row: that its record is this job's. The webhook's records
   * of the transaction count as handled then.
   */
  async found(id: string, transactionId: string, claim: Statement): Promise<boolean> {
    // Who else claims it now comes before or after both.
    const [claimed = []] = await this.#database.transaction([claim]);
    if (claimed.length === 0) {
      return false;
    }
    await this.#database.transaction([
      { sql: "UPDATE jobs SET transaction_id = ? WHERE job_id = ?", values: [transactionId, id] },
      markHandled(transactionId, id, this.#now()),
    ]);
    return true;
  }

  /** Adds media that are whole on the disk, all or none. False where the job takes none any more: then they are not part of it. */
  async addItems(id: string, items: ReadonlyMap<string, StoredItem>): Promise<boolean> {
    const added = await this.#database.transaction(
      [...items].map(([slot, item]) => insertItem(id, slot, item)),
    );
    return added.every((rows) => rows.length > 0);
  }

  /** Forgets media that are not on the disk any more. */
  async removeItems(id: string, slots: readonly string[]): Promise<void> {
    await this.#database.transaction(
      slots.map((slot) => ({
        sql: "DELETE FROM job_media WHERE job_id = ? AND slot = ?",
        values: [id, slot],
      })),
    );
  }

  async setCount(id: string, count: number): Promise<void> {
    await this.#database.transaction([
      { sql: "UPDATE jobs SET part_count = ? WHERE job_id = ?", values: [count, id] },
    ]);
  }

  /** Notes how long a job has waited and how long it has been open, so that a restart begins neither anew. */
  async setTimes(id: string, waitedMs: number, openMs: number): Promise<void> {
    await this.#database.transaction([
      {
        sql: "UPDATE jobs SET waited_ms = ?, open_ms = ? WHERE job_id = ?",
        values: [Math.round(waitedMs), Math.round(openMs), id],
      },
    ]);
  }

  async collect(id: string): Promise<void> {
    await this.#database.transaction([this.#move(id, "collecting")]);
  }

  /** Closes a job to further media, and says which it has. Undefined where it is sealed already or has ended. */
  async seal(id: string): Promise<Map<string, StoredItem> | undefined> {
    const [moved = [], media = []] = await this.#database.transaction([
      this.#move(id, "sealing"),
      { sql: "SELECT * FROM job_media WHERE job_id = ? ORDER BY added_order", values: [id] },
    ]);
    return moved.length === 0 ? undefined : readItems(media);
  }

  /** The package is under its name: with its row in the index, in one transaction. */
  async archived(id: string, key: string, placed: PlacedPackage, index: readonly Statement[]): Promise<void> {
    await this.#database.transaction([
      this.#move(id, "archived", { job_key: key, location: placed.path, manifest_sha256: placed.sha256 }),
      ...index,
    ]);
  }

  async told(id: string): Promise<void> {
    await this.#database.transaction([this.#move(id, "told")]);
  }

  async failed(id: string, error: { readonly code: string; readonly message: string }): Promise<void> {
    await this.#database.transaction([
      this.#move(id, "failed", { error_code: error.code, error_message: error.message }),
    ]);
  }

  /** Marks the webhook's records of a transaction as handled by a job that there is already, or by its package. */
  async handled(transactionId: string, id: string): Promise<void> {
    await this.#database.transaction([markHandled(transactionId, id, this.#now())]);
  }

  /** The long texts of a job. Undefined where its row is not what was written. */
  async texts(id: string): Promise<IntentTexts | undefined> {
    const [rows = []] = await this.#database.transaction([
      { sql: "SELECT intent, intent_sha256 FROM jobs WHERE job_id = ?", values: [id] },
    ]);
    return rows[0] === undefined ? undefined : readIntent(rows[0]);
  }

  /** All jobs that a restart goes on with, the oldest first. */
  async unfinished(): Promise<Unfinished> {
    const states = list(unfinished);
    const [jobs = [], media = []] = await this.#database.transaction([
      { sql: `SELECT * FROM jobs WHERE state IN (${states}) ORDER BY accepted_at, job_id` },
      {
        sql: `SELECT * FROM job_media WHERE job_id IN (SELECT job_id FROM jobs WHERE state IN (${states}))
          ORDER BY added_order`,
      },
    ]);
    const items = new Map<string, Row[]>(jobs.map((row) => [String(row["job_id"]), []]));
    media.forEach((row) => items.get(String(row["job_id"]))?.push(row));
    const read = jobs.map((row) => readJob(row, items.get(String(row["job_id"])) ?? []));
    return {
      jobs: read.filter((one) => typeof one !== "string"),
      damaged: read.filter((one) => typeof one === "string"),
    };
  }

  /** Which of these jobs have ended. */
  async ended(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.#database.transaction(
      ids.map((id) => ({
        sql: `SELECT job_id FROM jobs WHERE job_id = ? AND state IN (${list(endStates)})`,
        values: [id],
      })),
    );
    return new Set(rows.flat().map((row) => String(row["job_id"])));
  }

  /** Removes what ended more than `days` ago from the table of jobs; the index keeps its packages. */
  async removeEnded(days: number): Promise<void> {
    const before = new Date(this.#now().getTime() - days * dayMs).toISOString();
    await this.#database.transaction([
      {
        sql: `DELETE FROM jobs WHERE job_id IN
          (SELECT job_id FROM jobs WHERE changed_at < ? AND state IN (${list(endStates)}) LIMIT ?)`,
        values: [before, mostRemoved],
      },
      removeOldMeasurements(this.#now()),
    ]);
  }

  #move(id: string, state: JobState, also: Readonly<Record<string, SqlValue>> = {}): Statement {
    const columns = Object.keys(also).map((column) => `${column} = ?, `);
    return {
      sql: `UPDATE jobs SET ${columns.join("")}state = ?, changed_at = ?
        WHERE job_id = ? AND state IN (${list(statesBefore[state])}) RETURNING job_id`,
      values: [...Object.values(also), state, this.#now().toISOString(), id],
    };
  }
}

function list(states: readonly JobState[]): string {
  return states.map((state) => `'${state}'`).join(", ");
}

/** Only while the job takes parts: what comes later is never written to a package that is being sealed. */
function insertItem(jobId: string, slot: string, item: StoredItem): Statement {
  return {
    sql: `INSERT INTO job_media (job_id, slot, path, source, content_id, description, content_type_announced,
        content_type_found, bytes, sha256, url)
      SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? WHERE EXISTS
        (SELECT 1 FROM jobs WHERE job_id = ? AND state IN (${list(openToParts)}))
      ON CONFLICT (job_id, slot) DO UPDATE SET path = excluded.path, bytes = excluded.bytes, sha256 = excluded.sha256
      RETURNING slot`,
    values: [
      jobId,
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
      jobId,
    ],
  };
}

/** The job of a row, or its id where the row is not what was written. */
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
    count: row["part_count"] === null ? null : Number(row["part_count"]),
    waitedMs: Number(row["waited_ms"]),
    openMs: Number(row["open_ms"]),
    placed: path === null || manifest === null ? null : { path, sha256: manifest },
  };
}

function readIntent(row: Row): Intent | undefined {
  const text = String(row["intent"]);
  return sha256Of(text) === row["intent_sha256"] ? decodeIntent(JSON.parse(text)) : undefined;
}

function readItems(media: readonly Row[]): Map<string, StoredItem> {
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
