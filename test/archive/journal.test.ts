import assert from "node:assert/strict";
import { appendFile, readFile, rename, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { plainDisk, type ArchiveDisk } from "../../src/archive/archive-disk.ts";
import { decodeLine, encodeLine } from "../../src/archive/journal/journal-lines.ts";
import { Journal } from "../../src/archive/journal/journal.ts";
import type { JournalRecord } from "../../src/archive/packages/records.ts";
import { rejectsWith, systemError, withFolder } from "../media/support.ts";
import { watchedArchiveDisk } from "./support.ts";

const waited = (job: string): JournalRecord => ({ type: "waited", job, ms: 1 });

async function openJournal(path: string, disk: ArchiveDisk = plainDisk) {
  const jobs: string[] = [];
  const journal = await Journal.open(path, {
    disk,
    guard: async () => undefined,
    onRecord: (record) => {
      if ("job" in record) {
        jobs.push(record.job);
      }
    },
  });
  return { journal, jobs };
}

async function jobsIn(path: string): Promise<string[]> {
  const { journal, jobs } = await openJournal(path);
  await journal.close();
  return jobs;
}

describe("archive: the journal", () => {
  const inJournal = (body: (path: string, folder: string) => Promise<void>): Promise<void> =>
    withFolder((folder) => body(join(folder, "journal.jsonl"), folder));

  it("is plain text: a checksum and JSON in each line", async () => {
    await inJournal(async (path) => {
      const { journal } = await openJournal(path);
      await journal.commit(waited("ä\n€"));
      await journal.close();
      const [first = "", second = "", rest] = (await readFile(path, "utf8")).split("\n");
      assert.deepEqual(decodeLine(first), { type: "journal", version: 1 });
      assert.match(second, /^[0-9a-f]{8} \{/);
      assert.deepEqual(decodeLine(second), waited("ä\n€"));
      assert.equal(rest, "");
      assert.equal(decodeLine(second.replace("1}", "2}")), undefined);
    });
  });

  it("shares one sync among many commits, and answers none before it", async () => {
    await inJournal(async (path) => {
      let syncs = 0;
      let isSynced = false;
      const disk = watchedArchiveDisk(async (call) => {
        if (call !== "file.datasync") {
          return;
        }
        syncs += 1;
        await new Promise((resolve) => setTimeout(resolve, 20));
        isSynced = true;
      });
      const { journal } = await openJournal(path, disk);
      await Promise.all(
        Array.from({ length: 500 }, async (_, index) => {
          await journal.commit(waited(String(index)));
          assert.ok(isSynced);
        }),
      );
      assert.ok(syncs <= 3, `${syncs} syncs`);
      await journal.close();
      assert.equal((await jobsIn(path)).length, 500);
    });
  });

  it("does without a last line that was torn, wherever, and goes on behind the one before", async () => {
    await inJournal(async (path) => {
      const { journal } = await openJournal(path);
      await journal.commit(waited("one"));
      await journal.commit(waited("two"));
      await journal.close();
      const whole = await readFile(path);
      const lastStart = whole.length - encodeLine(waited("two")).length;
      for (let length = lastStart; length < whole.length; length += 3) {
        await writeFile(path, whole);
        await truncate(path, length);
        const torn = await openJournal(path);
        assert.deepEqual([torn.jobs, torn.journal.damagedLines], [["one"], 0], `${length}`);
        await torn.journal.commit(waited("three"));
        await torn.journal.close();
        assert.deepEqual(await jobsIn(path), ["one", "three"]);
      }
    });
  });

  it("passes over damage in the middle, and tells how much", async () => {
    await inJournal(async (path) => {
      const { journal } = await openJournal(path);
      for (const job of ["one", "two", "three"]) {
        await journal.commit(waited(job));
      }
      await journal.close();
      await writeFile(path, (await readFile(path, "utf8")).replace('"two"', '"twO"'));
      const damaged = await openJournal(path);
      assert.deepEqual([damaged.jobs, damaged.journal.damagedLines], [["one", "three"], 1]);
      await damaged.journal.close();
    });
  });

  it("refuses a file that is no journal, or that of a later version", async () => {
    await inJournal(async (path) => {
      for (const text of ["", "hello\n", encodeLine({ type: "journal", version: 2 })]) {
        await writeFile(path, text);
        await rejectsWith(openJournal(path), "ERR_FILE", "fileOther");
      }
    });
  });

  for (const call of ["file.write", "file.datasync"]) {
    it(`refuses what a failing ${call} left, and takes the next`, async () => {
      await inJournal(async (path) => {
        let isFull = false;
        const disk = watchedArchiveDisk((made) => {
          if (isFull && made === call) {
            throw systemError("ENOSPC");
          }
        });
        const { journal } = await openJournal(path, disk);
        await journal.commit(waited("one"));
        isFull = true;
        const noted = journal.note(waited("later"));
        await rejectsWith(journal.commit(waited("lost")), "ERR_FILE", "fileFull");
        await appendFile(path, "what a short write left");
        isFull = false;
        await journal.commit(waited("two"));
        await noted;
        await journal.close();
        assert.deepEqual(await jobsIn(path), ["one", "later", "two"]);
      });
    });
  }

  it("refuses while its folder is gone, and goes on when it is back", async () => {
    await withFolder(async (folder) => {
      const root = join(folder, "share");
      await plainDisk.mkdir(root);
      const path = join(root, "journal.jsonl");
      const { journal } = await openJournal(path);
      await journal.commit(waited("one"));
      await rename(root, join(folder, "away"));
      await rejectsWith(journal.commit(waited("lost")), "ERR_FILE", "fileNoFolder");
      // An empty mount point in its place is not the archive.
      await plainDisk.mkdir(root);
      await rejectsWith(journal.commit(waited("lost")), "ERR_FILE", "fileNoFolder");
      await plainDisk.rmdir(root);
      await rename(join(folder, "away"), root);
      await journal.commit(waited("two"));
      await journal.close();
      assert.deepEqual(await jobsIn(path), ["one", "two"]);
    });
  });

  it("is compacted in one step: the old one or the new one, and no line that came meanwhile is lost", async () => {
    await inJournal(async (path, folder) => {
      let fail: string | undefined;
      const disk = watchedArchiveDisk((call) => {
        if (call === fail) {
          throw systemError("EIO");
        }
      });
      const { journal } = await openJournal(path, disk);
      for (let index = 0; index < 100; index += 1) {
        void journal.note(waited(`old ${index}`));
      }
      await journal.commit(waited("last"));
      const before = await readFile(path);
      for (const call of ["file.sync", "rename"]) {
        fail = call;
        await assert.rejects(
          journal.compact(
            async () => undefined,
            () => assert.fail("moved"),
          ),
        );
        fail = undefined;
        assert.deepEqual(await readFile(path), before, call);
      }
      const compacted = journal.compact(
        async (emit) => {
          void journal.commit(waited("meanwhile"));
          await emit(encodeLine(waited("kept")));
        },
        () => undefined,
      );
      const during = journal.commit(waited("during"));
      await Promise.all([compacted, during]);
      await journal.commit(waited("after"));
      await journal.close();
      const jobs = await jobsIn(path);
      assert.deepEqual([jobs[0], jobs.slice(1).sort()], ["kept", ["after", "during", "meanwhile"]]);
      assert.deepEqual(await plainDisk.readdir(folder), ["journal.jsonl"]);
    });
  });
});
