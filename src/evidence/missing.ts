import type { MissingEvidence } from "../model/shapes.ts";
import type { Row, SqlValue, Statement } from "../database/database.ts";
import { listLimits, parseFields } from "../model/parse-json.ts";
import { sha256Of } from "../model/sha256.ts";
import { lostSha256 } from "../database/own-jobs.ts";
import { againOf, completeAgain, hasMessageMedia, readEnded, type EndedJob } from "./archive-again.ts";
import { firstMissing, type Found, type MissingList } from "./missing-pages.ts";
import type { EvidenceSource } from "./packages.ts";
import type { Period } from "./period.ts";

/** The records keep IDs in small letters, packages and jobs as they were given. */
const sameTransaction = "lower(transaction_id) IN (r.transaction_id, r.legacy_id)";

/**
 * Lists what of a period has no complete package, the newest first: webhook records, by when they arrived, and archive
 * jobs, by when they were accepted; a package without the exact answer does not count for a job that had it, nor one without the
 * media that came with the message of a failed job. A job is in the database for 30 days after its end, a handled record for 90. What
 * was deleted because of its age is not missing.
 * Rejects with ERR_FILE and ERR_STORE.
 */
export async function listMissing(
  source: Pick<EvidenceSource, "database" | "files">,
  period: Period,
  limit: number,
): Promise<readonly MissingEvidence[]> {
  const found: Found[] = [];
  for (const list of lists) {
    found.push(...(await firstMissing(source, list, period, limit)));
  }
  return await completeAgain(source.database, newestOfEach(found).slice(0, limit));
}

const lists: readonly MissingList[] = [
  { select: recordsWithoutPackage, read: missingRecord, of: "records", by: "received_at" },
  { select: jobsWithoutPackage, read: missingJob, of: "jobs", by: "accepted_at" },
  {
    select: jobsWithMedia,
    read: (row) => describeJob(row, readEnded(row)),
    of: "jobs",
    by: "accepted_at",
    where: "state = 'failed'",
  },
  {
    select: incompletePackages,
    read: incompletePackage,
    of: "packages",
    by: "archived_at",
    where: "complete = 0",
  },
];

function recordsWithoutPackage(values: readonly SqlValue[]): Statement {
  return {
    sql: `SELECT r.record, r.record_sha256, r.transaction_id, r.legacy_id, r.transaction_reference, r.received_at,
        j.state, j.error_code, j.error_message, p.location, p.manifest_sha256, p.archived_at
      FROM records r
      LEFT JOIN jobs j ON j.job_id =
        (SELECT job_id FROM jobs WHERE ${sameTransaction} ORDER BY accepted_at DESC LIMIT 1)
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
  const complete = `SELECT max(complete) FROM packages WHERE lower(transaction_id) = lower(j.transaction_id)`;
  return {
    sql: `SELECT j.*, ${hasMessageMedia}, (${complete}) = 1 OR EXISTS
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

/**
 * No package makes up for media that came with the message of a failed job, unless it has them: the job that made it has media of the
 * same content then, and a later one stays in the database for longer than the failed one. Of a medium that the failed job has lost,
 * only its place in the message and its length are known.
 */
function jobsWithMedia(values: readonly SqlValue[]): Statement {
  const archiving = `SELECT job_id FROM jobs
      WHERE lower(transaction_id) = lower(j.transaction_id) AND state IN ('archived', 'reported')
    UNION ALL SELECT package_id FROM packages WHERE job_key = j.job_key
    UNION ALL SELECT package_id FROM packages
      WHERE job_key IN (SELECT job_key FROM packages WHERE measure_key = j.job_key)`;
  return {
    sql: `SELECT j.*, 1 AS has_message_media FROM jobs j
      WHERE j.accepted_at >= ? AND j.accepted_at < ? AND j.state = 'failed' AND
        (SELECT count(*) FROM job_media m WHERE m.job_id = j.job_id AND m.source = 'message' AND
          (SELECT count(*) FROM (${archiving}) a JOIN job_media o ON o.job_id = a.job_id
            WHERE o.sha256 <> '${lostSha256}' AND (o.sha256 = m.sha256 OR
              (m.sha256 = '${lostSha256}' AND o.source = 'message' AND o.slot = m.slot AND o.bytes = m.bytes))) = 0) > 0
      ORDER BY j.accepted_at DESC, j.job_id DESC LIMIT ? OFFSET ?`,
    values,
  };
}

/** A supplement is complete by all that was asked for before it, so an earlier package does not complete it. */
function incompletePackages(values: readonly SqlValue[]): Statement {
  const isLater = "(p.supplements_sha256 IS NULL OR archived_at >= p.archived_at)";
  return {
    sql: `SELECT p.* FROM packages p
      WHERE p.archived_at >= ? AND p.archived_at < ? AND p.complete = 0
        AND NOT EXISTS
          (SELECT 1 FROM packages
            WHERE lower(transaction_id) = lower(p.transaction_id) AND complete = 1 AND ${isLater})
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
    device: textOf(record?.["deviceClientId"]),
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
