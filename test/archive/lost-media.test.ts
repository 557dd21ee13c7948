import assert from "node:assert/strict";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Archived } from "../../src/jobs/seal.ts";
import { rejectsWith, watchedDisk, withFolder } from "../media/support.ts";
import { ScriptedCloud } from "./scripted-sources.ts";
import { databaseOf } from "./store.ts";
import {
  intentOf,
  mediaFolder,
  mediumOf,
  openArchive,
  pictureOf,
  readPackages,
  sha256Of,
  until,
  workFolders,
  type Opened,
} from "./support.ts";

const file = "item.jpg";
/** Longer than a test takes. */
const waitMs = 600_000;

async function pathOfMedium(root: string, name = file): Promise<string> {
  const [job = ""] = await workFolders(root);
  return join((await mediaFolder(root, job)) ?? assert.fail(), name);
}

/** Lets a job of a closed archive have waited as long as it may. */
function endWait(root: string): void {
  const database = new DatabaseSync(databaseOf(root));
  database.exec(`UPDATE jobs SET waited_ms = ${waitMs}`);
  database.close();
}

function resume({ runner }: Opened) {
  const [submission] = runner.resume(() => true);
  return submission ?? assert.fail("no job");
}

describe("archive: media of messages that are not what they were after a restart", () => {
  const part = (index: number) => ({ id: "s", index, count: 2 });
  const sequence = intentOf("m", { origin: null, sequence: "s", waitMs });

  /** Asserts that a package is complete, with the pictures of both parts. */
  function assertPictures({ manifest }: Archived): void {
    assert.deepEqual([manifest.complete, manifest.missing], [true, []]);
    assert.deepEqual(
      manifest.items.map(({ sha256 }) => sha256).toSorted(),
      ["a", "b"].map((text) => sha256Of(pictureOf(text))).toSorted(),
    );
  }

  it("are named when the wait is over", async () => {
    await withFolder(async (root) => {
      const before = await openArchive(root, undefined);
      await before.runner.submitMedia(sequence, [mediumOf("a")], part(0));
      await before.close();
      await writeFile(await pathOfMedium(root), pictureOf("forged"));
      endWait(root);
      const after = await openArchive(root, undefined);
      const error = await rejectsWith(resume(after).end(), "ERR_MEDIA_INCOMPLETE", "partsIncomplete");
      assert.ok(error.message.includes(file), error.message);
      await after.close();
    });
  });

  it("are taken when their part is sent again before they were looked at", async () => {
    await withFolder(async (root) => {
      const before = await openArchive(root, undefined);
      await before.runner.submitMedia(sequence, [mediumOf("a")], part(0));
      await before.close();
      const path = await pathOfMedium(root);
      await writeFile(path, pictureOf("forged"));
      const [looking, sent] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const disk = watchedDisk(async (call, [opened]) => {
        if (call === "open" && opened === path) {
          looking.resolve();
          await sent.promise;
        }
      });
      const after = await openArchive(root, undefined, { disk });
      const resumed = resume(after);
      await looking.promise;
      const again = after.runner.submitMedia(sequence, [mediumOf("a")], part(0));
      await Promise.race([again, new Promise((resolve) => setImmediate(resolve))]);
      sent.resolve();
      await again;
      await after.runner.submitMedia(sequence, [mediumOf("b")], part(1));
      const { running } = resumed;
      await until(() => running?.hasEnded === true || running?.state === "waiting", "it waits or ends");
      assert.equal(running?.hasEnded, true, "it waits");
      assertPictures(await resumed.end());
      await after.close();
    });
  });

  it("are sent in one message when a part of a package that is there is sent again", async () => {
    await withFolder(async (root) => {
      const before = await openArchive(root, undefined);
      for (const [index, text] of ["a", "b"].entries()) {
        const submission = await before.runner.submitMedia(sequence, [mediumOf(text)], part(index));
        await (index === 1 ? submission.end() : undefined);
      }
      await before.close();
      const [looking, sent] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      let isOpen = false;
      const disk = watchedDisk(async (call, [opened]) => {
        if (isOpen && call === "open" && String(opened).endsWith("manifest.json")) {
          looking.resolve();
          await sent.promise;
        }
      });
      const after = await openArchive(root, undefined, { disk });
      isOpen = true;
      const carrying: boolean[] = [];
      const resumed = resume(after);
      const first = resumed.end().then(() => carrying.push(resumed.sendsMessage));
      await looking.promise;
      const again = after.runner.submitMedia(sequence, [mediumOf("a")], part(0));
      await Promise.race([again, new Promise((resolve) => setImmediate(resolve))]);
      sent.resolve();
      const repeated = await again;
      await Promise.all([first, repeated.end().then(() => carrying.push(repeated.sendsMessage))]);
      assert.deepEqual(carrying.toSorted(), [false, true]);
      await after.close();
    });
  });

  it("are taken when their part is sent again", async () => {
    await withFolder(async (root) => {
      const before = await openArchive(root, undefined);
      await before.runner.submitMedia(sequence, [mediumOf("a")], part(0));
      await before.close();
      await writeFile(await pathOfMedium(root), pictureOf("forged"));
      const after = await openArchive(root, undefined);
      const resumed = resume(after);
      await until(() => resumed.running?.state === "waiting", "it waits");
      for (const [index, text] of ["a", "b"].entries()) {
        await after.runner.submitMedia(sequence, [mediumOf(text)], part(index));
      }
      assertPictures(await resumed.end());
      await after.close();
    });
  });

  it("are described as the part says that was sent again", async () => {
    await withFolder(async (root) => {
      const before = await openArchive(root, undefined);
      await before.runner.submitMedia(sequence, [{ ...mediumOf("a"), description: "front" }], part(0));
      await before.close();
      await writeFile(await pathOfMedium(root, "front.jpg"), pictureOf("forged"));
      const after = await openArchive(root, undefined);
      const resumed = resume(after);
      const content = Buffer.from("hello");
      const other = {
        content,
        contentType: "text/plain",
        contentId: "id",
        description: "back",
        filename: null,
      };
      await after.runner.submitMedia(sequence, [other], part(0));
      await after.runner.submitMedia(sequence, [mediumOf("b")], part(1));
      const { manifest } = await resumed.end();
      assert.deepEqual(
        manifest.items.find(({ path }) => path === "back.txt"),
        {
          path: "back.txt",
          source: "message",
          contentId: "id",
          description: "back",
          contentTypeAnnounced: "text/plain",
          contentTypeFound: null,
          recognized: false,
          bytes: content.length,
          sha256: sha256Of(content),
          url: null,
        },
      );
      await after.close();
    });
  });

  for (const [what, change] of [
    ["changed", (path: string) => writeFile(path, pictureOf("forged"))],
    ["deleted", (path: string) => rm(path)],
  ] as const) {
    it(`are missing after a second restart too (${what})`, async () => {
      await withFolder(async (root) => {
        const cloud = new ScriptedCloud();
        const open = () => openArchive(root, undefined, { cloud: () => cloud });
        const before = await open();
        const intent = intentOf("m", { waitMs, onIncomplete: "keep" });
        await before.runner.submitMedia(intent, [mediumOf("a")], null);
        await before.close();
        await change(await pathOfMedium(root));

        const second = await open();
        const resumed = resume(second);
        await until(() => resumed.running?.state === "waiting", "it waits for the cloud");
        await second.close();

        endWait(root);
        cloud.have = [{ id: "image", type: "image/jpeg" }];
        const third = await open();
        const { manifest } = await resume(third).end();
        assert.deepEqual([manifest.complete, manifest.missing], [false, [file]]);
        assert.deepEqual(
          manifest.items.map(({ sha256 }) => sha256),
          [sha256Of(pictureOf("image"))],
        );
        await third.close();
        await readPackages(root);
      });
    });
  }
});
