import { DatabaseSync } from "node:sqlite";

/** Rows as an archive makes them, written at once: how long that takes is not what is measured. */
export function fillIndex(file: string, packages: number): void {
  const database = new DatabaseSync(file);
  database.exec("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA cache_size = -500000");
  database.exec(`WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ${packages})
    INSERT INTO packages (package_id, job_key, store_id, location, manifest_sha256, transaction_id,
      transaction_reference, custom_reference_1, barcode_reference, device, measured_at, archived_at, legal_for_trade, complete,
      files, bytes, measurement_sha256, raw_sha256, longest_mm, middle_mm, shortest_mm, weight_g, search_words)
    SELECT lower(hex(randomblob(16))), lower(hex(randomblob(32))), 'store', '2026-11-22/ORDER-' || n, lower(hex(randomblob(32))),
      lower(hex(randomblob(16))), 'ORDER-' || n, 'CUSTOMER-' || (n % 1000), '4006381' || n, 'Dock ' || (n % 40),
      strftime('%Y-%m-%dT%H:%M:%fZ', 1700000000 + n, 'unixepoch'), strftime('%Y-%m-%dT%H:%M:%fZ', 1700000001 + n, 'unixepoch'),
      1, 1, 4, 5000000, lower(hex(randomblob(32))), lower(hex(randomblob(32))),
      iif(n % 5 = 0, 400, 300 + abs(random() % 600)), iif(n % 5 = 0, 300, 150 + abs(random() % 150)),
      iif(n % 5 = 0, 200, 20 + abs(random() % 130)), 100 + abs(random() % 30000),
      '  ' || char(0xf1000 + (strftime('%Y', 1700000001 + n, 'unixepoch') * 12 + strftime('%m', 1700000001 + n, 'unixepoch')) % 60000)
        || '  ' || char(0xf0100 + strftime('%d', 1700000001 + n, 'unixepoch')) || '  order-' || n || '  customer-' || (n % 1000) || '  4006381' || n || '  dock  ' || (n % 40) || '  '
    FROM numbers`);
  database.exec("PRAGMA journal_mode = WAL");
  database.close();
}
