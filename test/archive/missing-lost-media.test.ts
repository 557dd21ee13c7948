import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { listMissing } from "../../src/index.ts";
import type { Submission } from "../../src/jobs/runner.ts";
import type { Intent } from "../../src/vault/packages/intent.ts";
import { rejectsWith, withFolder } from "../media/support.ts";
import { ScriptedCloud } from "./scripted-sources.ts";
import { databaseOf } from "./store.ts";
import { intentOf, mediaFolder, mediumOf, openArchive, workFolders } from "./support.ts";

/** Longer than a test takes. */
const waitMs = 600_000;
const image = { id: "ColorImageJpeg", type: "image/jpeg" };

describe("archive: what is missing of a job that has lost media of its message", () => {
  let cloud: ScriptedCloud;
  beforeEach(() => {
    cloud = new ScriptedCloud(image);
  });

  const open = (root: string) => openArchive(root, undefined, { cloud: () => cloud });

  /** Accepts a message with these pictures; its file of this name is gone at the next start, and the job ends then. */
  async function losing(root: string, pictures: readonly string[], name: string, more: Partial<Intent>) {
    cloud.have = [];
    const before = await open(root);
    await before.runner.submitMedia(intentOf("1", { waitMs, ...more }), pictures.map(mediumOf), null);
    await before.close();
    const [job = ""] = await workFolders(root);
    await rm(join((await mediaFolder(root, job)) ?? assert.fail(), name));
    const database = new DatabaseSync(databaseOf(root));
    database.exec(`UPDATE jobs SET waited_ms = ${waitMs}`);
    database.close();
    const after = await open(root);
    try {
      const [resumed = assert.fail("no job")] = after.runner.resume(() => true);
      return await ended(resumed, more.onIncomplete === "keep");
    } finally {
      await after.close();
    }
  }

  async function ended(submission: Submission, isKept: boolean): Promise<void> {
    if (isKept) {
      await submission.end();
      submission.messageSent();
    } else {
      submission.messageSent(await rejectsWith(submission.end(), "ERR_MEDIA_INCOMPLETE", "mediaIncomplete"));
    }
  }

  /** Sends a message with these pictures when the cloud has everything. */
  async function archive(root: string, pictures: readonly string[]): Promise<void> {
    cloud.have = [image];
    const opened = await open(root);
    await ended(await opened.runner.submitMedia(intentOf("1"), pictures.map(mediumOf), null), true);
    await opened.close();
  }

  async function missing(root: string): Promise<unknown[]> {
    const listed = await listMissing(root, { database: databaseOf(root), period: "1d", limit: 100 });
    return listed.map(({ reason, archiveAgain }) => [reason, archiveAgain]);
  }

  it("is nothing once its message was archived again", () =>
    withFolder(async (root) => {
      await losing(root, ["1", "2"], "item.jpg", {});
      assert.deepEqual(await missing(root), [["failed", null]]);
      await archive(root, ["1", "2"]);
      assert.deepEqual(await missing(root), []);
    }));

  it("is its message, although another one with media was archived", () =>
    withFolder(async (root) => {
      await losing(root, ["1", "2"], "item.jpg", {});
      await archive(root, ["another", "2"]);
      assert.deepEqual(await missing(root), [["failed", null]]);
    }));

  it("is its message, although another one that has lost media too was archived without them", () =>
    withFolder(async (root) => {
      await losing(root, ["1"], "item.jpg", {});
      await losing(root, ["another"], "item.jpg", { onIncomplete: "keep" });
      await archive(root, []);
      assert.deepEqual(await missing(root), [["failed", null]]);
    }));
});
