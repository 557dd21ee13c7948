import assert from "node:assert/strict";
import type { Statement } from "../../src/database/database.ts";
import { VerificationTable } from "../../src/database/verification-table.ts";

describe("the notes of a verification", () => {
  it("are written in steps, between which others come to the database", async () => {
    let mayBegin = true;
    const steps: boolean[] = [];
    const table = new VerificationTable({
      async transaction(statements) {
        if (statements.some(changes)) {
          steps.push(mayBegin);
          mayBegin = false;
          setTimeout(() => {
            mayBegin = true;
          });
        }
        return statements.map(({ sql }) =>
          sql.includes("AS last")
            ? [{ added_to: 0, last: 300 }]
            : changesAll(sql)
              ? Array.from({ length: 500 }, () => ({}))
              : [],
        );
      },
    });
    const left = [500, 200];
    const changesAll = (sql: string): boolean => sql.includes("RETURNING") && left.shift() === 500;
    for (const first of [0, 500, 1_000]) {
      await table.note(
        Array.from({ length: 500 }, (_, place) => ({ order: first + place, finding: null })),
        "2026-11-02T00:00:00.000Z",
      );
    }
    await table.forgetFuture(0);
    await table.addNew();
    await table.note([{ order: 1, finding: null }], "2026-11-02T00:00:00.000Z");
    assert.ok(steps.length > 6);
    assert.deepEqual(new Set(steps), new Set([true]), "after each step there is a pause");
  });
});

/** Whether a statement changes rows, and not only the number up to which they were added. */
function changes({ sql }: Statement): boolean {
  return /INSERT|UPDATE verifications\b(?!_)/.test(sql);
}
