/**
 * The schema of a store's database, version by version: each list of statements leads from the version before to the next.
 * What has been released is never changed, only followed by another list. docs/store.md explains each table and column.
 */
export const migrations: readonly (readonly string[])[] = [
  [
    `CREATE TABLE store (
      store_id TEXT NOT NULL,
      folder TEXT,
      created_at TEXT NOT NULL
    )`,

    `CREATE TABLE records (
      record_id INTEGER PRIMARY KEY AUTOINCREMENT,
      node_id TEXT NOT NULL,
      transaction_id TEXT NOT NULL,
      legacy_id TEXT,
      transaction_reference TEXT,
      received_at TEXT NOT NULL,
      received_by_run TEXT NOT NULL,
      record TEXT NOT NULL,
      record_sha256 TEXT NOT NULL,
      sent_at TEXT,
      sent_by_run TEXT,
      handled_at TEXT,
      handled_by TEXT
    )`,
    `CREATE INDEX records_unhandled ON records (node_id, record_id) WHERE handled_at IS NULL`,
    `CREATE INDEX records_transaction ON records (transaction_id)`,
    `CREATE INDEX records_legacy ON records (legacy_id)`,
    `CREATE INDEX records_received ON records (received_at)`,

    `CREATE TABLE jobs (
      job_id TEXT PRIMARY KEY,
      node_id TEXT NOT NULL,
      job_key TEXT,
      state TEXT NOT NULL CHECK (state IN ('accepted', 'collecting', 'sealing', 'archived', 'told', 'failed')),
      accepted_at TEXT NOT NULL,
      changed_at TEXT NOT NULL,
      transaction_id TEXT NOT NULL,
      intent TEXT NOT NULL,
      intent_sha256 TEXT NOT NULL,
      part_count INTEGER,
      waited_ms INTEGER NOT NULL DEFAULT 0,
      open_ms INTEGER NOT NULL DEFAULT 0,
      location TEXT,
      manifest_sha256 TEXT,
      error_code TEXT,
      error_message TEXT
    )`,
    `CREATE INDEX jobs_open ON jobs (node_id, accepted_at) WHERE state NOT IN ('told', 'failed')`,
    `CREATE INDEX jobs_changed ON jobs (changed_at)`,
    `CREATE INDEX jobs_transaction ON jobs (transaction_id)`,

    `CREATE TABLE job_media (
      added_order INTEGER PRIMARY KEY AUTOINCREMENT,
      job_id TEXT NOT NULL REFERENCES jobs (job_id) ON DELETE CASCADE,
      slot TEXT NOT NULL,
      path TEXT NOT NULL,
      content_id TEXT,
      description TEXT,
      content_type_announced TEXT,
      content_type_found TEXT,
      bytes INTEGER NOT NULL,
      sha256 TEXT NOT NULL,
      url TEXT,
      UNIQUE (job_id, slot)
    )`,

    `CREATE TABLE packages (
      indexed_order INTEGER PRIMARY KEY AUTOINCREMENT,
      package_id TEXT NOT NULL UNIQUE,
      job_key TEXT NOT NULL,
      store_id TEXT,
      location TEXT NOT NULL,
      manifest_sha256 TEXT NOT NULL,
      transaction_id TEXT NOT NULL,
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
      previous_sha256 TEXT
    )`,
    `CREATE INDEX packages_location ON packages (location)`,
    `CREATE INDEX packages_key ON packages (job_key, archived_at)`,
    `CREATE INDEX packages_transaction ON packages (transaction_id, archived_at)`,
    `CREATE INDEX packages_reference ON packages (transaction_reference, archived_at)`,
    `CREATE INDEX packages_custom_1 ON packages (custom_reference_1, archived_at)`,
    `CREATE INDEX packages_custom_2 ON packages (custom_reference_2, archived_at)`,
    `CREATE INDEX packages_custom_3 ON packages (custom_reference_3, archived_at)`,
    `CREATE INDEX packages_barcode ON packages (barcode_reference, archived_at)`,
    `CREATE INDEX packages_store ON packages (store_id, indexed_order)`,
    `CREATE INDEX packages_previous ON packages (previous_sha256)`,
    `CREATE INDEX packages_archived ON packages (archived_at, package_id)`,
  ],
];
