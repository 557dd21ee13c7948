import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Database } from "../../src/database/database.ts";
import { unansweredError } from "../../src/database/sqlite-failures.ts";
import { StoreDatabases } from "../../src/database/store-databases.ts";
import type { Part } from "../../src/jobs/runner.ts";
import { testThreads } from "../database/support.ts";
import { rejectsWith, withFolder } from "../media/support.ts";
import { rowsIn } from "../support/rows.ts";
import { ScriptedCloud } from "./scripted-sources.ts";
import { databaseOf, storeIn } from "./store.ts";
import { type Opened, intentOf, mediumOf, openArchive, pictureOf, readPackages } from "./support.ts";

const giveUpMs = 3_600_000;
const isMove = (sql: string): boolean => sql.startsWith("UPDATE jobs SET");

interface Given extends Opened {
  readonly root: string;
  readonly cloud: ScriptedCloud;
  /** To be set: what happens when the database has failed. */
  readonly failing: { next: () => Promise<void> };
  rows(sql: string): unknown[];
}

describe("archive: a database that fails while a package in a folder is noted, and does not know then that its job is sealed", () => {
  const withFailing = (act: (given: Given) => Promise<void>): Promise<void> =>
    withFolder(async (root) => {
      const databases = new StoreDatabases({ threads: testThreads });
      const failing = { next: async () => undefined };
      let failures = 1;
      const open: StoreDatabases["open"] = async (location) => {
        const connection = await databases.open(location);
        const { database } = connection;
        const transaction: Database["transaction"] = async (statements) => {
          const isNote = statements.some(
            ({ sql, values = [] }) => isMove(sql) && values.includes("archived"),
          );
          if (isNote && failures > 0) {
            failures -= 1;
            await database.transaction([{ sql: "UPDATE jobs SET state = 'collecting'" }]);
            await failing.next();
            throw unansweredError("store.sqlite", 30_000);
          }
          return await database.transaction(statements);
        };
        return { ...connection, database: { close: () => database.close(), transaction } };
      };
      const cloud = new ScriptedCloud({ id: "AnnotatedImage", type: "image/jpeg" });
      const sources = { store: storeIn(root, { open }), cloud: () => cloud };
      const opened = await openArchive(root, undefined, sources);
      const rows = (sql: string): unknown[] => rowsIn(databaseOf(root), sql);
      await act({ ...opened, root, cloud, failing, rows });
      assert.equal(failures, 0);
    });

  /** Asserts that each package has a row of its own; returns them. */
  async function indexedPackages({ root, rows }: Given) {
    const packages = await readPackages(root);
    const there = [...packages].map(([location, { job }]) => ({ package_id: job, location }));
    const indexed = rows("SELECT package_id, location FROM packages ORDER BY location");
    assert.deepEqual(
      indexed,
      there.toSorted((one, other) => (one.location < other.location ? -1 : 1)),
    );
    return packages;
  }

  it("has the package, which is found again", () =>
    withFailing(async (given) => {
      const { runner, rows, close } = given;
      const intent = intentOf("1", { origin: null, giveUpMs });
      const submission = await runner.submitMedia(intent, [mediumOf("1")], null);
      const { path } = await submission.end();
      submission.messageSent();
      await close();
      assert.deepEqual([...(await indexedPackages(given)).keys()], [path]);
      assert.deepEqual(rows("SELECT state FROM jobs"), []);
    }));

  it("has the package in its index, and what the cloud has got since then in that of the next message", () =>
    withFailing(async (given) => {
      const { runner, cloud, failing, close } = given;
      const video = { id: "ColorVideoMp4", type: "video/mp4" };
      failing.next = async () => {
        cloud.have = [...(cloud.have ?? []), video];
      };
      const first = await runner.submit(intentOf("1", { giveUpMs }));
      const { path, wasThere } = await first.end();
      first.messageSent();
      const ids = async (): Promise<(string | null)[][]> =>
        [...(await indexedPackages(given)).values()].map(({ items }) =>
          items.map(({ contentId }) => contentId),
        );
      assert.deepEqual([wasThere, await ids()], [false, [["AnnotatedImage"]]]);
      const second = await runner.submit(intentOf("1", { giveUpMs, expect: [video.type] }));
      const { manifest } = await second.end();
      second.messageSent();
      await close();
      assert.equal(manifest.supplements?.path, `${path}/manifest.json`);
      assert.deepEqual((await ids()).toSorted(), [["AnnotatedImage"], [video.id]]);
    }));

  it("keeps a part aside that was accepted when the package had its name, and says that it is not in it", () =>
    withFailing(async (given) => {
      const { archive, runner, failing, rows, close } = given;
      const intent = intentOf("1", { origin: null, sequence: "s", giveUpMs, onIncomplete: "keep" });
      const submit = (part: Part) => runner.submitMedia(intent, [mediumOf(`part ${part.index}`)], part);
      const late = Promise.withResolvers<Awaited<ReturnType<typeof submit>>>();
      failing.next = async () => late.resolve(await submit({ id: "s", index: 1, count: 2 }));
      await submit({ id: "s", index: 0, count: null });
      const last = await late.promise;
      last.messageSent(await rejectsWith(last.end(), "ERR_EXPIRED", "partTooLate"));
      await close();
      assert.equal((await indexedPackages(given)).size, 1);
      const [job] = rows("SELECT job_id FROM jobs WHERE state = 'failed'");
      assert.deepEqual(job, { job_id: last.running?.job.id });
      const aside = join(archive.work.asidePath(last.running?.job.id ?? ""), "media");
      const kept = await Promise.all((await readdir(aside)).map((name) => readFile(join(aside, name))));
      assert.ok(kept.some((one) => one.equals(pictureOf("part 1"))));
    }));
});
