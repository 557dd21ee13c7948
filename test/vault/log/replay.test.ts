import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ToolThread } from "../../../src/database/tool-database.ts";
import { type LogEvent, entryOf } from "../../../src/vault/log/events.ts";
import { logParts, textOfLines } from "../../../src/vault/log/log-files.ts";
import { LogReplay, replaySchema } from "../../../src/vault/log/replay.ts";
import { plainDisk } from "../../../src/vault/archive-disk.ts";
import { withFolder } from "../../media/support.ts";

const store = "01234567-89ab-cdef-0123-456789abcdef";
const at = "2026-03-04T05:06:07.000Z";
const hashOf = (n: number): string => n.toString(16).padStart(64, "0");
const ofPackage = (n: number) => ({ at, package: `p${n}`, path: `a/${n}`, sha256: hashOf(n) });
const archived = (n: number, base: number | null = null): LogEvent => ({
  what: "archived",
  ...ofPackage(n),
  archived: "2026-01-01T00:00:00.000Z",
  supplements: base === null ? null : hashOf(base),
});
const held = (n: number): LogEvent => ({ what: "held", ...ofPackage(n), person: null, reason: "claim" });
const released = (n: number): LogEvent => ({ ...held(n), what: "released" }) as LogEvent;
const pruned = (n: number): LogEvent => ({
  what: "pruned",
  ...ofPackage(n),
  transactionId: null,
  before: "2026-02-01T00:00:00.000Z",
});

/** Replays these lines. Returns what is wrong with them, and how often the database was asked. */
async function replay(events: readonly LogEvent[]) {
  const lines = events.map((event, n) => ({ n, line: entryOf(event).line }));
  const thread = new ToolThread();
  const database = await thread.open({ as: "temporary", file: tmpdir() });
  const problems: string[] = [];
  let asked = 0;
  try {
    await database.transaction(replaySchema.map((sql) => ({ sql })));
    await withFolder(async (root) => {
      const folder = join(root, ...logParts, store);
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, "worker.log"), textOfLines(lines));
      const replayed = new LogReplay(root, store, plainDisk, {
        select: (sql, values) => {
          asked += 1;
          return database.select(sql, values);
        },
        transaction: (statements) => database.transaction(statements),
      });
      await replayed.readOn();
      const run = replayed.run([]);
      for (let step = await run.next(); step.done !== true; step = await run.next()) {
        problems.push(step.value.problem);
      }
    });
  } finally {
    await database.close();
    await thread.close();
  }
  return { problems, asked };
}

describe("the replay of a log", () => {
  const heldLine = (n: number, path: number): string =>
    `the line ${n} says that a/${path} was deleted while it was on hold`;

  it("knows that a hold keeps the packages of a transaction, as long as it lasts", async () => {
    const { problems } = await replay([
      archived(0),
      archived(1, 0),
      archived(2, 0),
      held(1),
      held(2),
      pruned(0),
      released(2),
      pruned(0),
      released(1),
      pruned(0),
      held(3),
      archived(3),
      archived(4, 3),
      pruned(4),
      released(3),
      pruned(3),
    ]);
    assert.deepEqual(problems, [
      heldLine(5, 0),
      heldLine(7, 0),
      "the line 10 is about a/3, and no line before says that it was archived",
      heldLine(13, 4),
    ]);
  });

  it("knows that a log is begun once and by its own store, and that nothing is deleted before its time", async () => {
    const begun = (own: string): LogEvent => ({ what: "begun", at, store: own });
    const other = store.replaceAll("0", "9");
    const before = new Date(Date.now() + 3 * 86_400_000).toISOString();
    const { problems } = await replay([
      begun(store),
      archived(0),
      archived(1),
      archived(2),
      { ...pruned(0), sha256: hashOf(1) } as LogEvent,
      { ...pruned(1), path: "a/2" } as LogEvent,
      { ...pruned(2), at: before, before } as LogEvent,
      begun(store),
    ]);
    const names = "and names another folder or manifest than the line that archived it";
    assert.deepEqual(problems, [
      `the line 4 says that a/0 was deleted, ${names}`,
      `the line 5 says that a/2 was deleted, ${names}`,
      `the line 6 says that a/2 was deleted as older than ${before}, which is in the future by the clock of this computer`,
      "the line 7 begins the log once more",
    ]);
    assert.deepEqual((await replay([begun(other)])).problems, [
      `the line 0 begins the log of the store ${other}: it is not of this log`,
    ]);
  });

  it("asks for no package again with each hold and each deletion", async () => {
    const numbers = Array.from({ length: 100 }, (_, n) => n);
    const events = [
      ...numbers.map((n) => archived(n)),
      ...numbers.slice(50).map(held),
      ...numbers.slice(0, 50).map(pruned),
    ];
    const { problems, asked } = await replay(events);
    assert.deepEqual(problems, []);
    assert.ok(asked < 2 * events.length, `asked ${asked} times`);
  });

  it("finds each line by its number, however many there are", async () => {
    const thread = new ToolThread();
    const database = await thread.open({ as: "temporary", file: tmpdir() });
    try {
      await database.transaction(replaySchema.map((sql) => ({ sql })));
      await database.transaction([
        {
          sql: `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999)
            INSERT INTO lines SELECT 'store', i, 'line ' || i FROM n`,
        },
      ]);
      const steps: string[] = [];
      const replay = new LogReplay("/archive", "store", plainDisk, {
        select: async (sql, values) => {
          const plan = await database.select(`EXPLAIN QUERY PLAN ${sql}`, values);
          steps.push(...plan.map(({ detail }) => String(detail)).filter((step) => step.includes(" lines ")));
          return database.select(sql, values);
        },
        transaction: (statements) => database.transaction(statements),
      });
      const given = [
        { n: 7, line: "line 7" },
        { n: 8, line: "another" },
        { n: 1_000, line: "line 1000" },
      ];
      assert.deepEqual(await replay.differing(given), [8]);
      assert.deepEqual(await replay.lacking([7, 1_000]), [1_000]);
      assert.ok(steps.length >= 2);
      assert.deepEqual(
        steps.filter((step) => !step.includes("n=?")),
        [],
        "a step reads all lines of a store",
      );
    } finally {
      await database.close();
      await thread.close();
    }
  });
});
