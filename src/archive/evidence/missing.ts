import type { MissingEvidence } from "../../model/shapes.ts";
import type { Row, SqlValue, Statement } from "../../store/database.ts";
import { listLimits, parseFields } from "../../model/parse-json.ts";
import { sha256Of } from "../../model/sha256.ts";
import { readIntent } from "../jobs/table/job-rows.ts";
import type { Intent } from "../packages/intent.ts";
import { firstMissing, type MissingList } from "./missing-pages.ts";
import type { EvidenceSource } from "./packages.ts";
import type { Period } from "./period.ts";

/** The records keep IDs in small letters, packages and jobs as they were given. */
const sameTransaction = "lower(transaction_id) IN (r.transaction_id, r.legacy_id)";

/**
 * Lists what of a period has no complete package, the newest first: webhook records, by when they arrived, and archive
 * jobs, by when they were accepted. A job is in the database for 30 days after its end, a handled record for 90. What
 * was deleted because of its age is not missing. Rejects with ERR_FILE and ERR_STORE.
 */
export async function listMissing(
  source: Pick<EvidenceSource, "database" | "files">,
  period: Period,
  limit: number,
): Promise<readonly MissingEvidence[]> {
  const found: MissingEvidence[] = [];
  for (const list of lists) {
    found.push(...(await firstMissing(source, list, period, limit)));
  }
  return newestOfEach(found).slice(0, limit);
}

const lists: readonly MissingList[] = [
  { select: recordsWithoutPackage, read: missingRecord, of: "records", by: "received_at" },
  { select: jobsWithoutPackage, read: missingJob, of: "jobs", by: "accepted_at" },
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
    sql: `SELECT r.record, r.record_sha256, r.transaction_id, r.transaction_reference, r.received_at,
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

function jobsWithoutPackage(values: readonly SqlValue[]): Statement {
  return {
    sql: `SELECT j.*, EXISTS (SELECT 1 FROM job_media WHERE job_id = j.job_id AND source = 'message') AS has_message_media
      FROM jobs j
      WHERE j.accepted_at >= ? AND j.accepted_at < ? AND j.state NOT IN ('archived', 'reported')
        AND NOT EXISTS
          (SELECT 1 FROM packages WHERE lower(transaction_id) = lower(j.transaction_id) AND complete = 1)
        AND NOT EXISTS (SELECT 1 FROM packages WHERE job_key = j.job_key AND complete = 1)
      ORDER BY j.accepted_at DESC, j.job_id DESC LIMIT ? OFFSET ?`,
    values,
  };
}

function incompletePackages(values: readonly SqlValue[]): Statement {
  return {
    sql: `SELECT p.* FROM packages p
      WHERE p.archived_at >= ? AND p.archived_at < ? AND p.complete = 0
        AND NOT EXISTS
          (SELECT 1 FROM packages WHERE lower(transaction_id) = lower(p.transaction_id) AND complete = 1)
        AND NOT EXISTS (SELECT 1 FROM packages
          WHERE supplements_sha256 = coalesce(p.supplements_sha256, p.manifest_sha256) AND complete = 1)
      ORDER BY p.archived_at DESC, p.indexed_order DESC LIMIT ? OFFSET ?`,
    values,
  };
}

function missingRecord(row: Row): MissingEvidence {
  const text = String(row["record"]);
  // A changed record is named, and not archived as if it were what the cloud posted.
  const record = sha256Of(text) === row["record_sha256"] ? parseFields(text, listLimits) : null;
  const transactionId = textOf(record?.["transactionId"]) ?? textOf(row["transaction_id"]);
  const reason = reasonOf(row);
  const device = textOf(record?.["deviceClientId"]);
  // The column has only the beginning of a long one.
  const given = textOf(record?.["transactionReference"]) ?? textOf(row["transaction_reference"]);
  const references = { transactionReference: given };
  return {
    ...missingBy(row, reason),
    at: String(row["received_at"]),
    transactionId,
    ...references,
    device,
    archiveAgain:
      reason === "open"
        ? null
        : { ...(record === null ? {} : { payload: record }), transactionId, ...references },
  };
}

function missingJob(row: Row): MissingEvidence {
  const intent = readIntent(row);
  const reason = reasonOf(row);
  const transactionId = textOf(row["transaction_id"]);
  return {
    ...missingBy(row, reason),
    at: String(row["accepted_at"]),
    transactionId,
    transactionReference: intent?.references.transactionReference ?? null,
    device: intent?.device ?? null,
    // Without the media that its message had, the package would be called complete, and would lack them.
    archiveAgain:
      reason === "open" || intent === undefined || Number(row["has_message_media"]) > 0
        ? null
        : messageOf(intent, transactionId),
  };
}

function incompletePackage(row: Row): MissingEvidence {
  const transactionId = textOf(row["transaction_id"]);
  const transactionReference = textOf(row["transaction_reference"]);
  return {
    reason: "incomplete",
    at: String(row["archived_at"]),
    transactionId,
    transactionReference,
    device: textOf(row["device"]),
    errorCode: null,
    errorMessage: null,
    location: textOf(row["location"]),
    archiveAgain: transactionId === null ? null : { transactionId, transactionReference },
  };
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

/** The properties of the message that the job was made from, as far as the job has kept them. */
function messageOf(intent: Intent, transactionId: string | null): Readonly<Record<string, unknown>> {
  const { references, measurement, raw, measuredBy, sought, device, billable, scan, keep } = intent;
  const result = measurement === null ? null : parseFields(measurement, listLimits);
  return {
    ...keep,
    transactionId,
    ...references,
    device,
    ...(result === null ? {} : { payload: result }),
    ...(raw === null ? {} : { rawResponse: raw }),
    ...(billable === null ? {} : { billable }),
    ...(scan === null ? {} : { scan }),
    ...(measuredBy === null
      ? {}
      : {
          measuredBy: {
            id: measuredBy.id,
            name: measuredBy.name,
            surface: result?.["source"] ?? "newer-device",
            sentAt: sought?.sentAt,
            references: sought?.references,
            tag: sought?.tag ?? null,
          },
          imageIdentifier: measuredBy.imageIdentifier,
        }),
  };
}

/** Of one transaction that was found several times, only the first: records come before jobs, jobs before packages. */
function newestOfEach(found: readonly MissingEvidence[]): MissingEvidence[] {
  const seen = new Set<string>();
  return found
    .filter(({ transactionId }) => {
      const key = transactionId?.toLowerCase();
      const isNew = key === undefined || !seen.has(key);
      seen.add(key ?? "");
      return isNew;
    })
    .sort((a, b) => Number(a.at < b.at) - Number(a.at > b.at));
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
