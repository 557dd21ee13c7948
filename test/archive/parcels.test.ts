import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { Archives } from "../../src/jobs/archive.ts";
import type { Archived } from "../../src/jobs/seal.ts";
import type { Intent } from "../../src/vault/packages/intent.ts";
import { DimensionerError } from "../../src/errors/dimensioner-error.ts";
import { Inbox } from "../../src/database/inbox.ts";
import { rejectsWith, withFolder } from "../media/support.ts";
import { measured, received } from "./find/support.ts";
import { verify } from "./packages.ts";
import { storeIn } from "./store.ts";
import { intentOf, openArchive, pictureOf, readPackages, sha256Of, until, type Opened } from "./support.ts";
import { ScriptedCloud, ScriptedDevice, videoOf } from "./scripted-sources.ts";

const image = { id: "ColorImageJpeg", type: "image/jpeg" };
const video = { id: "ColorVideoMp4", type: "video/mp4" };
const at = "2026-11-02T09:00:00.000Z";
const raw = '{"errorCode":0}';

const recordingOf = (recording: NonNullable<Intent["recording"]>["recording"]): Partial<Intent> => ({
  recording: { transactionReference: "ORDER-1", at, recording, by: null },
});

/** A measurement that a device on the local network has made. */
const localOf = (more: Partial<Intent> = {}): Intent => ({
  ...intentOf("", {
    origin: null,
    raw,
    measurement: "{}\n",
    sought: { ...measured("i-1", 0).local, sentAt: new Date().toISOString() },
    measuredBy: {
      id: "dock",
      name: "Dock 4",
      imageIdentifier: "i-1",
      images: ["annotated", "color"],
      videoAt: null,
    },
    ...more,
  }),
  transactionId: null,
});

const namesOf = ({ manifest }: Pick<Archived, "manifest">): string[] =>
  manifest.items.map(({ source, path }) => `${source} ${path}`).sort();

describe("archive: one parcel, one package", () => {
  async function archiving(
    { cloud, device }: { cloud?: ScriptedCloud; device?: ScriptedDevice },
    body: (opened: Opened, root: string, arrive: (transactionId: string) => Promise<void>) => Promise<void>,
  ): Promise<void> {
    await withFolder(async (root) => {
      const store = storeIn(root);
      const opened = await openArchive(root, undefined, {
        archives: new Archives({ settleMs: 20 }),
        store,
        cloud: () => cloud ?? assert.fail("no cloud"),
        device: () => device ?? assert.fail("no device"),
      });
      const { database, arrivals, release } = await store.connect();
      const inbox = new Inbox(database, { nodeId: "records", runId: "run", arrivals });
      try {
        await body(opened, root, async (id) => void (await inbox.add(received(id, 0).record, 0)));
      } finally {
        await release();
        await opened.close();
      }
      await readPackages(root);
    });
  }

  const archive = async ({ runner }: Opened, intent: Intent): Promise<Archived> => {
    const submission = await runner.submit(intent);
    const archived = await submission.end();
    submission.messageSent();
    return archived;
  };

  describe("what makes it complete", () => {
    it("is all that the cloud has, once its list has not grown for the time to settle", async () => {
      const cloud = new ScriptedCloud(image);
      await archiving({ cloud }, async (opened) => {
        const submission = await opened.runner.submit(intentOf("1", { settleMs: 1_000, waitMs: 600_000 }));
        await until(() => cloud.asked.length === 1, "the image is stored");
        cloud.have = [image, video];
        const { manifest } = await submission.end();
        assert.equal(manifest.complete, true);
        assert.deepEqual(cloud.asked, [image.id, video.id]);
        assert.equal(manifest.expected?.media, "all");
      });
    });

    for (const recording of ["own", "unknown"] as const) {
      it(`waits for the video that was started for the parcel (${recording}), however long the list is quiet`, async () => {
        const cloud = new ScriptedCloud(image);
        await archiving({ cloud }, async (opened) => {
          const intent = intentOf("1", { waitMs: 600_000, ...recordingOf(recording) });
          const submission = await opened.runner.submit(intent);
          await until(() => cloud.lists > 3, "it goes on asking");
          cloud.have = [image, video];
          const { manifest } = await submission.end();
          assert.deepEqual([manifest.complete, manifest.items.length], [true, 2]);
        });
      });
    }

    it("is never said without the video that was started: the error names it", async () => {
      await archiving({ cloud: new ScriptedCloud(image) }, async (opened) => {
        const { runner } = opened;
        const wanted = { waitMs: 60, ...recordingOf("own") };
        const submission = await runner.submit(intentOf("1", wanted));
        const error = await rejectsWith(submission.end(), "ERR_MEDIA_INCOMPLETE", "mediaIncomplete");
        assert.match(error.message, /missing: the video that was started for this parcel/);
        submission.messageSent(error);
        const kept = await archive(opened, intentOf("2", { ...wanted, onIncomplete: "keep" }));
        assert.equal(kept.complete, false);
        assert.deepEqual(kept.manifest.missing, ["the video that was started for this parcel"]);
      });
    });

    it("is the images alone where the rule says so: a video is neither fetched nor waited for", async () => {
      const cloud = new ScriptedCloud(video, image);
      await archiving({ cloud }, async (opened) => {
        const intent = intentOf("1", { media: "pictures", waitMs: 600_000, ...recordingOf("own") });
        assert.deepEqual(namesOf(await archive(opened, intent)), ["cloud ColorImageJpeg.jpg"]);
        assert.deepEqual(cloud.asked, [image.id]);
      });
    });

    it("asks the cloud nothing where nothing of it is wanted, or none is chosen", async () => {
      const cloud = new ScriptedCloud(image);
      await archiving({ cloud }, async (opened) => {
        const video = { origin: null, waitMs: 600_000, ...recordingOf("own") };
        for (const [more, isComplete] of [
          [{ media: "none" }, true],
          [{ origin: null }, true],
          [{ ...video, media: "none" }, true],
          [video, false],
        ] as const) {
          const { manifest, complete } = await archive(
            opened,
            intentOf("1", { measurement: "{}\n", ...more }),
          );
          assert.deepEqual([complete, manifest.items], [isComplete, []]);
        }
        assert.equal(cloud.lists, 0);
      });
    });

    it("is the images of the device too: what it does not have is missing, by name", async () => {
      await archiving({ device: new ScriptedDevice("color") }, async (opened) => {
        const submission = await opened.runner.submit(localOf({ waitMs: 60 }));
        const error = await rejectsWith(submission.end(), "ERR_MEDIA_INCOMPLETE", "mediaIncomplete");
        assert.match(error.message, /missing: the device's annotated image\./);
        submission.messageSent(error);
      });
    });
  });

  describe("a video of another parcel", () => {
    for (const reason of ["overwritten", "other", "cancelled", "taken", "waiting"] as const) {
      it(`is never in the package, nor waited for, and the manifest says why (${reason})`, async () => {
        const disguised = { id: "DepthImage", type: "image/jpeg", bytes: videoOf("another parcel") };
        const cloud = new ScriptedCloud(image, video, disguised);
        await archiving({ cloud }, async (opened) => {
          const { manifest } = await archive(
            opened,
            intentOf("1", { waitMs: 600_000, ...recordingOf(reason) }),
          );
          assert.equal(manifest.complete, true);
          assert.deepEqual(
            manifest.items.map(({ contentId }) => contentId),
            [image.id],
          );
          assert.deepEqual(
            manifest.leftOut?.map(({ contentId, reason: why }) => [contentId, why]),
            [
              [video.id, reason],
              [disguised.id, reason],
            ],
          );
          assert.equal(manifest.recording?.recording, reason);
        });
      });
    }
  });

  describe("a local measurement", () => {
    it("becomes one package of the device's images and, once its transaction is found, the cloud's media", async () => {
      const device = new ScriptedDevice("annotated", "color");
      const cloud = new ScriptedCloud(image, video);
      await archiving({ device, cloud }, async (opened, _root, arrive) => {
        const intent = localOf({ origin: "https://cloud.example", waitMs: 600_000, ...recordingOf("own") });
        const submission = await opened.runner.submit(intent);
        await until(() => submission.running?.job.items.size === 2, "the device's images are stored at once");
        assert.equal(cloud.lists, 0);
        await arrive("905865");
        const archived = await submission.end();
        submission.messageSent();
        assert.deepEqual(namesOf(archived), [
          "cloud ColorImageJpeg.jpg",
          "cloud ColorVideoMp4.mp4",
          "device annotated.jpg",
          "device color.jpg",
        ]);
        const { manifest } = archived;
        assert.deepEqual(
          [manifest.complete, manifest.transactionId, manifest.measuredBy?.imageIdentifier],
          [true, "905865", "i-1"],
        );
        assert.equal((await archive(opened, intent)).wasThere, true, "the same measurement once more");
        const ofRecord = intentOf("905865", { measurement: '{"source":"webhook"}\n' });
        assert.equal((await archive(opened, ofRecord)).wasThere, true, "the webhook's record of it");
        assert.equal(cloud.asked.length, 2, "nothing was fetched twice");
      });
    });

    it("has one file of what the device and the cloud give alike, and both sources in its manifest", async () => {
      const device = new ScriptedDevice("annotated", "color");
      const same = { ...image, bytes: pictureOf("color of i-1") };
      const cloud = new ScriptedCloud(same, { ...same, id: "Another" }, video);
      await archiving({ device, cloud }, async (opened, root) => {
        const intent = { ...localOf({ origin: "https://cloud.example" }), transactionId: "905865" };
        const archived = await archive(opened, intent);
        assert.deepEqual(namesOf(archived), [
          "cloud Another.jpg",
          "cloud ColorVideoMp4.mp4",
          "cloud color.jpg",
          "device annotated.jpg",
          "device color.jpg",
        ]);
        assert.equal(archived.complete, true);
        const names = await readdir(archived.folder);
        assert.deepEqual(names.filter((name) => name.endsWith(".jpg")).sort(), [
          "Another.jpg",
          "annotated.jpg",
          "color.jpg",
        ]);
        assert.equal((await archive(opened, intent)).wasThere, true);
        const { said, report } = await verify(root);
        assert.deepEqual([said, report.files], [[], names.length - 1]);
      });
    });

    it("keeps what was found over a restart", async () => {
      await withFolder(async (root) => {
        const store = storeIn(root);
        const cloud = new ScriptedCloud();
        const more = {
          archives: new Archives({ settleMs: 20 }),
          store,
          cloud: () => cloud,
          device: () => new ScriptedDevice("annotated", "color"),
        };
        const intent = localOf({ origin: "https://cloud.example", waitMs: 60_000 });
        const { database, arrivals, release } = await store.connect();
        const inbox = new Inbox(database, { nodeId: "records", runId: "run", arrivals });
        const first = await openArchive(root, undefined, more);
        const begun = await first.runner.submit(intent);
        begun.end().catch(() => undefined);
        await inbox.add(received("905865", 0).record, 0);
        await until(() => cloud.lists > 0, "its media are asked for");
        await first.close();
        await database.transaction([{ sql: "DELETE FROM records" }, { sql: "DELETE FROM measurements" }]);
        cloud.have = [image];
        const second = await openArchive(root, undefined, more);
        const [resumed] = [...second.runner.resume(() => true)];
        assert.equal((await resumed?.end())?.manifest.transactionId, "905865");
        resumed?.messageSent();
        await second.close();
        await release();
      });
    });

    it("says what is missing where its transaction is not found, and keeps what there is", async () => {
      const device = new ScriptedDevice("annotated", "color");
      await archiving({ device, cloud: new ScriptedCloud() }, async (opened) => {
        const intent = localOf({ origin: "https://cloud.example", waitMs: 60, onIncomplete: "keep" });
        const archived = await archive(opened, intent);
        assert.match(archived.manifest.missing.join(), /no record of this measurement has arrived/);
        assert.deepEqual([archived.complete, archived.manifest.transactionId], [false, null]);
      });
    });

    it("does without the device for as long as it is off: what the cloud has is stored meanwhile", async () => {
      const device = new ScriptedDevice("annotated", "color");
      device.failure = new DimensionerError("connectionLost", {
        surface: "newer-device",
        operation: "image",
      });
      const cloud = new ScriptedCloud(image);
      await archiving({ device, cloud }, async (opened) => {
        const intent = { ...localOf({ origin: "https://cloud.example" }), transactionId: "1" };
        const submission = await opened.runner.submit(intent);
        await until(
          () => cloud.asked.length === 1 && submission.running?.trouble !== undefined,
          "it is held up",
        );
        device.failure = undefined;
        assert.equal((await submission.end()).manifest.items.length, 3);
        submission.messageSent();
      });
    });
  });

  describe("a device that fails at one picture", () => {
    const facts = { surface: "newer-device", operation: "image" } as const;

    it("gives the others meanwhile, before it deletes them", async () => {
      const device = new ScriptedDevice("annotated", "color");
      device.failure = new DimensionerError("responseBroken", facts);
      device.failing = "annotated";
      await archiving({ device }, async (opened) => {
        const submission = await opened.runner.submit(localOf({ origin: null }));
        await until(() => submission.running?.job.items.size === 1, "the other picture is stored");
        device.failure = undefined;
        assert.deepEqual(namesOf(await submission.end()), ["device annotated.jpg", "device color.jpg"]);
        submission.messageSent();
      });
    });

    it("has refused it: that picture counts as missing, and the package has the others", async () => {
      const device = new ScriptedDevice("annotated", "color");
      device.failure = new DimensionerError("http", { ...facts, statusCode: 400 });
      device.failing = "annotated";
      await archiving({ device }, async (opened) => {
        const archived = await archive(opened, localOf({ origin: null, onIncomplete: "keep", waitMs: 60 }));
        assert.deepEqual(namesOf(archived), ["device color.jpg"]);
        assert.deepEqual(
          [archived.complete, archived.manifest.missing],
          [false, ["the device's annotated image"]],
        );
      });
    });
  });

  describe("a recording that a stop has ended", () => {
    const filmOf = (more: Partial<Intent> = {}): Intent => ({
      ...localOf({ raw: null, measurement: null, sought: null, ...recordingOf("own"), ...more }),
      measuredBy: {
        id: "dock",
        name: "Dock 4",
        imageIdentifier: null,
        images: [],
        videoAt: at,
      },
    });

    it("is in the package as the device keeps it, and archived once", async () => {
      const device = new ScriptedDevice();
      await archiving({ device }, async (opened) => {
        const submission = await opened.runner.submit(filmOf({ waitMs: 600_000 }));
        await until(() => submission.running?.state === "waiting", "it is being encoded");
        device.keeps = "ORDER-1";
        const archived = await submission.end();
        submission.messageSent();
        assert.deepEqual([archived.complete, namesOf(archived)], [true, ["device video.mp4"]]);
        assert.equal((await archive(opened, filmOf())).wasThere, true);
        const other = filmOf();
        const measuredBy = {
          id: "dock",
          name: "Dock 4",
          imageIdentifier: null,
          images: [],
          videoAt: "later",
        };
        assert.equal((await archive(opened, { ...other, measuredBy, waitMs: 60 })).wasThere, false);
      });
    });

    for (const [when, replace] of [
      ["before it is fetched", (device: ScriptedDevice) => void (device.keeps = "ORDER-2")],
      [
        "while it is fetched",
        (device: ScriptedDevice) => {
          device.keeps = "ORDER-1";
          device.onVideo = () => void (device.keeps = "ORDER-2");
        },
      ],
      [
        "before its broken transfer begins again",
        (device: ScriptedDevice) => {
          device.keeps = "ORDER-1";
          device.onVideoAgain = () => void (device.keeps = "ORDER-2");
        },
      ],
    ] as const) {
      it(`is missing where another start has replaced it ${when}: no other film takes its place`, async () => {
        const device = new ScriptedDevice();
        replace(device);
        await archiving({ device }, async (opened) => {
          const submission = await opened.runner.submit(filmOf({ waitMs: 60 }));
          const error = await rejectsWith(submission.end(), "ERR_MEDIA_INCOMPLETE", "mediaIncomplete");
          assert.match(error.message, /missing: the video saved on the device/);
          submission.messageSent(error);
        });
      });
    }
  });

  describe("sent again with more expected than its package holds", () => {
    it("becomes a supplement that names the first and holds what is new; then all of it is there", async () => {
      const cloud = new ScriptedCloud(image, video);
      await archiving({ cloud }, async (opened, root) => {
        const first = await archive(opened, intentOf("1", { media: "pictures", raw }));
        const all = intentOf("1", { waitMs: 600_000, raw, ...recordingOf("own") });
        const second = await archive(opened, all);
        assert.equal(second.wasThere, false);
        assert.deepEqual(namesOf(second), ["cloud ColorVideoMp4.mp4"]);
        assert.deepEqual(second.manifest.supplements, {
          path: `${first.path}/manifest.json`,
          sha256: first.sha256,
        });
        assert.deepEqual([second.complete, second.manifest.raw], [true, null]);
        const third = await archive(opened, all);
        assert.deepEqual([third.wasThere, third.complete, third.path], [true, true, first.path]);
        assert.equal(third.packages.length, 2, "with the supplement");
        assert.deepEqual(cloud.asked, [image.id, video.id], "nothing was fetched twice");
        assert.equal((await readPackages(root)).size, 2);
      });
    });

    it("waits for what is missing, and is never already archived without it", async () => {
      const cloud = new ScriptedCloud(image);
      await archiving({ cloud }, async (opened) => {
        await archive(opened, intentOf("1"));
        const submission = await opened.runner.submit(intentOf("1", { expect: ["video/mp4"], waitMs: 60 }));
        const error = await rejectsWith(submission.end(), "ERR_MEDIA_INCOMPLETE", "mediaIncomplete");
        assert.match(error.message, /video\/mp4/);
        submission.messageSent(error);
      });
    });

    it("brings the exact answer that the first did not have, without a warning", async () => {
      const cloud = new ScriptedCloud(image);
      await archiving({ cloud }, async (opened) => {
        const first = await archive(opened, intentOf("1", { measurement: '{"source":"webhook"}\n' }));
        const second = await archive(opened, intentOf("1", { raw, measurement: "{}\n" }));
        assert.equal(second.manifest.supplements?.sha256, first.sha256);
        assert.equal(second.manifest.raw?.sha256, sha256Of(raw));
        assert.deepEqual(second.manifest.items, []);
      });
    });

    it("is a second job while the first one, which wants less, is at work", async () => {
      const cloud = new ScriptedCloud();
      await archiving({ cloud }, async ({ runner }, root) => {
        const submissions = await Promise.all([
          runner.submit(intentOf("1", { media: "pictures", waitMs: 600_000 })),
          runner.submit(intentOf("1", { waitMs: 600_000, ...recordingOf("own") })),
        ]);
        cloud.have = [image, video];
        const ends = await Promise.all(submissions.map((submission) => submission.end()));
        submissions.forEach((submission) => submission.messageSent());
        assert.deepEqual(
          ends.map(({ complete }) => complete),
          [true, true],
        );
        const items = [...(await readPackages(root)).values()].flatMap((manifest) => manifest.items);
        assert.deepEqual(
          items.map(({ sha256 }) => sha256).sort(),
          [sha256Of(pictureOf(image.id)), sha256Of(videoOf(video.id))].sort(),
          "each medium once",
        );
      });
    });
  });
});
