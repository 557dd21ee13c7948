import type { Migrations } from "./database.ts";

/** The view of packages, which both databases read in the same words: a type in it is none of a column. */
const packagesView = `CREATE VIEW packages_v1 AS SELECT package_id, archived_at, measured_at, transaction_id, transaction_reference,
  custom_reference_1, custom_reference_2, custom_reference_3, barcode_reference, scan, device, device_serial_number,
  device_certificate, longest_mm, middle_mm, shortest_mm, weight_g, billable_weight, billable_unit,
  billable_legal_for_trade, legal_for_trade, complete, files, bytes, location, manifest_sha256, supplements_sha256, operator,
  CAST(coalesce(work, 'packing') AS TEXT) AS work
  FROM packages`;

/**
 * The schema of a store's database, version by version: each list of statements leads from the version before to the
 * next. A released list is never changed; another one is added. docs/store.md explains each table and column.
 *
 * Each index is written with each row: those of columns that most rows leave empty have only the others.
 */
export const migrations: Migrations = [
  [
    `CREATE TABLE store (
      store_id TEXT NOT NULL,
      folder TEXT,
      created_at TEXT NOT NULL
    )`,

    // `steady_clock`: what the times by a clock that nobody sets count from, since the clock of the day may be set in between.
    `CREATE TABLE records (
      record_id INTEGER PRIMARY KEY AUTOINCREMENT,
      node_id TEXT NOT NULL,
      transaction_id TEXT NOT NULL,
      legacy_id TEXT,
      transaction_reference TEXT,
      custom_reference_1 TEXT,
      custom_reference_2 TEXT,
      custom_reference_3 TEXT,
      received_at TEXT NOT NULL,
      received_by_run TEXT NOT NULL,
      record TEXT NOT NULL,
      record_sha256 TEXT NOT NULL,
      device_serial_number TEXT,
      device_certificate TEXT,
      sent_at TEXT,
      sent_by_run TEXT,
      handled_at TEXT,
      handled_by TEXT,
      billable_weight REAL,
      billable_unit TEXT,
      billable_legal_for_trade TEXT,
      scan TEXT,
      worker_id TEXT,
      steady_clock TEXT,
      received_steady_ms INTEGER
    )`,
    `CREATE INDEX records_unhandled ON records (node_id, record_id) WHERE handled_at IS NULL`,
    `CREATE INDEX records_transaction ON records (transaction_id)`,
    `CREATE INDEX records_legacy ON records (legacy_id)`,
    `CREATE INDEX records_received ON records (received_at)`,
    `CREATE INDEX records_reference ON records (transaction_reference, received_at)
      WHERE transaction_reference IS NOT NULL`,
    `CREATE INDEX records_custom_1 ON records (custom_reference_1, received_at) WHERE custom_reference_1 IS NOT NULL`,
    `CREATE INDEX records_custom_2 ON records (custom_reference_2, received_at) WHERE custom_reference_2 IS NOT NULL`,
    `CREATE INDEX records_custom_3 ON records (custom_reference_3, received_at) WHERE custom_reference_3 IS NOT NULL`,
    `CREATE INDEX records_worker ON records (worker_id, node_id, record_id) WHERE handled_at IS NULL`,

    `CREATE TABLE measurements (
      measurement_key TEXT PRIMARY KEY,
      job_id TEXT NOT NULL,
      accepted_at TEXT NOT NULL,
      reference TEXT,
      sent_at TEXT,
      facts TEXT,
      transaction_id TEXT,
      legacy_id TEXT,
      found_at TEXT
    )`,
    `CREATE INDEX measurements_reference ON measurements (reference, sent_at) WHERE transaction_id IS NULL`,
    `CREATE INDEX measurements_transaction ON measurements (transaction_id)`,
    `CREATE INDEX measurements_legacy ON measurements (legacy_id)`,
    `CREATE INDEX measurements_accepted ON measurements (accepted_at)`,

    `CREATE TABLE jobs (
      job_id TEXT PRIMARY KEY,
      node_id TEXT NOT NULL,
      job_key TEXT,
      state TEXT NOT NULL CHECK (state IN ('accepted', 'collecting', 'sealing', 'archived', 'reported', 'failed')),
      accepted_at TEXT NOT NULL,
      changed_at TEXT NOT NULL,
      transaction_id TEXT,
      intent TEXT NOT NULL,
      intent_sha256 TEXT NOT NULL,
      part_count INTEGER,
      waited_ms INTEGER NOT NULL DEFAULT 0,
      open_ms INTEGER NOT NULL DEFAULT 0,
      location TEXT,
      manifest_sha256 TEXT,
      error_code TEXT,
      error_message TEXT,
      worker_id TEXT,
      told_at TEXT,
      steady_clock TEXT,
      accepted_steady_ms INTEGER
    )`,
    `CREATE INDEX jobs_accepted ON jobs (accepted_at)`,
    `CREATE INDEX jobs_worker ON jobs (worker_id, node_id) WHERE state NOT IN ('reported', 'failed')`,
    // The webhook's records have IDs in small letters, whatever the case of a package's or a job's.
    `CREATE INDEX jobs_transaction_lower ON jobs (lower(transaction_id))`,
    `CREATE INDEX jobs_ended ON jobs (state, changed_at) WHERE state IN ('reported', 'failed')`,

    // `spool_id`, `spool_host`: in which spool a medium is that is nowhere else, and the name of its computer; null where every worker
    // gets at it.
    `CREATE TABLE job_media (
      added_order INTEGER PRIMARY KEY AUTOINCREMENT,
      job_id TEXT NOT NULL REFERENCES jobs (job_id) ON DELETE CASCADE,
      slot TEXT NOT NULL,
      path TEXT NOT NULL,
      source TEXT NOT NULL,
      content_id TEXT,
      description TEXT,
      content_type_announced TEXT,
      content_type_found TEXT,
      bytes INTEGER NOT NULL,
      sha256 TEXT NOT NULL,
      url TEXT,
      spool_id TEXT,
      spool_host TEXT,
      UNIQUE (job_id, slot)
    )`,
    `CREATE INDEX job_media_spool ON job_media (spool_id, job_id) WHERE spool_id IS NOT NULL`,

    // `added_words`: the end of a package's search words, those of the numbers that the log says were added to it. `work`: what kind of
    // work it was; null if it was packing, as it is of most, which then need no place in an index for it.
    `CREATE TABLE packages (
      indexed_order INTEGER PRIMARY KEY AUTOINCREMENT,
      package_id TEXT NOT NULL UNIQUE,
      job_key TEXT NOT NULL,
      measure_key TEXT,
      store_id TEXT,
      location TEXT NOT NULL,
      manifest_sha256 TEXT NOT NULL,
      transaction_id TEXT,
      transaction_reference TEXT,
      custom_reference_1 TEXT,
      custom_reference_2 TEXT,
      custom_reference_3 TEXT,
      barcode_reference TEXT,
      device TEXT,
      measured_at TEXT,
      archived_at TEXT NOT NULL,
      legal_for_trade INTEGER,
      complete INTEGER NOT NULL,
      files INTEGER NOT NULL,
      bytes INTEGER NOT NULL,
      measurement_sha256 TEXT,
      raw_sha256 TEXT,
      supplements_sha256 TEXT,
      device_serial_number TEXT,
      device_certificate TEXT,
      billable_weight REAL,
      billable_unit TEXT,
      billable_legal_for_trade TEXT,
      scan TEXT,
      longest_mm INTEGER,
      middle_mm INTEGER,
      shortest_mm INTEGER,
      weight_g INTEGER,
      search_words TEXT NOT NULL DEFAULT '',
      operator TEXT,
      added_words TEXT NOT NULL DEFAULT '',
      work TEXT
    )`,
    `CREATE INDEX packages_location ON packages (location)`,
    // Hardly any package is incomplete, and a list of these must not read all others.
    `CREATE INDEX packages_incomplete ON packages (archived_at) WHERE complete = 0`,
    `CREATE INDEX packages_device ON packages (device, archived_at)`,
    // How many bytes all packages have is read from an index that is a tenth as large as the table.
    `CREATE INDEX packages_archived ON packages (archived_at, package_id, bytes)`,
    `CREATE INDEX packages_measure ON packages (measure_key) WHERE measure_key IS NOT NULL`,
    `CREATE INDEX packages_supplements ON packages (supplements_sha256) WHERE supplements_sha256 IS NOT NULL`,
    ...[
      ["reference", "transaction_reference"],
      ["custom_1", "custom_reference_1"],
      ["custom_2", "custom_reference_2"],
      ["custom_3", "custom_reference_3"],
      ["barcode", "barcode_reference"],
      ["scan", "scan"],
    ].map(
      ([name, column]) =>
        `CREATE INDEX packages_${name} ON packages (${column}, archived_at) WHERE ${column} IS NOT NULL`,
    ),
    `CREATE INDEX packages_size ON packages (longest_mm, middle_mm, shortest_mm, weight_g, archived_at)
      WHERE longest_mm IS NOT NULL`,
    `CREATE INDEX packages_weight ON packages (weight_g, archived_at) WHERE weight_g IS NOT NULL`,
    `CREATE INDEX packages_work ON packages (work, archived_at, package_id) WHERE work IS NOT NULL`,
    // Hardly any package has the same key or transaction as another one, the beginning of a hash finds it, and IDs in small letters are in
    // the index of IDs already.
    `CREATE INDEX packages_key ON packages (job_key)`,
    `CREATE INDEX packages_manifest ON packages (substr(manifest_sha256, 1, 16))`,
    `CREATE INDEX packages_transaction ON packages (transaction_id) WHERE transaction_id IS NOT NULL`,
    `CREATE INDEX packages_transaction_lower ON packages (lower(transaction_id))
      WHERE transaction_id <> lower(transaction_id)`,

    `CREATE TABLE workers (
      worker_id TEXT PRIMARY KEY,
      host TEXT NOT NULL,
      begun_at TEXT NOT NULL,
      lease_until TEXT
    )`,

    // What other programs query: docs/records.md. A view is never changed; another one is added, with the next number.
    `CREATE VIEW records_v1 AS SELECT record_id, received_at, handled_at, transaction_id, legacy_id,
      transaction_reference, custom_reference_1, custom_reference_2, custom_reference_3, scan, device_serial_number,
      device_certificate, billable_weight, billable_unit, billable_legal_for_trade, record
      FROM records`,
    `CREATE VIEW open_jobs_v1 AS SELECT job_id, node_id, state, accepted_at, changed_at, transaction_id, worker_id
      FROM jobs WHERE state NOT IN ('reported', 'failed')`,
    { sqlite: [packagesView], postgres: [packagesView] },

    // Where packages are being uploaded to a bucket, so that what is not finished can be found without listing the bucket.
    `CREATE TABLE uploads (
      location TEXT PRIMARY KEY,
      job_id TEXT,
      begun_at TEXT NOT NULL
    )`,

    // What happened to packages, in the order in which it did. Beside the packages are the same lines.
    `CREATE TABLE log (
      n INTEGER PRIMARY KEY,
      what TEXT NOT NULL,
      package_id TEXT,
      sha256 TEXT,
      transaction_id TEXT,
      writer TEXT NOT NULL,
      line TEXT NOT NULL
    )`,
    `CREATE INDEX log_package ON log (package_id, what) WHERE package_id IS NOT NULL`,
    `CREATE INDEX log_sha256 ON log (sha256) WHERE sha256 IS NOT NULL`,
    `CREATE INDEX log_transaction ON log (transaction_id) WHERE transaction_id IS NOT NULL`,
    `CREATE INDEX log_holds ON log (n) WHERE what IN ('held', 'released')`,
    `CREATE INDEX log_stamped ON log (n) WHERE what = 'stamped'`,
    `CREATE TABLE log_head (size INTEGER NOT NULL)`,
    `INSERT INTO log_head VALUES (0)`,
    `CREATE TABLE log_writers (
      writer TEXT PRIMARY KEY,
      published INTEGER NOT NULL
    )`,
    `CREATE TABLE log_blocks (
      block INTEGER PRIMARY KEY,
      root TEXT NOT NULL
    )`,

    // Which packages have three characters in a row. Both databases have all that it needs; PostgreSQL's extension pg_trgm leaves
    // characters out that are no letters where the database was made, and few users may create it.
    {
      sqlite: [
        // Without the places of the characters in the text it is half as long; whoever searches looks at the text itself.
        `CREATE VIRTUAL TABLE package_words USING fts5 (words, content = '', contentless_delete = 1, detail = none,
          tokenize = 'trigram case_sensitive 1')`,
        `CREATE TRIGGER package_words_added AFTER INSERT ON packages BEGIN
          INSERT INTO package_words (rowid, words) VALUES (new.indexed_order, new.search_words);
        END`,
        `CREATE TRIGGER package_words_changed AFTER UPDATE OF search_words ON packages
          WHEN new.search_words <> old.search_words BEGIN
          DELETE FROM package_words WHERE rowid = old.indexed_order;
          INSERT INTO package_words (rowid, words) VALUES (new.indexed_order, new.search_words);
        END`,
        `CREATE TRIGGER package_words_removed AFTER DELETE ON packages BEGIN
          DELETE FROM package_words WHERE rowid = old.indexed_order;
        END`,
      ],
      postgres: [
        // It costs more than a look at the index, which the planner would not guess.
        `CREATE FUNCTION trigrams(words TEXT) RETURNS TEXT[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1000 AS
          $$ SELECT array_agg(substr(words, place, 3)) FROM generate_series(1, length(words) - 2) AS place $$`,
        // What waits to be put into such an index is read as a whole by each search.
        `CREATE INDEX packages_words ON packages USING gin (trigrams(search_words)) WITH (fastupdate = off)`,
      ],
    },

    // The commands that are running: their answer is not here yet, and after a kill nobody else knows that they were sent.
    `CREATE TABLE commands (
      command_id TEXT PRIMARY KEY,
      node_type TEXT NOT NULL,
      node_id TEXT NOT NULL,
      node_name TEXT NOT NULL,
      operation TEXT NOT NULL,
      device TEXT NOT NULL,
      noted_at TEXT NOT NULL,
      sent_at TEXT,
      facts TEXT NOT NULL,
      message TEXT NOT NULL,
      run_id TEXT NOT NULL,
      worker_id TEXT NOT NULL
    )`,

    // When packages were last verified. A package is added when the next verification begins: archiving one costs nothing for it.
    `CREATE TABLE verifications (
      indexed_order INTEGER PRIMARY KEY REFERENCES packages (indexed_order) ON DELETE CASCADE,
      verified_at TEXT NOT NULL,
      archived_at TEXT NOT NULL,
      finding TEXT,
      taken_until TEXT NOT NULL
    )`,
    `CREATE INDEX verifications_next ON verifications (verified_at, archived_at, indexed_order)`,
    `CREATE INDEX verifications_damaged ON verifications (verified_at, indexed_order) WHERE finding IS NOT NULL`,
    `CREATE TABLE verifications_head (added_to INTEGER NOT NULL)`,
    `INSERT INTO verifications_head VALUES (0)`,
  ],
];

/**
 * How much of a text a column has that an index leads to, in characters. PostgreSQL refuses a row with more than 2,704 bytes in an
 * index. A character has at most four, and there is a time beside the text.
 */
const longestIndexed = 500;

/** Returns a text as such a column has it: its beginning if it is longer. What is looked up in the column is cut in the same way. */
export function indexedText(text: string): string;
export function indexedText(text: string | null): string | null;
export function indexedText(text: string | null): string | null {
  if (text === null || text.length <= longestIndexed) {
    return text;
  }
  // Not through the middle of a character, which takes one or two places.
  return Array.from(text.slice(0, 2 * longestIndexed))
    .slice(0, longestIndexed)
    .join("");
}
