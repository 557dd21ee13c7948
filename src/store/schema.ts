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
      handled_at TEXT
    )`,
    `CREATE INDEX records_unhandled ON records (node_id, record_id) WHERE handled_at IS NULL`,
    `CREATE INDEX records_transaction ON records (transaction_id)`,
    `CREATE INDEX records_legacy ON records (legacy_id)`,
    `CREATE INDEX records_received ON records (received_at)`,
  ],
];
