import assert from "node:assert/strict";
import { messageOf } from "../../src/vault/packages/intent.ts";
import {
  againOf,
  archived,
  archiving,
  dock,
  failed,
  failedLocal,
  image,
  intentOfMessage,
  ofDevice,
  readRecordingOf,
} from "./archiving-again.ts";

describe("archive: what is archived again says whose recording it was", () => {
  const at = "2026-11-02T09:00:00.000Z";
  const start = { action: "start", at, transactionReference: "ORDER-1" };
  const by = { transactionReference: "ORDER-2", at };
  const device = { id: dock.id, name: dock.name };

  for (const video of [
    { ...start, recording: "own" },
    { ...start, recording: "overwritten", by },
    { ...start, recording: "taken" },
    { ...start, recording: "other" },
  ]) {
    it(`if it is ${video.recording}`, () =>
      archiving("SQLite", async (given) => {
        await failedLocal(given, { ...readRecordingOf(video) });
        const again = await againOf(given);
        assert.deepEqual(again["video"], video);
        assert.deepEqual(intentOfMessage(again), intentOfMessage({ ...ofDevice, video }));
      }));
  }

  it("and which reference is the tag, whichever way it was known", () => {
    const tag = "6b2e0a2c-0000-4000-8000-00c04fc964ff";
    const { measuredBy, ...message } = { ...ofDevice, customReference2: tag };
    for (const way of [{ measuredBy: { ...measuredBy, tag } }, { tag }]) {
      const intent = intentOfMessage({ ...message, ...way });
      assert.equal(intent.tag, "customReference2");
      assert.equal(intentOfMessage(messageOf(intent, "1")).tag, "customReference2");
    }
  });

  it("so that another parcel's video is left out of the package, and is not waited for", () =>
    archiving("SQLite", async (given) => {
      const { cloud, device: images } = given;
      cloud.have = [image, { id: "ColorVideoMp4", type: "video/mp4" }];
      await failedLocal(given, { ...readRecordingOf({ ...start, recording: "taken" }) });
      images.pictures = dock.images;
      const { manifest } = await archived(given, intentOfMessage(await againOf(given)));
      assert.deepEqual(
        [manifest.complete, manifest.leftOut],
        [true, [{ contentId: "ColorVideoMp4", description: "ColorVideoMp4", reason: "taken" }]],
      );
    }));

  it("so that a video that was started is waited for", () =>
    archiving("SQLite", async (given) => {
      await failedLocal(given, { ...readRecordingOf({ ...start, recording: "own" }) });
      given.device.pictures = dock.images;
      const intent = intentOfMessage(await againOf(given));
      await failed(given, given.opened.runner.submit(intent));
      given.cloud.have = [image, { id: "ColorVideoMp4", type: "video/mp4" }];
      assert.equal((await archived(given, intent)).complete, true);
    }));

  it("so that the transaction of a measurement is not asked for the video that another device has stopped", () =>
    archiving("SQLite", async (given) => {
      const camera = { id: "camera", name: "Camera" };
      const video = { ...start, action: "stop", recording: "own", device: camera };
      const intent = intentOfMessage({ ...ofDevice, video });
      await failed(given, given.opened.runner.submit(intent));
      const again = await againOf(given);
      assert.deepEqual(again["video"], video);
      assert.deepEqual(intentOfMessage(again), intent);
      given.device.pictures = dock.images;
      const { manifest } = await archived(given, intentOfMessage(again));
      assert.deepEqual(
        [manifest.complete, manifest.recording?.recording, manifest.recordedBy],
        [true, "own", camera],
      );
    }));

  it("so that it is not asked for that video either if its measurement went through the cloud", () =>
    archiving("SQLite", async (given) => {
      const camera = { id: "camera", name: "Camera" };
      const video = { ...start, action: "stop", recording: "own", device: camera };
      const measuredBy = { ...ofDevice.measuredBy, surface: "cloud" };
      const withoutDevice = { measuredBy: null };
      const intent = intentOfMessage({ ...ofDevice, measuredBy, video }, withoutDevice);
      assert.deepEqual([intent.recordedBy, intent.sought], [camera, null]);
      given.cloud.have = [];
      await failed(given, given.opened.runner.submit(intent));
      const again = await againOf(given);
      assert.deepEqual(intentOfMessage(again, withoutDevice), intent);
      given.cloud.have = [image];
      assert.equal((await archived(given, intentOfMessage(again, withoutDevice))).complete, true);
    }));

  it("so that the device is asked again for the video that it keeps after a stop", () =>
    archiving("SQLite", async (given) => {
      const video = { ...start, action: "stop", recording: "own", device };
      const stopped = { transactionReference: "ORDER-1", video };
      const intent = intentOfMessage(stopped, { origin: null, transactionId: null });
      assert.equal(intent.measuredBy?.videoAt, at);
      await failed(given, given.opened.runner.submit(intent));
      const again = await againOf(given);
      assert.deepEqual(again["video"], video);
      const { origin, transactionId } = intent;
      const sent = intentOfMessage(again, { origin, transactionId });
      assert.deepEqual(sent, intent);
      given.device.keeps = "ORDER-1";
      const { manifest } = await archived(given, sent);
      assert.deepEqual(
        manifest.items.map(({ description }) => description),
        ["video"],
      );
      assert.deepEqual(await given.missing(), []);
    }));
});
