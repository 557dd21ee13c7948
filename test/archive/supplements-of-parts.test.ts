import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Submission } from "../../src/jobs/runner.ts";
import type { Archived } from "../../src/jobs/seal.ts";
import { withFolder } from "../media/support.ts";
import { verify } from "./packages.ts";
import { ScriptedCloud } from "./scripted-sources.ts";
import { databaseOf } from "./store.ts";
import {
  intentOf,
  mediaFolder,
  mediumOf,
  openArchive,
  pictureOf,
  workFolders,
  type Opened,
} from "./support.ts";

const image = { id: "ColorImageJpeg", type: "image/jpeg" };
const depth = { id: "DepthImageJpeg", type: "image/jpeg" };
const bare = intentOf("1");
const kept = intentOf("1", { onIncomplete: "keep" });

async function endOf(submission: Submission): Promise<Archived> {
  const archived = await submission.end();
  submission.messageSent();
  return archived;
}

const archive = async ({ runner }: Opened): Promise<Archived> => await endOf(await runner.submit(bare));

/** Sends parts of a sequence, with a picture each: the first one, which waits for no other, or all. */
async function sendParts({ runner }: Opened, texts: string, count: number | null): Promise<Archived> {
  const waitMs = texts.length === count ? 600_000 : 0;
  const sequence = { ...kept, sequence: texts, waitMs };
  const submissions: Submission[] = [];
  for (const [index, text] of [...texts].entries()) {
    const part = { id: texts, index, count };
    submissions.push(await runner.submitMedia(sequence, [mediumOf(text)], part));
  }
  const ends = await Promise.all(submissions.map(endOf));
  return ends.at(-1) ?? assert.fail();
}

type Body = (opened: Opened, cloud: ScriptedCloud, root: string) => Promise<void>;

async function archiving(body: Body): Promise<void> {
  await withFolder(async (root) => {
    const cloud = new ScriptedCloud(image);
    const opened = await openArchive(root, undefined, { cloud: () => cloud });
    try {
      await body(opened, cloud, root);
    } finally {
      await opened.close();
    }
  });
}

describe("archive: supplements of a package that lacks media of messages", () => {
  for (const [count, missing, parts] of [
    [3, "2 of 3 parts", 3],
    [null, "the last part", 2],
  ] as const) {
    it(`do not bring them, and the whole sequence does: ${missing}`, () =>
      archiving(async (opened, cloud, root) => {
        const first = await sendParts(opened, "a", count);
        assert.deepEqual(first.manifest.missing, [missing]);
        const again = await archive(opened);
        assert.deepEqual([again.wasThere, again.complete], [true, false], "nothing new");
        cloud.have = [image, depth];
        for (const { complete, manifest } of [await archive(opened), await sendParts(opened, "x", 1)]) {
          assert.deepEqual(
            [complete, manifest.missing, manifest.expected?.parts],
            [false, ["media that may still arrive"], parts],
          );
        }
        const { said } = await verify(root);
        assert.deepEqual([said.length > 0, said.every((one) => one.startsWith("incomplete "))], [true, true]);
        const whole = await sendParts(opened, "abc", 3);
        assert.deepEqual([whole.complete, whole.manifest.expected?.parts], [true, undefined]);
        assert.equal((await verify(root)).report.verdict, "ok");
        assert.equal((await archive(opened)).complete, true);
      }));
  }

  it("do not bring the medium of a message that the disk has lost", () =>
    withFolder(async (root) => {
      const cloud = new ScriptedCloud();
      const options = { cloud: () => cloud };
      const before = await openArchive(root, undefined, options);
      await before.runner.submitMedia({ ...kept, waitMs: 600_000 }, [mediumOf("a")], null);
      await before.close();
      const database = new DatabaseSync(databaseOf(root));
      database.exec("UPDATE jobs SET waited_ms = 600000");
      database.close();
      const [job = ""] = await workFolders(root);
      const folder = (await mediaFolder(root, job)) ?? assert.fail();
      await writeFile(join(folder, "item.jpg"), pictureOf("forged"));
      cloud.have = [image];
      const after = await openArchive(root, undefined, options);
      const [resumed = assert.fail()] = after.runner.resume(() => true);
      const first = await endOf(resumed);
      assert.deepEqual(first.manifest.missing, ["item.jpg"]);
      assert.equal((await archive(after)).complete, false);
      assert.equal((await endOf(await after.runner.submitMedia(kept, [mediumOf("a")], null))).complete, true);
      assert.equal((await archive(after)).complete, true);
      await after.close();
    }));
});
