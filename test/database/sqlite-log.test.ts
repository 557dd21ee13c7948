import assert from "node:assert/strict";
import { copyFile, mkdtemp, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { assert as check, asyncProperty, subarray } from "fast-check";
import { SqliteDatabase } from "../../src/database/sqlite-database.ts";
import { readLog } from "../../src/database/sqlite-log.ts";
import { migrations } from "./notes-schema.ts";
import { testThreads } from "./support.ts";

/** The last one takes several pages. */
const notes = 9;
const headerBytes = 32;
const frameHeaderBytes = 24;
const pageBytes = 4_096;
const frameBytes = frameHeaderBytes + pageBytes;

describe("the check of a SQLite log", () => {
  let folder: string;
  /** A database as a killed process leaves it: all commits are in its log alone. */
  let file: string;
  let frames: number;
  /** The number of the last frame of each commit. */
  let ends: number[];

  const frameStart = (frame: number): number => headerBytes + frame * frameBytes;
  const log = () => `${file}-wal`;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "log-"));
    const origin = join(folder, "origin.sqlite");
    const database = await SqliteDatabase.open({ file: origin, migrations, threads: testThreads });
    for (let number = 0; number < notes; number += 1) {
      // Some commits take several pages.
      const text = `n${number} ${"x".repeat((number % 3) * 5_000)}`;
      await database.transaction([{ sql: "INSERT INTO notes (text) VALUES (?)", values: [text] }]);
    }
    file = join(folder, "left.sqlite");
    await copyFile(origin, file);
    await copyFile(`${origin}-wal`, log());
    await database.close();
    const bytes = await readFile(log());
    frames = (bytes.length - headerBytes) / frameBytes;
    ends = Array.from({ length: frames }, (_, frame) => frame).filter(
      (frame) => bytes.readUInt32BE(frameStart(frame) + 4) !== 0,
    );
  });
  after(() => rm(folder, { recursive: true }));

  /** A copy of the database with a changed log, in a folder of its own. */
  async function withLog(change: (bytes: Buffer) => Buffer): Promise<string> {
    const copy = join(await mkdtemp(join(folder, "copy-")), "store.sqlite");
    await copyFile(file, copy);
    await writeFile(`${copy}-wal`, change(await readFile(log())));
    return copy;
  }
  const flipped = (at: number) => (bytes: Buffer) => {
    bytes.writeUInt8(bytes.readUInt8(at) ^ 0x10, at);
    return bytes;
  };
  /** What SQLite finds in it, without a check. */
  const countNotes = (path: string): number => {
    const database = new DatabaseSync(path);
    try {
      return Number(database.prepare("SELECT count(*) AS count FROM notes").get()?.["count"]);
    } finally {
      database.close();
    }
  };

  it("counts the commits that SQLite finds", async () => {
    // The migration is a commit as well.
    assert.equal(readLog(log()).isDamaged, false);
    assert.equal(readLog(log()).commits, ends.length);
    assert.equal(countNotes(await withLog((bytes) => bytes)), notes);
    assert.deepEqual(readLog(join(folder, "missing-wal")), { commits: 0, isDamaged: false });
  });

  it("finds each flipped bit that would make SQLite lose commits before the last one", async () => {
    const beforeLast = ends.at(-2) ?? 0;
    const original = await readFile(log());
    const changed = join(folder, "changed-wal");
    const isFound = async (at: number) => {
      await writeFile(changed, flipped(at)(Buffer.from(original)));
      return readLog(changed).isDamaged;
    };
    const missed: string[] = [];
    for (let at = 0; at < headerBytes; at += 3) {
      if (!(await isFound(at))) {
        missed.push(`byte ${at} of the header`);
      }
    }
    // One byte of each field of the frame's header, and two of the page.
    for (const within of [0, 4, 8, 12, 16, 20, frameHeaderBytes, frameBytes - 1]) {
      // Nothing continues a frame whose own checksum is hit, only the one behind it.
      const isOwnChecksum = within >= 16 && within < frameHeaderBytes;
      for (let frame = 0; frame <= beforeLast - (isOwnChecksum ? 1 : 0); frame += 1) {
        if (!(await isFound(frameStart(frame) + within))) {
          missed.push(`byte ${within} of frame ${frame}`);
        }
      }
    }
    assert.deepEqual(missed, []);
  });

  it("takes whatever a power failure leaves of the last commit as no damage", async () => {
    const start = frameStart((ends.at(-2) ?? 0) + 1);
    const original = await readFile(log());
    const sectors = Array.from({ length: Math.ceil((original.length - start) / 512) }, (_, sector) => sector);
    const changed = join(folder, "torn-wal");
    await check(
      asyncProperty(subarray(sectors), async (missing) => {
        const torn = Buffer.from(original);
        missing.forEach((sector) =>
          torn
            .subarray(start + sector * 512)
            .subarray(0, 512)
            .fill(0),
        );
        await writeFile(changed, torn);
        const { commits, isDamaged } = readLog(changed);
        assert.equal(isDamaged, false);
        assert.ok(commits >= ends.length - 1);
      }),
      { numRuns: 100 },
    );
  });

  for (const [name, change] of [
    ["a torn last commit", (bytes: Buffer) => bytes.fill(0, frameStart(ends.at(-2) ?? 0) + frameBytes + 100)],
    ["a log that ends within a frame", (bytes: Buffer) => bytes.subarray(0, bytes.length - 1_000)],
    ["an older run behind the last commit", (bytes: Buffer) => Buffer.concat([bytes, olderRun(bytes)])],
  ] as const) {
    it(`takes ${name} as what a power failure leaves, and opens the database`, async () => {
      const path = await withLog(change);
      assert.equal(readLog(`${path}-wal`).isDamaged, false);
      const database = await SqliteDatabase.open({ file: path, migrations, threads: testThreads });
      const [rows = []] = await database.transaction([{ sql: "SELECT note_id FROM notes" }]);
      await database.close();
      assert.ok(rows.length >= notes - 1);
    });
  }

  it("refuses to open a database whose log has lost commits, and leaves the files as they are", async () => {
    const path = await withLog(flipped(frameStart(ends[5] ?? 0) + 1_000));
    const before = [await readFile(path), await readFile(`${path}-wal`)];
    await assert.rejects(SqliteDatabase.open({ file: path, migrations, threads: testThreads }), {
      code: "ERR_STORE",
      message: /is damaged: .*write-ahead log.*Nothing was deleted.*dimensioner rebuild/,
    });
    assert.deepEqual([await readFile(path), await readFile(`${path}-wal`)], before);
    // Without the check SQLite opens it, and some of the notes are gone.
    assert.ok(countNotes(path) < notes - 1);
  });

  it("refuses a file that is missing or empty where its log holds commits: SQLite would delete the log", async () => {
    const path = await withLog((bytes) => bytes);
    const damaged = { code: "ERR_STORE", message: /is damaged: the file is missing or empty/ };
    await truncate(path);
    await assert.rejects(SqliteDatabase.open({ file: path, migrations, threads: testThreads }), damaged);
    await rm(path);
    await assert.rejects(SqliteDatabase.open({ file: path, migrations, threads: testThreads }), damaged);
    assert.equal(readLog(`${path}-wal`).commits, ends.length);
  });

  /** The same frames with the salts of an older run, which a log that was begun anew keeps behind its end. */
  function olderRun(bytes: Buffer): Buffer {
    const older = Buffer.from(bytes.subarray(headerBytes));
    for (let frame = 0; frame < frames; frame += 1) {
      older.writeUInt32BE(older.readUInt32BE(frame * frameBytes + 8) - 1, frame * frameBytes + 8);
    }
    return older;
  }
});
