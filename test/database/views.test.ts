import assert from "node:assert/strict";
import type { SqlValue, Statement } from "../../src/database/database.ts";
import { blocksIn, readPages } from "../docs/pages.ts";
import { describeDatabases } from "./databases.ts";

type Values = Readonly<Record<string, SqlValue>>;

function insert(table: string, values: Values): Statement {
  const names = Object.keys(values);
  return {
    sql: `INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`,
    values: Object.values(values),
  };
}

const packageOf = (id: string, values: Values): Statement =>
  insert("packages", {
    package_id: id,
    job_key: id,
    location: `2026-11-22/${id}`,
    manifest_sha256: `sha of ${id}`,
    complete: 1,
    files: 2,
    bytes: 3_000_000_000,
    ...values,
  });
const recordOf = (id: string, handledAt: string | null): Statement =>
  insert("records", {
    node_id: "in",
    transaction_id: id,
    transaction_reference: `ORDER-${id}`,
    received_at: "2026-11-22T08:00:00.000Z",
    received_by_run: "run",
    record: "{}",
    record_sha256: "sha",
    handled_at: handledAt,
  });
const jobOf = (id: string, state: string, acceptedAt: string): Statement =>
  insert("jobs", {
    job_id: id,
    node_id: "archive",
    state,
    accepted_at: acceptedAt,
    changed_at: acceptedAt,
    intent: "{}",
    intent_sha256: "sha",
  });

const box = { longest_mm: 335, middle_mm: 210, shortest_mm: 125, weight_g: 1_270 };
const long = { longest_mm: 1_201, middle_mm: 100, shortest_mm: 100, weight_g: 900 };
const heavy = { longest_mm: 400, middle_mm: 300, shortest_mm: 200, weight_g: 31_501 };
const [at9, at10, at11, at12, tomorrow] = [
  "2026-11-22T09:00:00.000Z",
  "2026-11-22T10:00:00.000Z",
  "2026-11-22T11:00:00.000Z",
  "2026-11-22T12:00:00.000Z",
  "2026-11-23T00:00:00.000Z",
] as const;
const order = { transaction_reference: "ORDER-4711", legal_for_trade: 1, device_certificate: "CERT-1" };

const rows: readonly Statement[] = [
  packageOf("box", { ...order, ...box, archived_at: at9, billable_weight: 2.5, billable_unit: "kg" }),
  // The message that brought the picture had the weight as well.
  packageOf("picture", {
    ...order,
    archived_at: at10,
    supplements_sha256: "sha of box",
    billable_weight: 2.5,
    billable_unit: "kg",
  }),
  // Only what supplements this one has a weight, and two messages have brought it.
  packageOf("early", { archived_at: at9 }),
  packageOf("first", {
    archived_at: at10,
    supplements_sha256: "sha of early",
    billable_weight: 1.5,
    billable_unit: "kg",
  }),
  packageOf("second", {
    archived_at: at11,
    supplements_sha256: "sha of early",
    billable_weight: 1.5,
    billable_unit: "kg",
  }),
  packageOf("long", { ...long, archived_at: at11, billable_weight: 4, billable_unit: "kg" }),
  packageOf("heavy", { ...heavy, archived_at: at12, billable_weight: 70, billable_unit: "lb" }),
  packageOf("next", { ...box, archived_at: tomorrow, billable_weight: 9, billable_unit: "kg" }),
  recordOf("1", "2026-11-22T08:01:00.000Z"),
  recordOf("2", null),
  jobOf("open", "collecting", at10),
  jobOf("older", "collecting", at9),
  jobOf("ended", "reported", at9),
];

/** What the examples of the page answer, in their order. */
const answers: readonly (readonly Values[])[] = [
  [{ archived_at: at9, ...box }],
  [
    { billable_unit: "kg", parcels: 3, weight: 8 },
    { billable_unit: "lb", parcels: 1, weight: 70 },
  ],
  [
    { archived_at: at12, transaction_reference: null, longest_mm: 400, weight_g: 31_501 },
    { archived_at: at11, transaction_reference: null, longest_mm: 1_201, weight_g: 900 },
  ],
  [
    {
      archived_at: at9,
      location: "2026-11-22/box",
      manifest_sha256: "sha of box",
      legal_for_trade: 1,
      device_certificate: "CERT-1",
      supplement: "2026-11-22/picture",
    },
  ],
  [{ received_at: "2026-11-22T08:00:00.000Z", transaction_id: "2", transaction_reference: "ORDER-2" }],
  [{ state: "collecting", jobs: 2, oldest: at9 }],
];

describeDatabases("the queries of docs/records.md", (open) => {
  it("are answered as the page says", async () => {
    const { database, close } = await open();
    await database.transaction(rows);
    const pages = readPages().filter(({ path }) => path === "docs/records.md");
    const queries = blocksIn(pages, "sql").map(({ text }) => ({ sql: text.trim().replace(/;$/, "") }));
    const found = await database.transaction(queries);
    const byUnit = found.map((one) =>
      one
        .map((row) => ({ ...row }))
        .toSorted((a, b) => String(a["billable_unit"]).localeCompare(String(b["billable_unit"]))),
    );
    assert.deepEqual(byUnit, answers);
    await close();
  });
});
