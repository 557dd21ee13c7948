import assert from "node:assert/strict";
import type { Submission } from "../../src/jobs/runner.ts";
import type { Archived } from "../../src/jobs/seal.ts";
import type { Intent } from "../../src/vault/packages/intent.ts";
import { withFolder } from "../media/support.ts";
import { verify } from "./packages.ts";
import { ScriptedCloud, ScriptedDevice, videoOf } from "./scripted-sources.ts";
import { type Opened, intentOf, openArchive, readPackages, until } from "./support.ts";

const image = { id: "ColorImageJpeg", type: "image/jpeg" };
const depth = { id: "DepthImageJpeg", type: "image/jpeg" };
const video = { id: "ColorVideoMp4", type: "video/mp4" };
const disguised = { id: "AnnotatedImageJpeg", type: "image/jpeg", bytes: videoOf("another parcel") };
const annotatedIsMissing = ["the device's annotated image"];

const recordingOf = (recording: NonNullable<Intent["recording"]>["recording"]): Partial<Intent> => ({
  recording: { transactionReference: "ORDER-1", at: "2026-11-02T09:00:00.000Z", recording, by: null },
});

/** What the flow behind a measure asks for, with these images of the device. */
function measured(images: NonNullable<Intent["measuredBy"]>["images"], more: Partial<Intent> = {}): Intent {
  const measuredBy = { id: "dock", name: "Dock 4", imageIdentifier: "i-1", images, videoAt: null };
  return intentOf("1", { raw: '{"errorCode":0}', measuredBy, onIncomplete: "keep", ...more });
}

/** The same transaction without what its measurement has said. */
function bare(more: Partial<Intent> = {}): Intent {
  return intentOf("1", { waitMs: 600_000, ...more });
}

async function archive({ runner }: Opened, intent: Intent): Promise<Archived> {
  const submission = await runner.submit(intent);
  const archived = await submission.end();
  submission.messageSent();
  return archived;
}

/** As if nothing had come for as long as the job waits for more. */
function settle({ running }: Submission): void {
  assert.ok(running !== undefined);
  running.seen.quietMs = running.job.intent.settleMs;
  running.wake();
}

interface Sources {
  readonly cloud: ScriptedCloud;
  readonly device: ScriptedDevice;
}

type Body = (opened: Opened, sources: Sources, root: string) => Promise<void>;

async function archiving(body: Body): Promise<void> {
  await withFolder((root) => archivingIn(root, body));
}

async function archivingIn(root: string, body: Body): Promise<void> {
  const cloud = new ScriptedCloud(image);
  const device = new ScriptedDevice();
  const opened = await openArchive(root, undefined, { cloud: () => cloud, device: () => device });
  try {
    await body(opened, { cloud, device }, root);
  } finally {
    await opened.close();
  }
}

describe("archive: supplements and what their package was to hold", () => {
  it("are complete when together they hold all of it, and not before", async () => {
    await archiving(async (opened, { cloud, device }, root) => {
      const intent = measured(["annotated"], recordingOf("own"));
      const first = await archive(opened, intent);
      assert.deepEqual(first.manifest.missing, [
        ...annotatedIsMissing,
        "the video that was started for this parcel",
      ]);
      cloud.have = [image, video];
      const second = await archive(opened, bare());
      assert.deepEqual([second.complete, second.manifest.missing], [false, annotatedIsMissing]);
      assert.deepEqual(
        [second.manifest.expected?.images, second.manifest.expected?.video],
        [["annotated"], true],
      );
      assert.deepEqual((await verify(root)).said.toSorted(), [
        `incomplete ${first.path}`,
        `incomplete ${second.path}`,
      ]);
      const again = await archive(opened, bare());
      assert.deepEqual([again.wasThere, again.complete], [true, false], "nothing new, and not complete");
      device.pictures = ["annotated"];
      const third = await archive(opened, intent);
      assert.deepEqual([third.complete, third.manifest.items.length], [true, 1]);
      const { report, said } = await verify(root);
      assert.deepEqual([report.verdict, said], ["ok", []]);
      assert.equal((await archive(opened, bare())).complete, true);
    });
  });

  it("are not called complete when everything is there that their own message asks for", async () => {
    await archiving(async (opened, { cloud }) => {
      cloud.have = [image, video];
      await archive(opened, measured(["annotated"], { media: "list", expect: ["video/mp4"] }));
      const { wasThere, complete } = await archive(opened, bare({ media: "list", expect: ["video/mp4"] }));
      assert.deepEqual([wasThere, complete], [true, false]);
    });
  });

  it("are not completed by an earlier one, which was made when less was asked for", async () => {
    await archiving(async (opened, { cloud, device }, root) => {
      await archive(opened, measured([], recordingOf("own")));
      cloud.have = [image, video];
      assert.equal((await archive(opened, bare())).complete, true);
      cloud.have = [image, video, depth];
      const last = await archive(opened, measured(["annotated"], recordingOf("own")));
      assert.equal(last.complete, false);
      assert.deepEqual((await verify(root)).said, [`incomplete ${last.path}`]);
      device.pictures = ["annotated"];
      await archive(opened, measured(["annotated"]));
      assert.deepEqual((await verify(root)).said, []);
    });
  });

  it("count an entry that is named twice", async () => {
    await archiving(async (opened, { cloud }) => {
      await archive(
        opened,
        measured([], { expect: ["image/jpeg", "image/jpeg", "video/mp4"], media: "list" }),
      );
      cloud.have = [image, video];
      const { manifest } = await archive(
        opened,
        bare({ expect: ["video/mp4", "Image/JPEG"], media: "list" }),
      );
      assert.deepEqual(
        [manifest.missing, manifest.expected?.expect],
        [["image/jpeg"], ["video/mp4", "Image/JPEG", "image/jpeg"]],
      );
      cloud.have = [image, video, depth];
      assert.equal((await archive(opened, bare())).complete, true);
    });
  });

  it("do not say that the cloud's media are there if their job has not looked for them", async () => {
    await archiving(async (opened, { cloud, device }) => {
      cloud.have = [];
      assert.deepEqual((await archive(opened, measured([]))).manifest.missing, ["any media"]);
      device.pictures = ["color"];
      const withoutCloud = measured(["color"], { origin: null, transactionId: null });
      const second = await archive(opened, withoutCloud);
      assert.deepEqual([second.complete, second.manifest.missing], [false, ["media that may still arrive"]]);
      const again = await archive(opened, withoutCloud);
      assert.deepEqual([again.wasThere, again.complete], [true, false]);
      cloud.have = [image];
      assert.equal((await archive(opened, bare())).complete, true);
      assert.equal((await archive(opened, withoutCloud)).complete, true);
    });
  });
});

describe("archive: supplements and whose recording their package names", () => {
  it("leave out the video of another parcel, although their message says nothing of a recording", async () => {
    await archiving(async (opened, { cloud }, root) => {
      cloud.have = [image, video];
      const first = await archive(opened, measured(["annotated"], recordingOf("taken")));
      assert.equal(first.complete, false);
      const again = await archive(opened, bare());
      assert.deepEqual([again.wasThere, again.complete], [true, false]);
      cloud.have = [image, video, disguised, depth];
      const { manifest } = await archive(opened, bare());
      assert.deepEqual(
        manifest.items.map(({ contentId }) => contentId),
        [depth.id],
      );
      assert.deepEqual(
        manifest.leftOut?.map(({ contentId, reason }) => [contentId, reason]),
        [
          [video.id, "taken"],
          [disguised.id, "taken"],
        ],
      );
      assert.equal(manifest.recording?.recording, "taken");
      for (const { items } of (await readPackages(root)).values()) {
        assert.ok(items.every(({ contentTypeFound }) => contentTypeFound === "image/jpeg"));
      }
      assert.ok(!cloud.asked.includes(video.id));
    });
  });

  for (const found of [video, disguised]) {
    it(`leave out what they have stored when their package is made: ${found.id}`, async () => {
      await archiving(async (opened, { cloud }, root) => {
        cloud.have = [image, found];
        const submission = await opened.runner.submit(bare({ settleMs: 600_000 }));
        await until(() => submission.running?.state === "waiting", "it has stored all of the list");
        const first = await archive(opened, measured([], recordingOf("taken")));
        settle(submission);
        const second = await submission.end();
        submission.messageSent();
        assert.deepEqual([second.wasThere, second.complete, second.path], [true, true, first.path]);
        const [only, ...others] = [...(await readPackages(root)).values()];
        assert.deepEqual([only?.items.map(({ contentId }) => contentId), others], [[image.id], []]);
      });
    });
  }

  it("are not what a message waits for that says the video is another parcel's: it has a job of its own", async () => {
    await archiving(async (opened, { cloud }, root) => {
      cloud.have = [image, video];
      const submission = await opened.runner.submit(bare({ settleMs: 600_000 }));
      await until(() => submission.running?.state === "waiting", "it has stored all of the list");
      const said = bare(recordingOf("taken"));
      assert.equal((await archive(opened, said)).manifest.recording?.recording, "taken");
      settle(submission);
      assert.equal((await submission.end()).wasThere, true);
      submission.messageSent();
      const items = [...(await readPackages(root)).values()].flatMap((manifest) => manifest.items);
      assert.deepEqual(
        items.map(({ contentId }) => contentId),
        [image.id],
      );
    });
  });

  it("wait for the video that was started for the parcel", async () => {
    await archiving(async (opened, { cloud }) => {
      await archive(opened, measured([], recordingOf("own")));
      const submission = await opened.runner.submit(bare());
      const { running } = submission;
      await until(() => running?.state === "waiting" || running?.hasEnded === true, "it waits, or has ended");
      cloud.have = [image, video];
      const { complete, manifest } = await submission.end();
      submission.messageSent();
      assert.deepEqual([complete, manifest.recording?.recording], [true, "own"]);
    });
  });

  it("follow their own message where it says whose it is: the first one's video is not missing then", async () => {
    await archiving(async (opened, { cloud }) => {
      await archive(opened, measured([], recordingOf("own")));
      cloud.have = [image, video, depth];
      const { complete, manifest } = await archive(opened, bare(recordingOf("overwritten")));
      assert.deepEqual([complete, manifest.recording?.recording], [true, "overwritten"]);
      assert.deepEqual(
        manifest.items.map(({ contentId }) => contentId),
        [depth.id],
      );
    });
  });
});
