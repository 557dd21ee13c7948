import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { link, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Part } from "../../src/jobs/runner.ts";
import type { GivenMedium } from "../../src/jobs/intake.ts";
import { rejectsWith, systemError, watchedDisk, withFolder } from "../media/support.ts";
import { videoOf } from "./scripted-sources.ts";
import {
  intentOf,
  mediaFolder,
  openArchive,
  pictureOf,
  readPackages,
  sha256Of,
  until,
  workFolders,
  type Opened,
} from "./support.ts";

const forMessage = (id: string, more: Parameters<typeof intentOf>[1] = {}) =>
  intentOf(id, { origin: null, ...more });

function medium(content: GivenMedium["content"], more: Partial<GivenMedium> = {}): GivenMedium {
  return { content, contentType: null, contentId: null, description: null, filename: null, ...more };
}

describe("archive: media that messages bring", () => {
  /** A folder with the archive's root and one for other files. */
  const withArchive = (
    body: (archive: Opened, root: string, files: string) => Promise<void>,
  ): Promise<void> =>
    withFolder(async (folder) => {
      const root = join(folder, "archive");
      await mkdir(root);
      const archive = await openArchive(root, undefined);
      try {
        await body(archive, root, folder);
      } finally {
        await archive.close();
      }
    });

  it("stores Buffers, named by what the message and the bytes say", async () => {
    await withArchive(async ({ runner }, root) => {
      const picture = pictureOf("one");
      const media = [
        medium(picture, { filename: "annotated 1.jpeg", contentType: "image/jpeg" }),
        medium(Buffer.from("BM?"), { description: "depth", contentType: "image/bmp" }),
        medium(pictureOf("two"), { filename: "manifest.json" }),
        medium(pictureOf("three"), { description: "ANNOTATED 1" }),
        medium(pictureOf("four"), { description: "../a/b" }),
        medium(pictureOf("five"), { description: "hold" }),
      ];
      const { folder, manifest } = await (await runner.submitMedia(forMessage("m"), media, null)).end();
      assert.deepEqual((await readdir(folder)).sort(), [
        "ANNOTATED 1-2.jpg",
        "__a_b.jpg",
        "annotated 1.jpg",
        "depth.bmp",
        "item-hold.jpg",
        "item-manifest.jpg",
        "manifest.json",
      ]);
      assert.deepEqual(await readFile(join(folder, "annotated 1.jpg")), picture);
      assert.deepEqual(
        manifest.items.map(({ contentTypeAnnounced, contentTypeFound }) => [
          contentTypeAnnounced,
          contentTypeFound,
        ]),
        [
          ["image/jpeg", "image/jpeg"],
          ["image/bmp", null],
          [null, "image/jpeg"],
          [null, "image/jpeg"],
          [null, "image/jpeg"],
          [null, "image/jpeg"],
        ],
      );
      assert.equal(manifest.cloud, null);
      await readPackages(root);
    });
  });

  it("copies saved files, which then live on their own", async () => {
    await withArchive(async ({ runner }, root, files) => {
      const content = Buffer.alloc(5_000_000, "video");
      const path = join(files, "dock 3.mp4");
      await writeFile(path, content);
      const given = medium({ path, bytes: content.length, sha256: sha256Of(content) }, { filename: path });
      const { folder } = await (await runner.submitMedia(forMessage("m"), [given], null)).end();
      const copy = join(folder, "dock 3.bin");
      assert.notEqual((await stat(copy)).ino, (await stat(path)).ino);
      await writeFile(path, "written over in place");
      await readPackages(root);
    });
  });

  it("takes no file that is not what the message says: no message reads what it does not know", async () => {
    await withArchive(async ({ runner }, root, files) => {
      const path = join(files, "secret");
      await writeFile(path, "secret");
      await symlink(path, join(files, "link"));
      await mkdir(join(files, "folder"));
      const sha256 = sha256Of("secret");
      for (const content of [
        { path, bytes: 6, sha256: sha256Of("guess") },
        { path, bytes: 7, sha256 },
        { path: join(files, "link"), bytes: 6, sha256 },
        { path: join(files, "folder"), bytes: 6, sha256 },
        { path: join(files, "gone"), bytes: 6, sha256 },
      ]) {
        await rejectsWith(
          runner.submitMedia(forMessage("m"), [medium(content)], null),
          "ERR_INPUT",
          "inputValue",
        );
      }
      assert.deepEqual(await workFolders(root), []);
      assert.equal((await readPackages(root)).size, 0);
    });
  });

  it("knows the same media under the same id, and keeps other media under it apart", async () => {
    await withArchive(async ({ runner }, root) => {
      const submit = async (text: string) => {
        const submission = await runner.submitMedia(forMessage("m"), [medium(pictureOf(text))], null);
        const archived = await submission.end();
        submission.messageSent();
        return archived;
      };
      const first = await submit("one");
      const [second, third] = await Promise.all([submit("one"), submit("one")]);
      assert.deepEqual([first.wasThere, second.wasThere, third.wasThere], [false, true, true]);
      assert.equal(second.folder, first.folder);
      const other = await submit("other");
      assert.equal(other.wasThere, false);
      assert.equal(other.path, `${first.path} (1)`);
      assert.equal((await readPackages(root)).size, 2);
    });
  });

  const part = (index: number, count: number | null = 3, id = "s"): Part => ({ id, index, count });
  const sequence = (more: Parameters<typeof intentOf>[1] = {}) =>
    forMessage("m", { sequence: "s", waitMs: 60_000, ...more });

  it("gathers the parts of a sequence in any order; one of them speaks for all", async () => {
    await withArchive(async ({ runner }, root) => {
      const submissions = await Promise.all(
        [2, 0, 1, 0].map((index) =>
          runner.submitMedia(sequence(), [medium(pictureOf(`part ${index}`))], part(index)),
        ),
      );
      const ends = await Promise.all(submissions.map((submission) => submission.end()));
      assert.equal(new Set(ends.map(({ folder }) => folder)).size, 1);
      assert.equal(submissions.filter(({ sendsMessage }) => sendsMessage).length, 1);
      assert.equal(ends[0]?.manifest.items.length, 3);
      assert.equal((await readPackages(root)).size, 1);
    });
  });

  it("waits for a part that is late, and says what is missing when it never comes", async () => {
    await withArchive(async ({ runner }) => {
      const submit = (index: number, more = {}) =>
        runner.submitMedia(sequence(more), [medium(pictureOf(`part ${index}`))], part(index));
      const submissions = [await submit(0), await submit(1)];
      await until(() => [...runner.jobs][0]?.state === "waiting", "it waits for the third part");
      submissions.push(await submit(2));
      for (const submission of submissions) {
        assert.equal((await submission.end()).manifest.items.length, 3);
      }
      submissions[0]?.messageSent();

      const alone = await submit(0, { waitMs: 50 });
      const error = await rejectsWith(alone.end(), "ERR_MEDIA_INCOMPLETE", "partsIncomplete");
      assert.match(error.message, /2 of 3 parts/);
      alone.messageSent();
      const kept = await submit(0, { waitMs: 50, onIncomplete: "keep" });
      const { manifest } = await kept.end();
      assert.deepEqual([manifest.complete, manifest.missing], [false, ["2 of 3 parts"]]);
    });
  });

  for (const recording of ["overwritten", "other", "cancelled", "taken"] as const) {
    it(`refuses a video that its message calls another parcel's: ${recording}`, async () => {
      await withArchive(async ({ runner }, root) => {
        const start = { transactionReference: "A", at: "2026-11-02T09:00:00.000Z", by: null };
        const others = { recording: { ...start, recording } };
        // Whatever it is called.
        const video = medium(videoOf("B"), { contentType: "image/jpeg" });
        const whole = runner.submitMedia(forMessage("m", others), [medium(pictureOf("x")), video], null);
        await rejectsWith(whole, "ERR_INPUT", "inputOthersVideo");
        assert.deepEqual(await workFolders(root), []);

        const first = await runner.submitMedia(sequence(others), [medium(pictureOf("a"))], part(0, 2));
        const second = runner.submitMedia(sequence(others), [video], part(1, 2));
        await rejectsWith(second, "ERR_INPUT", "inputOthersVideo");
        const media = (await mediaFolder(root, first.running?.job.id ?? "")) ?? assert.fail();
        assert.equal((await readdir(media)).length, 1, "nothing is left of the refused part");
        await runner.submitMedia(sequence(others), [medium(pictureOf("b"))], part(1, 2));
        const { manifest } = await first.end();
        assert.deepEqual([manifest.complete, manifest.items.length], [true, 2]);
      });
    });
  }

  it("takes a video of which the message does not say that", async () => {
    await withArchive(async ({ runner }) => {
      for (const recording of ["own", "waiting", "unknown"] as const) {
        const start = { transactionReference: "A", at: "2026-11-02T09:00:00.000Z", by: null };
        const intent = forMessage(recording, { recording: { ...start, recording } });
        const { manifest } = await (
          await runner.submitMedia(intent, [medium(videoOf(recording))], null)
        ).end();
        assert.deepEqual([manifest.complete, manifest.items.length], [true, 1]);
      }
    });
  });

  it("expects certain media of a message too", async () => {
    await withArchive(async ({ runner }) => {
      const intent = forMessage("m", { expect: ["video/mp4"], waitMs: 60_000 });
      const submission = await runner.submitMedia(
        intent,
        [medium(pictureOf("x"), { contentType: "image/jpeg" })],
        null,
      );
      const error = await rejectsWith(submission.end(), "ERR_MEDIA_INCOMPLETE", "mediaIncomplete");
      assert.match(error.message, /video\/mp4/);
    });
  });

  it("has the bytes safe before a job is accepted: a restart finishes it without the message", async () => {
    await withFolder(async (root) => {
      const before = await openArchive(root, undefined);
      const first = await before.runner.submitMedia(sequence(), [medium(pictureOf("a"))], part(0, 2));
      await until(() => [...before.runner.jobs][0]?.state === "waiting", "it waits");
      await before.close();
      await rejectsWith(first.end(), "ERR_CANCELLED", "cancelledKept");

      const after = await openArchive(root, undefined);
      const [submission] = [...after.runner.resume(() => true)];
      await until(() => [...after.runner.jobs][0]?.state === "waiting", "it waits again");
      await after.runner.submitMedia(sequence(), [medium(pictureOf("b"))], part(1, 2));
      const { manifest } = await (submission ?? assert.fail()).end();
      assert.deepEqual(
        manifest.items.map(({ sha256 }) => sha256),
        ["a", "b"].map((text) => sha256Of(pictureOf(text))),
      );
      await after.close();
    });
  });

  it("puts aside what nobody can bring again when a job fails for good", async () => {
    await withArchive(async ({ runner, archive }, root) => {
      const intent = forMessage("m", { expect: ["video/mp4"] });
      const submission = await runner.submitMedia(intent, [medium(pictureOf("x"))], null);
      await rejectsWith(submission.end(), "ERR_MEDIA_INCOMPLETE", "mediaIncomplete");
      submission.messageSent();
      await until(async () => (await workFolders(root)).length === 0, "the work folder is moved");
      const kept = archive.work.asidePath(submission.running?.job.id ?? "");
      assert.deepEqual(await readFile(join(kept, "media", "item.jpg")), pictureOf("x"));
    });
  });

  it("puts that aside at the next start if the disk did not allow it before, or a kill came between", async () => {
    await withFolder(async (root) => {
      const disk = watchedDisk((call, [, target]) => {
        if (call === "rename" && String(target).includes("/aside/")) {
          throw systemError("EIO");
        }
      });
      const before = await openArchive(root, undefined, { disk });
      const intent = forMessage("m", { expect: ["video/mp4"] });
      const submission = await before.runner.submitMedia(intent, [medium(pictureOf("x"))], null);
      await rejectsWith(submission.end(), "ERR_MEDIA_INCOMPLETE", "mediaIncomplete");
      submission.messageSent();
      await before.close();
      const after = await openArchive(root, undefined);
      const kept = after.archive.work.asidePath(submission.running?.job.id ?? "");
      assert.deepEqual(after.findings.movedAside, [kept]);
      assert.deepEqual(await readFile(join(kept, "media", "item.jpg")), pictureOf("x"));
      assert.deepEqual([...after.runner.resume(() => true)], [], "its message has ended");
      await after.close();
    });
  });

  it("opens an archive in which a part has left a second folder of such a job, and keeps what is in it", async () => {
    for (const left of ["nothing", "a file"]) {
      await withFolder(async (root) => {
        const before = await openArchive(root, undefined);
        const intent = forMessage("m", { expect: ["video/mp4"] });
        const submission = await before.runner.submitMedia(intent, [medium(pictureOf("x"))], null);
        await rejectsWith(submission.end(), "ERR_MEDIA_INCOMPLETE", "mediaIncomplete");
        submission.messageSent();
        await until(async () => (await workFolders(root)).length === 0, "the work folder is moved");
        const id = submission.running?.job.id ?? "";
        await before.archive.work.make(id);
        if (left === "a file") {
          await writeFile(join(before.archive.work.of(id), "late.jpg"), pictureOf("late"));
        }
        await before.close();
        const after = await openArchive(root, undefined);
        const second = `${after.archive.work.asidePath(id)}-2`;
        assert.deepEqual(after.findings.movedAside, left === "nothing" ? [] : [second]);
        assert.deepEqual(await workFolders(root), []);
        const first = after.archive.work.asidePath(id);
        assert.deepEqual(await readFile(join(first, "media", "item.jpg")), pictureOf("x"));
        await after.close();
      });
    }
  });

  it("ends such a job by itself when the disk allows it again", async () => {
    await withFolder(async (root) => {
      let isRefused = false;
      const disk = watchedDisk((call, [, target]) => {
        if (call === "rename" && String(target).includes("/aside/") && !isRefused) {
          isRefused = true;
          throw systemError("ENOSPC");
        }
      });
      const { runner, archive, close } = await openArchive(root, undefined, { disk });
      const intent = forMessage("m", { expect: ["video/mp4"] });
      const submission = await runner.submitMedia(intent, [medium(pictureOf("x"))], null);
      await rejectsWith(submission.end(), "ERR_MEDIA_INCOMPLETE", "mediaIncomplete");
      submission.messageSent();
      await until(async () => (await workFolders(root)).length === 0, "the work folder is moved");
      const kept = archive.work.asidePath(submission.running?.job.id ?? "");
      assert.deepEqual(await readFile(join(kept, "media", "item.jpg")), pictureOf("x"));
      await close();
    });
  });

  it("tells where media are kept that it has moved aside, if the disk does not make that durable at once", async () => {
    await withFolder(async (root) => {
      let refusals = 0;
      const disk = watchedDisk((call, [path]) => {
        if (call === "open" && String(path).endsWith("/aside") && refusals === 0) {
          refusals += 1;
          throw systemError("EIO");
        }
      });
      const warned = new EventEmitter();
      const warning = once(warned, "warning");
      const { runner, archive, close } = await openArchive(root, undefined, {
        disk,
        onWarning: (event) => warned.emit("warning", event),
      });
      const intent = forMessage("m", { expect: ["video/mp4"] });
      const submission = await runner.submitMedia(intent, [medium(pictureOf("x"))], null);
      await rejectsWith(submission.end(), "ERR_MEDIA_INCOMPLETE", "mediaIncomplete");
      submission.messageSent();
      const path = archive.work.asidePath(submission.running?.job.id ?? "");
      assert.deepEqual(await warning, [{ warning: "keptAside", values: { path } }]);
      assert.equal(refusals, 1);
      await close();
    });
  });

  it("names in the error of a sequence where its parts are kept", async () => {
    await withArchive(async ({ runner }) => {
      const submission = await runner.submitMedia(
        sequence({ waitMs: 20 }),
        [medium(pictureOf("x"))],
        part(0),
      );
      const error = await rejectsWith(submission.end(), "ERR_MEDIA_INCOMPLETE", "partsIncomplete");
      submission.messageSent();
      const folder = error.values.path ?? "";
      await until(async () => (await readdir(folder).catch(() => [])).length > 0, "it is there");
      assert.deepEqual(await readFile(join(folder, "media", "item.jpg")), pictureOf("x"));
    });
  });

  it("refuses a part that comes when its package is sealed: the message keeps it", async () => {
    await withFolder(async (root) => {
      // The rename that gives the package its name waits until the late part has been answered.
      const late = Promise.withResolvers<void>();
      const sealing = Promise.withResolvers<void>();
      const disk = watchedDisk((call, [, target]) => {
        if (call === "rename" && String(target).endsWith("ORDER-1-m")) {
          sealing.resolve();
          return late.promise;
        }
        return undefined;
      });
      const archive = await openArchive(root, undefined, { disk });
      const intent = sequence({ waitMs: 20, onIncomplete: "keep" });
      const first = await archive.runner.submitMedia(intent, [medium(pictureOf("a"))], part(0));
      await sealing.promise;
      const second = archive.runner.submitMedia(intent, [medium(pictureOf("b"))], part(1));
      await rejectsWith(second, "ERR_EXPIRED", "partTooLate");
      late.resolve();
      const { manifest, folder } = await first.end();
      first.messageSent();
      await archive.close();
      assert.deepEqual(
        manifest.items.map(({ sha256 }) => sha256),
        [sha256Of(pictureOf("a"))],
      );
      assert.equal((await readdir(folder)).length, 2);
      await readPackages(root);
      assert.deepEqual(await workFolders(root), []);
    });
  });

  it("works on many messages at once without a warning of leaking listeners", async () => {
    const warnings: string[] = [];
    const onWarning = ({ name }: Error): void => void warnings.push(name);
    process.on("warning", onWarning);
    try {
      await withArchive(async ({ runner }) => {
        const ids = Array.from({ length: 30 }, (_, index) => `many-${index}`);
        await Promise.all(
          ids.map(async (id) => {
            await (await runner.submitMedia(forMessage(id), [medium(pictureOf(id))], null)).end();
          }),
        );
      });
      // Node.js warns with the next turn of the loop.
      await new Promise((resolve) => setImmediate(resolve));
    } finally {
      process.off("warning", onWarning);
    }
    assert.deepEqual(warnings, []);
  });

  it("copies a file that has a second name like any other", async () => {
    await withArchive(async ({ runner }, root, files) => {
      const content = pictureOf("linked");
      await writeFile(join(files, "a.jpg"), content);
      await link(join(files, "a.jpg"), join(files, "b.jpg"));
      const given = medium({ path: join(files, "b.jpg"), bytes: content.length, sha256: sha256Of(content) });
      await (await runner.submitMedia(forMessage("m"), [given], null)).end();
      assert.equal((await readPackages(root)).size, 1);
    });
  });
});
