import { join } from "node:path";
import type { Database, Row, SqlValue, Statement } from "../database/database.ts";
import { type LongText, intents, lengthOf, records, withTexts } from "../database/long-texts.ts";
import { lostSha256 } from "../database/own-jobs.ts";
import { listLimits, parseFields } from "../model/parse-json.ts";
import { sha256Of } from "../model/sha256.ts";
import type { MissingEvidence } from "../model/shapes.ts";
import type { Period } from "../rules/periods.ts";
import { manifestFileName } from "../vault/archive-disk.ts";
import { type Intent, readIntent, type Again, messageOf } from "../vault/packages/intent.ts";
import type { Manifest } from "../vault/packages/manifest.ts";
import { loadManifest } from "../vault/packages/package-files.ts";
import { ofTransaction } from "../vault/packages/package-index.ts";
import { prunedOf } from "../vault/log/log-state.ts";
import type { EvidenceSource } from "./packages.ts";

type ReadSource = Pick<EvidenceSource, "database" | "vault">;

/** The records keep IDs in small letters, packages and jobs as they were given. */
const sameTransaction = ofTransaction("r.transaction_id", "r.legacy_id");

/**
 * Lists what of a period has no complete package, the newest first: webhook records, by when they arrived, and archive
 * jobs, by when they were accepted; a package without the exact answer does not count for a job that had it, nor one without the
 * media that came with the message of a failed job. A failed job is in the database for 30 days after its end, a handled record for 90;
 * what others have archived is read from their packages. What was deleted because of its age is not missing.
 * Rejects with ERR_FILE and ERR_STORE.
 */
export async function listMissing(
  source: Pick<EvidenceSource, "database" | "vault">,
  period: Period,
  limit: number,
): Promise<readonly MissingEvidence[]> {
  const found: Found[] = [];
  for (const list of lists) {
    found.push(...(await firstMissing(source, list, period, limit)));
  }
  return await completeAgain(source, newestOfEach(found).slice(0, limit));
}

const lists: readonly MissingList[] = [
  { select: recordsWithoutPackage, read: missingRecord, of: "records", by: "received_at", long: records },
  { select: jobsWithoutPackage, read: missingJob, of: "jobs", by: "accepted_at", long: intents },
  {
    select: jobsWithMedia,
    long: intents,
    read: (row) => describeJob(row, readEnded(row)),
    of: "jobs",
    by: "accepted_at",
    where: "state = 'failed'",
    isArchived: hasArchivedMedia,
  },
  {
    select: incompletePackages,
    read: incompletePackage,
    of: "packages",
    by: "archived_at",
    where: "complete = 0",
  },
];

/** What is read of jobs before their long texts. */
const jobColumns = `j.job_id, j.state, j.job_key, j.transaction_id, j.accepted_at, j.error_code, j.error_message, j.location,
  j.manifest_sha256, ${lengthOf(intents)}`;

function recordsWithoutPackage(values: readonly SqlValue[]): Statement {
  return {
    sql: `SELECT r.record_id, ${lengthOf(records)}, r.transaction_id, r.legacy_id, r.transaction_reference, r.received_at,
        j.state, j.error_code, j.error_message, p.location, p.manifest_sha256, p.archived_at
      FROM records r
      LEFT JOIN jobs j ON j.job_id =
        (SELECT job_id FROM jobs WHERE lower(transaction_id) IN (r.transaction_id, r.legacy_id) ORDER BY accepted_at DESC LIMIT 1)
      LEFT JOIN packages p ON p.indexed_order =
        (SELECT indexed_order FROM packages WHERE ${sameTransaction} ORDER BY archived_at DESC LIMIT 1)
      WHERE r.received_at >= ? AND r.received_at < ? AND NOT EXISTS
        (SELECT 1 FROM packages WHERE ${sameTransaction} AND complete = 1)
      ORDER BY r.received_at DESC, r.record_id DESC LIMIT ? OFFSET ?`,
    values,
  };
}

/**
 * A package that was made from a webhook's record does not make up for a job that has the device's exact answer. Only its intent
 * says whether it has; `missingJob` reads it.
 */
function jobsWithoutPackage(values: readonly SqlValue[]): Statement {
  // Not EXISTS: PostgreSQL might read all packages instead of looking up those of a few jobs.
  const complete = `SELECT max(complete) FROM packages WHERE ${ofTransaction("lower(j.transaction_id)")}`;
  return {
    sql: `SELECT ${jobColumns}, ${hasMessageMedia}, (${complete}) = 1 OR EXISTS
          (SELECT 1 FROM packages WHERE job_key = j.job_key AND complete = 1) AS has_package
      FROM jobs j
      WHERE j.accepted_at >= ? AND j.accepted_at < ? AND j.state NOT IN ('archived', 'reported')
        AND coalesce((${complete} HAVING count(raw_sha256) > 0), 0) = 0
        AND NOT EXISTS
          (SELECT 1 FROM packages WHERE job_key = j.job_key AND complete = 1 AND raw_sha256 IS NOT NULL)
        AND NOT EXISTS (SELECT 1 FROM packages WHERE measure_key = j.job_key AND complete = 1)
      ORDER BY j.accepted_at DESC, j.job_id DESC LIMIT ? OFFSET ?`,
    values,
  };
}

/** No package makes up for media that came with the message of a failed job, unless it has them: `hasArchivedMedia` reads it. */
function jobsWithMedia(values: readonly SqlValue[]): Statement {
  return {
    sql: `SELECT ${jobColumns}, 1 AS has_message_media FROM jobs j
      WHERE j.accepted_at >= ? AND j.accepted_at < ? AND j.state = 'failed'
        AND (SELECT count(*) FROM job_media m WHERE m.job_id = j.job_id AND m.source = 'message') > 0
      ORDER BY j.accepted_at DESC, j.job_id DESC LIMIT ? OFFSET ?`,
    values,
  };
}

/**
 * Whether the packages of its transaction or its measurement have all media of the message of a failed job. Of a medium that it has lost,
 * only the name and the length are known.
 */
async function hasArchivedMedia(
  source: ReadSource,
  { job_id: id, job_key: key, transaction_id: transaction }: Row,
) {
  const [media = [], packages = []] = await source.database.transaction([
    {
      sql: "SELECT path, bytes, sha256 FROM job_media WHERE job_id = ? AND source = 'message'",
      values: [id ?? null],
    },
    {
      sql: `SELECT location, manifest_sha256 FROM packages WHERE ${ofTransaction("lower(?)")}
        UNION SELECT location, manifest_sha256 FROM packages WHERE job_key = ?
        UNION SELECT location, manifest_sha256 FROM packages
          WHERE job_key IN (SELECT job_key FROM packages WHERE measure_key = ?)`,
      values: [transaction ?? null, transaction ?? null, key ?? null, key ?? null],
    },
  ]);
  const items = (await manifestsOf(source, packages)).flatMap((manifest) => manifest.items);
  return media.every(({ path, bytes, sha256 }) =>
    items.some((item) =>
      sha256 === lostSha256
        ? item.source === "message" && item.path === path && item.bytes === Number(bytes)
        : item.sha256 === sha256,
    ),
  );
}

/** Reads the manifests of packages as they were indexed; without those that are not there any more, or are damaged. */
async function manifestsOf(
  { vault }: Pick<EvidenceSource, "vault">,
  rows: readonly Row[],
): Promise<Manifest[]> {
  const manifests: Manifest[] = [];
  for (const row of rows) {
    const found = await loadManifest(join(vault.root, String(row["location"]), manifestFileName), vault.disk);
    if (typeof found === "object" && found.sha256 === row["manifest_sha256"]) {
      manifests.push(found.manifest);
    }
  }
  return manifests;
}

/** A supplement is complete by all that was asked for before it, so an earlier package does not complete it. */
function incompletePackages(values: readonly SqlValue[]): Statement {
  const isLater = "(p.supplements_sha256 IS NULL OR archived_at >= p.archived_at)";
  return {
    sql: `SELECT p.* FROM packages p
      WHERE p.archived_at >= ? AND p.archived_at < ? AND p.complete = 0
        AND NOT EXISTS
          (SELECT 1 FROM packages
            WHERE ${ofTransaction("lower(p.transaction_id)")} AND complete = 1 AND ${isLater})
        AND NOT EXISTS (SELECT 1 FROM packages
          WHERE supplements_sha256 = coalesce(p.supplements_sha256, p.manifest_sha256) AND complete = 1 AND ${isLater})
      ORDER BY p.archived_at DESC, p.indexed_order DESC LIMIT ? OFFSET ?`,
    values,
  };
}

function missingRecord(row: Row): Found {
  const text = String(row["record"]);
  // A changed record is named, and not archived as if it were what the cloud posted.
  const record = sha256Of(text) === row["record_sha256"] ? parseFields(text, listLimits) : null;
  const transactionId = textOf(record?.["transactionId"]) ?? textOf(row["transaction_id"]);
  const reason = reasonOf(row);
  // The column has only the beginning of a long one.
  const given = textOf(record?.["transactionReference"]) ?? textOf(row["transaction_reference"]);
  const references = { transactionReference: given };
  const evidence = {
    ...missingBy(row, reason),
    at: String(row["received_at"]),
    transactionId,
    ...references,
    device: textOf(record?.["device"]) ?? textOf(record?.["deviceClientId"]),
    archiveAgain:
      reason === "open"
        ? null
        : { ...(record === null ? {} : { payload: record }), transactionId, ...references },
  };
  return { evidence, ids: idsOf(transactionId, textOf(row["legacy_id"])) };
}

function missingJob(row: Row): Found | null {
  const job = readEnded(row);
  const isArchived = Number(row["has_package"]) > 0 && job.raw === null;
  return isArchived ? null : describeJob(row, job);
}

function describeJob(row: Row, job: EndedJob): Found {
  const { intent } = job;
  const reason = reasonOf(row);
  const transactionId = textOf(row["transaction_id"]);
  const evidence = {
    ...missingBy(row, reason),
    at: String(row["accepted_at"]),
    transactionId,
    transactionReference: intent?.references.transactionReference ?? null,
    device: intent?.device ?? null,
    archiveAgain: reason === "open" ? null : againOf(job, null),
  };
  // The same measurement may have failed several times before its transaction was found.
  return { evidence, ids: idsOf(transactionId ?? textOf(row["job_key"])) };
}

function incompletePackage(row: Row): Found {
  const transactionId = textOf(row["transaction_id"]);
  const transactionReference = textOf(row["transaction_reference"]);
  const evidence = {
    reason: "incomplete",
    at: String(row["archived_at"]),
    transactionId,
    transactionReference,
    device: textOf(row["device"]),
    errorCode: null,
    errorMessage: null,
    location: textOf(row["location"]),
    archiveAgain: transactionId === null ? null : { transactionId, transactionReference },
  } as const;
  return { evidence, ids: idsOf(transactionId) };
}

function idsOf(...ids: readonly (string | null)[]): string[] {
  return ids.flatMap((id) => id?.toLowerCase() ?? []);
}

function reasonOf(row: Row): MissingEvidence["reason"] {
  const state = textOf(row["state"]);
  if (state !== null && state !== "failed" && state !== "reported") {
    return "open";
  }
  if (textOf(row["location"]) !== null) {
    return "incomplete";
  }
  return state === "failed" ? "failed" : "notArchived";
}

function missingBy(
  row: Row,
  reason: MissingEvidence["reason"],
): Pick<MissingEvidence, "errorCode" | "errorMessage" | "location" | "reason"> {
  return {
    reason,
    errorCode: textOf(row["error_code"]),
    errorMessage: textOf(row["error_message"]),
    location: textOf(row["location"]),
  };
}

/** Of one transaction that was found several times, only the first: records come before jobs, jobs before packages. */
function newestOfEach(found: readonly Found[]): Found[] {
  const seen = new Set<string>();
  return found
    .filter(({ ids }) => {
      const isNew = !ids.some((id) => seen.has(id));
      ids.forEach((id) => seen.add(id));
      return isNew;
    })
    .sort(({ evidence: a }, { evidence: b }) => Number(a.at < b.at) - Number(a.at > b.at));
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** What is missing, and by which ids it is the same as something else that is: in small letters, none if that is not known. */
export interface Found {
  readonly evidence: MissingEvidence;
  readonly ids: readonly string[];
}

/** A list of what has no complete package, the newest first. */
export interface MissingList {
  /** The values: from when and until when, how many rows, and how many to skip before them. */
  readonly select: (values: readonly SqlValue[]) => Statement;
  /** Returns null if the row turns out to be of nothing that is missing. */
  readonly read: (row: Row) => Found | null;
  /** The table of which each row is looked at, the column that is compared with the period, and which rows; not given: all. */
  readonly of: string;
  readonly by: string;
  readonly where?: string;
  /** What the rows are read with, some at a time. */
  readonly long?: LongText;
  /** Whether what a row is of is archived after all, as only the packages say. */
  readonly isArchived?: (source: ReadSource, row: Row) => Promise<boolean>;
}

/** What a row says, and the SHA-256 of the manifest of its package. */
interface Listed {
  readonly found: Found;
  readonly manifest: string | null;
}

/** How many rows are read at once, if most of them are of deleted packages. */
const mostAtOnce = 20_000;

/**
 * How many rows one statement looks at; a year may have millions, of which hardly any is missing. An embedded database does nothing
 * else meanwhile.
 */
const mostLookedAt = 5_000;

/** Reads a list up to the limit, without what was deleted because of its age, of which there may be far more. */
async function firstMissing(
  source: ReadSource,
  list: MissingList,
  { from, to }: Period,
  limit: number,
): Promise<readonly Found[]> {
  const { database } = source;
  const missing: Found[] = [];
  let [before, skipped, size] = [to, 0, limit];
  for (;;) {
    const rows = await readPage(database, list, { from, to: before }, { size, skipped });
    const listed: Listed[] = [];
    for await (const row of list.long === undefined ? rows : withTexts(database, list.long, rows)) {
      const found = list.read(row);
      const manifest = row["manifest_sha256"];
      if (found !== null && (await list.isArchived?.(source, row)) !== true) {
        listed.push({ found, manifest: typeof manifest === "string" ? manifest : null });
      }
    }
    missing.push(...(await withoutPruned({ database }, listed)));
    const last = rows.at(-1)?.[list.by];
    if (typeof last !== "string" || rows.length < size || missing.length >= limit) {
      return missing;
    }
    // Further rows may have the same time as the last one.
    const next = new Date(Date.parse(last) + 1).toISOString();
    const sameTime = rows.filter((row) => row[list.by] === last).length;
    skipped = sameTime + (next === before ? skipped : 0);
    before = next;
    size = Math.max(limit, Math.min(size * 4, mostAtOnce));
  }
}

/** Reads the newest rows of a period, slice by slice until there are as many as wanted. */
async function readPage(
  database: Pick<Database, "transaction">,
  list: MissingList,
  { from, to }: Period,
  { size, skipped }: { readonly size: number; readonly skipped: number },
): Promise<readonly Row[]> {
  const page: Row[] = [];
  for (let end = to; ;) {
    const start = await startOfSlice(database, list, { from, to: end });
    // What is skipped has the time of the last row before, so it is in one slice.
    const skip = end === to ? skipped : 0;
    const [rows = []] = await database.transaction([list.select([start, end, size - page.length, skip])]);
    page.push(...rows);
    if (start === from || page.length >= size) {
      return page;
    }
    end = start;
  }
}

/** Returns from when on there are no more rows than one statement looks at, apart from those of the same time. */
async function startOfSlice(
  database: Pick<Database, "transaction">,
  { of, by, where = "TRUE" }: MissingList,
  { from, to }: Period,
): Promise<string> {
  const [[first] = []] = await database.transaction([
    {
      sql: `SELECT ${by} AS begun FROM ${of} WHERE ${by} >= ? AND ${by} < ? AND ${where}
        ORDER BY ${by} DESC LIMIT 1 OFFSET ?`,
      values: [from, to, mostLookedAt - 1],
    },
  ]);
  return first === undefined ? from : String(first["begun"]);
}

/**
 * Leaves out what the log of deleted packages names: a package, and what had no package any more when it was written. What has come
 * since then has to be archived.
 */
async function withoutPruned(
  { database }: Pick<EvidenceSource, "database">,
  listed: readonly Listed[],
): Promise<Found[]> {
  const ended = listed.filter(({ found }) => found.evidence.reason !== "open");
  const withPackage = ended.filter(({ manifest }) => manifest !== null);
  const manifests = new Set(withPackage.flatMap(({ manifest }) => manifest ?? []));
  // A package is known by its manifest.
  const others = ended.filter(({ manifest }) => manifest === null).map(({ found }) => found.evidence);
  const ids = new Set(others.flatMap(({ transactionId }) => transactionId?.toLowerCase() ?? []));
  const packages = await prunedOf(database, [...manifests], "sha256");
  const transactions = await prunedOf(database, [...ids], "transaction_id");
  const isPruned = ({ found, manifest }: Listed): boolean => {
    if (manifest !== null) {
      return packages.has(manifest);
    }
    const { transactionId, at } = found.evidence;
    const line = transactions.get(transactionId?.toLowerCase() ?? "");
    return line !== undefined && line.at >= at;
  };
  return listed
    .filter((one) => one.found.evidence.reason === "open" || !isPruned(one))
    .map(({ found }) => found);
}

/** A job, mostly one that has ended, with what cannot be had again from anywhere else. */
export interface EndedJob {
  readonly hasFailed: boolean;
  readonly intent: Intent | undefined;
  /** The exact answer; null where there is none, or where the row is damaged. */
  readonly raw: string | null;
  readonly acceptedAt: string;
  readonly transactionId: string | null;
  /** Whether its message brought media. */
  readonly hasMedia: boolean;
}

/** A column of the job `j`: whether its message brought media. */
const hasMessageMedia = `EXISTS
  (SELECT 1 FROM job_media WHERE job_id = j.job_id AND source = 'message') AS has_message_media`;

/** Of how many transactions the jobs are read at once: an embedded database does nothing else meanwhile. */
const mostReadAtOnce = 100;

/**
 * Completes what was found: where a job of the transaction has failed, what that job was made from is archived again. A record says
 * less than the device's exact answer, and a package that was made from it would be called complete nevertheless.
 */
async function completeAgain(source: ReadSource, found: readonly Found[]): Promise<MissingEvidence[]> {
  const completed: MissingEvidence[] = [];
  for (let at = 0; at < found.length; at += mostReadAtOnce) {
    const some = found.slice(at, at + mostReadAtOnce);
    const jobs = await source.database.transaction(some.map(endedJobsOf));
    for (const [index, one] of some.entries()) {
      const ended: EndedJob[] = [];
      for await (const row of withTexts(source.database, intents, jobs[index] ?? [])) {
        ended.push(readEnded(row));
      }
      // Most transactions have no failed job.
      const manifests = ended.some(({ hasFailed }) => hasFailed) ? await archivedOf(source, one) : [];
      completed.push(completeOne(one, ended, manifests));
    }
  }
  return completed;
}

function endedJobsOf({ ids: [id = "", otherId = id] }: Found): Statement {
  return {
    sql: `SELECT ${jobColumns}, ${hasMessageMedia} FROM jobs j
      WHERE lower(j.transaction_id) IN (?, ?) AND j.state IN ('archived', 'reported', 'failed')
      ORDER BY j.accepted_at DESC, j.job_id DESC`,
    values: [id, otherId],
  };
}

/** The manifests of the packages of its transaction. */
async function archivedOf(source: ReadSource, { ids: [id = "", otherId = id] }: Found): Promise<Manifest[]> {
  const [rows = []] = await source.database.transaction([
    {
      sql: `SELECT location, manifest_sha256 FROM packages WHERE ${ofTransaction("?", "?")}`,
      values: [id, otherId, id, otherId],
    },
  ]);
  return await manifestsOf(source, rows);
}

/** Reads the row of a job, with the column `hasMessageMedia`. */
function readEnded(row: Row): EndedJob {
  const intent = readIntent(row);
  const transactionId = row["transaction_id"];
  return {
    hasFailed: row["state"] === "failed",
    intent,
    raw: intent?.raw ?? null,
    acceptedAt: String(row["accepted_at"]),
    transactionId: typeof transactionId === "string" ? transactionId : null,
    hasMedia: Number(row["has_message_media"]) > 0,
  };
}

/**
 * `jobs`: those of the transaction that have ended, the newest first; `archived`: its packages. One whose message had media is left out as long as anything else
 * can be archived again: it is listed by itself until packages have these media. Only the record does not replace its exact answer.
 */
function completeOne(
  { evidence }: Found,
  jobs: readonly EndedJob[],
  archived: readonly Manifest[],
): MissingEvidence {
  if (evidence.reason === "open") {
    return evidence;
  }
  const lasting = lastingOf(jobs).filter((job) => !isArchivedLater(job, archived));
  const plain = lasting.filter(({ hasMedia }) => !hasMedia);
  const failed =
    plain.find(({ raw }) => raw !== null) ??
    plain.find(({ intent }) => intent !== undefined) ??
    lasting.find(({ raw }) => raw !== null);
  return failed === undefined
    ? evidence
    : { ...evidence, archiveAgain: againOf(failed, evidence.archiveAgain) };
}

/** The failed jobs whose contents no later job has archived. */
function lastingOf(jobs: readonly EndedJob[]): EndedJob[] {
  return jobs.filter(
    (job, index) => job.hasFailed && !jobs.slice(0, index).some((later) => hasArchived(later, job)),
  );
}

/** The same by the packages, which have the rows of their jobs no more. */
function isArchivedLater({ acceptedAt, raw, hasMedia }: EndedJob, archived: readonly Manifest[]): boolean {
  const sha256 = raw === null ? null : sha256Of(raw);
  return (
    (sha256 === null || archived.some((manifest) => manifest.raw?.sha256 === sha256)) &&
    archived.some(
      ({ times, items }) =>
        times.accepted > acceptedAt && (!hasMedia || items.some(({ source }) => source === "message")),
    )
  );
}

function hasArchived(later: EndedJob, { raw, hasMedia }: EndedJob): boolean {
  return !later.hasFailed && (raw === null || later.raw === raw) && (later.hasMedia || !hasMedia);
}

/**
 * What a job was made from, over what would be archived again otherwise. Null if it cannot be archived again: without the media that its
 * message had, the package would be called complete, and would lack them.
 */
function againOf({ hasMedia, intent, transactionId }: EndedJob, otherwise: object | null): Again | null {
  if (hasMedia || intent === undefined) {
    return null;
  }
  const again = messageOf(intent, transactionId);
  if (intent.measurement !== null || intent.raw !== null) {
    return again;
  }
  // The record is the measurement, not what was kept of another payload.
  const record = otherwise !== null && "payload" in otherwise ? { payload: otherwise.payload } : {};
  return { ...otherwise, ...again, ...record };
}
